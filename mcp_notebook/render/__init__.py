"""Values as MIME bundles. What a server sends is text to show, never markup to run.

`parts_of` says what a value's display consists of (`parts`), `as_html` and `as_text` write that down. Pure: nothing is
read, fetched or opened, whatever a value says.
"""

from .display import mimebundle, parts_of
from .rows import to_rows

__all__ = ["mimebundle", "parts_of", "to_rows"]
