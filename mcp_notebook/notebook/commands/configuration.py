"""`mcp.json` files, and dicts of the same form: several servers, each with a name."""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from ..brief import CommandError
from ..interpolation import Names
from ..words import Word

_KEYS = ("mcpServers", "servers")
"""Under which of them the servers stand: programs differ."""


def servers_of(word: Word, names: Names) -> Mapping[str, Any] | None:
    """The entries by name, where a word is a file's name or the variable of such a dict; None where it is neither.

    Raises:
        CommandError: it cannot be read, or names no servers.
    """
    value = names.get(word.raw)
    if isinstance(value, Mapping) and any(key in value for key in _KEYS):
        return _entries(value, word.raw)
    text = names.text(word)
    return _entries(_read(Path(text).expanduser()), text) if text.endswith(".json") else None


def _read(path: Path) -> Any:
    try:
        return json.loads(path.read_text("utf-8"))
    except OSError as error:
        raise CommandError(f"{path} cannot be read: {error.strerror or error}.") from None
    except ValueError as error:
        raise CommandError(f"{path} is no JSON: {error}.") from None


def _entries(configuration: Any, where: str) -> Mapping[str, Any]:
    found = configuration if isinstance(configuration, Mapping) else {}
    servers = next((found[key] for key in _KEYS if key in found), None)
    if not isinstance(servers, Mapping) or not servers:
        form = '{"mcpServers": {"name": {"command": "…", "args": ["…"]}}}'
        raise CommandError(f"{where} names no servers. Its form is {form}.")
    return servers
