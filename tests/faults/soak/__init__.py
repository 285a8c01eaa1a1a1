"""Many calls at once over connections that are cut anywhere, and the books of what comes of them.

`python -m tests.faults.soak` makes 1,000 calls for each way of going on with a call after a drop (SSE by
`Last-Event-ID`, `requests/resume`, `stream/resume`; over HTTP, and over stdio behind a relay), and prints the table.
Each call says progress and log lines, asks a question, and gives a result of its own. `test_soak.py` makes fewer.
"""

from .calls import Share, soaked
from .mechanisms import MECHANISMS

__all__ = ["MECHANISMS", "Share", "soaked"]
