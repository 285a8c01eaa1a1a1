"""What importing costs: each statement in fresh interpreters."""

from __future__ import annotations

import json
import subprocess
import sys

from .scenarios import Numbers
from .worker import ROOT

_TOLD = """
import json, resource
used = resource.getrusage(resource.RUSAGE_SELF)
print(json.dumps([used.ru_utime + used.ru_stime, used.ru_maxrss]))
"""


def measure(statement: str) -> Numbers:
    """CPU and memory of an interpreter that only imports, starting it included."""
    done = subprocess.run(
        [sys.executable, "-c", f"{statement}\n{_TOLD}"],
        cwd=ROOT,
        capture_output=True,
        text=True,
        timeout=60,
        check=True,
    )
    seconds, kilobytes = json.loads(done.stdout)
    return {"import_ms": seconds * 1e3, "import_mb": kilobytes / 1024}
