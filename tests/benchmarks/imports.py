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


_compiled: set[str] = set()
"""The statements that were run before: what they import is there as bytecode now, as of an installed package."""


def measure(statement: str) -> Numbers:
    """CPU and memory of an interpreter that only imports, starting it included."""
    if statement not in _compiled:
        _compiled.add(statement)
        _run(statement)
    return _run(statement)


def _run(statement: str) -> Numbers:
    command = [sys.executable, "-c", f"{statement}\n{_TOLD}"]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, timeout=60, check=True)
    seconds, kilobytes = json.loads(done.stdout)
    return {"import_ms": seconds * 1e3, "import_mb": kilobytes / 1024}
