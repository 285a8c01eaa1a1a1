"""Becomes another program that Linux tells to end (SIGTERM) when its parent dies: `die_with_parent.py PARENT PROGRAM …`

Run as a script, by a fresh interpreter in front of each child. `subprocess`'s `preexec_fn` could do the same without
it, but has Python fork for real: with the threads of a kernel (a matrix product under way, a debugger) that can hang
the child, the parent with it, and copies the page tables of all the kernel's memory.
"""

import os
import signal
import sys

try:
    import ctypes
except ImportError:  # Python was built without it
    ctypes = None

PR_SET_PDEATHSIG = 1


def main(parent: int, *command: str) -> None:
    if ctypes is not None:
        ctypes.CDLL(None).prctl(PR_SET_PDEATHSIG, int(signal.SIGTERM), 0, 0, 0)
    if os.getppid() != parent:
        return  # it died before we asked
    try:
        os.execv(command[0], command)
    except OSError as error:
        sys.stderr.write(f"{command[0]} cannot be run: {error.strerror}\n")
        sys.exit(127 if isinstance(error, FileNotFoundError) else 126)


if __name__ == "__main__":
    main(int(sys.argv[1]), *sys.argv[2:])
