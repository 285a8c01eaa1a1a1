"""Consent that need not be asked for again: what the person had remembered, and what the environment says (CON-3)."""

from __future__ import annotations

import os
import stat
import tempfile
from contextlib import suppress
from datetime import date
from pathlib import Path

import platformdirs
import psutil

from ..transports.command import Command
from ..visible import visible

TRUST = "MCP_NOTEBOOK_TRUST"


class RememberedConsents:
    """The commands that may always start, kept in a file by their digests. Any change of a command makes it another.

    The file has a line for each: the digest, then for people the day and the program. Whoever deletes a line is asked
    again. Only the owner may read or write it (mode 0600).

    Args:
        path: the file; by default `consents` in the user's state directory for this package.
    """

    def __init__(self, path: Path | None = None) -> None:
        self._path = path

    @property
    def path(self) -> Path:
        """The file, whether it is there or not."""
        return self._path or platformdirs.user_state_path("mcp_notebook", appauthor=False) / "consents"

    def has(self, command: Command) -> bool:
        """Whether a command may start.

        Raises:
            OSError: the file cannot be read, or others may write to it.
        """
        digest = command.digest()
        return any(line.split(maxsplit=1)[0] == digest for line in self._lines())

    def add(self, command: Command) -> None:
        """Remember a command. What others could have written there is not kept.

        Raises:
            OSError: the file cannot be written.
        """
        lines: list[str] = []
        with suppress(OSError):
            lines = self._lines()
        lines.append(f"{command.digest()} {date.today()} {visible(command.args[0])}")
        self.path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
        handle, name = tempfile.mkstemp(dir=self.path.parent, prefix="consents-")  # its mode is 0600
        try:
            with open(handle, "w", encoding="utf-8") as file:
                file.write("".join(line + "\n" for line in lines))
            os.replace(name, self.path)
        except BaseException:
            os.unlink(name)
            raise

    def _lines(self) -> list[str]:
        try:
            with open(self.path, encoding="utf-8", errors="replace") as file:
                if os.name != "nt":
                    self._check(os.fstat(file.fileno()))
                return [line for line in file.read().splitlines() if line.strip()]
        except FileNotFoundError:
            return []

    def _check(self, found: os.stat_result) -> None:
        if found.st_uid != os.getuid() or found.st_mode & (stat.S_IWGRP | stat.S_IWOTH):
            raise PermissionError(f"others may write to {self.path}; `chmod 600` it if you know what it holds")


def trusted_from_outside() -> bool:
    """Whether the environment in which this process was started has `MCP_NOTEBOOK_TRUST=1`.

    A notebook that sets the variable itself, by `%env` or `os.environ`, changes nothing. (On Windows one that does so
    before the extension is loaded cannot be told from the outside.)
    """
    if os.environ.get(TRUST) != "1":
        return False
    try:
        return psutil.Process().environ().get(TRUST) == "1"
    except (psutil.Error, OSError):
        return True  # it cannot be told here
