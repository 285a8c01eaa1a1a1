"""A command that starts a local server, as data: what would run, where, and with which additions to its environment."""

from __future__ import annotations

import hashlib
import json
import os
import shlex
import sysconfig
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from types import MappingProxyType
from typing import Self

from ..visible import visible

__all__ = ["Command"]

# What a program needs to find itself, its files and its language, and what holds no secret. All else of our own
# environment (keys, tokens, agents' sockets) stays here unless the command's `env` names it.
_INHERITED = frozenset(
    {
        *("HOME", "LOGNAME", "USER", "SHELL", "PATH", "TERM", "TZ", "TMPDIR", "LD_LIBRARY_PATH", "DYLD_LIBRARY_PATH"),
        *(
            "LANG",
            "LANGUAGE",
            "LC_ALL",
            "LC_COLLATE",
            "LC_CTYPE",
            "LC_MESSAGES",
            "LC_MONETARY",
            "LC_NUMERIC",
            "LC_TIME",
        ),
        *("XDG_CACHE_HOME", "XDG_CONFIG_HOME", "XDG_DATA_HOME", "XDG_RUNTIME_DIR", "XDG_STATE_HOME"),
        *("SSL_CERT_DIR", "SSL_CERT_FILE", "NODE_EXTRA_CA_CERTS"),
        *("VIRTUAL_ENV", "CONDA_DEFAULT_ENV", "CONDA_EXE", "CONDA_PREFIX", "MAMBA_ROOT_PREFIX", "PYENV_ROOT"),
        *("UV_CACHE_DIR", "NVM_BIN", "NVM_DIR", "VOLTA_HOME", "FNM_DIR", "FNM_MULTISHELL_PATH", "PNPM_HOME"),
        *("BUN_INSTALL", "DENO_DIR"),
        # Windows
        *("APPDATA", "LOCALAPPDATA", "PROGRAMDATA", "PROGRAMFILES", "PROGRAMFILES(X86)", "PROGRAMW6432", "PUBLIC"),
        *("COMMONPROGRAMFILES", "COMPUTERNAME", "COMSPEC", "HOMEDRIVE", "HOMEPATH", "NUMBER_OF_PROCESSORS", "OS"),
        *("PATHEXT", "PROCESSOR_ARCHITECTURE", "SYSTEMDRIVE", "SYSTEMROOT", "TEMP", "TMP", "USERDOMAIN", "USERNAME"),
        *("USERPROFILE", "WINDIR"),
    }
)
# The wire is UTF-8 whatever the locale says; without this a Python child on Windows writes cp1252.
_UTF8 = {"PYTHONUTF8": "1", "PYTHONIOENCODING": "utf-8"}


@dataclass(frozen=True, slots=True, repr=False)
class Command:
    """A command line, the additions to its environment, and where it runs.

    Args:
        args: the program and its arguments, one string each (no shell reads them).
        env: variables added to the safe default environment, or replacing what stands there. Never shown by value.
        cwd: the working directory; None for the current one.

    Raises:
        ValueError: there is no program, `args` is one string (see `Command.parse`), or there is something that no
            system takes: a NUL character, or a variable without a name.
    """

    args: Sequence[str]
    env: Mapping[str, str] = field(default_factory=dict, hash=False)
    cwd: str | os.PathLike[str] | None = None

    def __post_init__(self) -> None:
        if isinstance(self.args, str):
            raise ValueError("args is a list of strings; Command.parse(...) splits a line as a shell does.")
        args = tuple(os.fspath(arg) for arg in self.args)
        if not args or not args[0]:
            raise ValueError("A command needs a program: its args are empty.")
        object.__setattr__(self, "args", args)
        object.__setattr__(self, "env", MappingProxyType({str(name): str(value) for name, value in self.env.items()}))
        object.__setattr__(self, "cwd", None if self.cwd is None else os.fspath(self.cwd))
        if any("\0" in text for text in (*args, *self.env, *self.env.values(), str(self.cwd or ""))):
            raise ValueError("A command, its environment and its directory cannot hold a NUL character.")
        if any(not name or "=" in name for name in self.env):
            raise ValueError("The name of an environment variable has at least one letter, and no = in it.")

    @classmethod
    def parse(
        cls, line: str, *, env: Mapping[str, str] | None = None, cwd: str | os.PathLike[str] | None = None
    ) -> Self:
        """A command from one line, split as a POSIX shell splits it; nothing is expanded.

        Raises:
            ValueError: a quotation is not closed, or there is no program.
        """
        return cls(shlex.split(line), env or {}, cwd)

    def __repr__(self) -> str:
        env = f", env={sorted(self.env)}" if self.env else ""
        cwd = f", cwd={self.cwd!r}" if self.cwd is not None else ""
        return visible(f"Command({list(self.args)}{env}{cwd})")

    def __str__(self) -> str:
        """The whole command line, nothing cut off, quoted as for a shell, with what hides in it made visible
        (CON-1, CON-4)."""
        return visible(shlex.join(self.args))

    @property
    def directory(self) -> str:
        """The absolute path of the directory that it runs in, links resolved."""
        return os.path.realpath(self.cwd or os.getcwd())

    def environment(self) -> dict[str, str]:
        """The whole environment that the program gets: the safe default, UTF-8 mode, then the additions.

        Its PATH is as in an activated environment: what is installed beside this Python (servers, npx, uvx) is found
        first, though the kernel was started without activating anything.
        """
        inherited = {name: value for name, value in os.environ.items() if name.upper() in _INHERITED}
        return {**inherited, "PATH": _activated(os.environ.get("PATH", os.defpath)), **_UTF8, **self.env}

    def digest(self) -> str:
        """What a remembered consent is tied to: it changes with any argument, variable (by value) or directory.

        Returns: a SHA-256, in hexadecimal. Source: CON-3.
        """
        content = [list(self.args), sorted(self.env.items()), self.directory]
        return hashlib.sha256(json.dumps(content).encode()).hexdigest()


def _activated(path: str) -> str:
    programs = sysconfig.get_path("scripts")
    return path if programs in path.split(os.pathsep) else os.pathsep.join([programs, path])
