"""Servers of one era alone, told in a few lines: what each says to a message. The same on every transport.

As a program, one of them on stdin and stdout: `python kinds.py NAME`.
"""

from __future__ import annotations

import json
import sys
from collections.abc import Callable, Mapping
from typing import Any

Answer = dict[str, Any] | None
Kind = Callable[[Mapping[str, Any]], Answer]

TEXT = {"content": [{"type": "text", "text": "done"}]}
MODERN = "2026-07-28"
LEGACY = ("2024-11-05", "2025-03-26", "2025-06-18", "2025-11-25")
VERSION = "io.modelcontextprotocol/protocolVersion"


class Exits(Exception):
    """The server's process ends."""


def result(message: Mapping[str, Any], value: Any) -> Answer:
    return {"jsonrpc": "2.0", "id": message["id"], "result": value}


def error(message: Mapping[str, Any], code: int, text: str, data: Any = None) -> Answer:
    body = {"code": code, "message": text} if data is None else {"code": code, "message": text, "data": data}
    return {"jsonrpc": "2.0", "id": message["id"], "error": body}


def modern(message: Mapping[str, Any], versions: tuple[str, ...] = (MODERN,)) -> Answer:
    """It knows what is modern, and nothing else."""
    if "id" not in message:
        return None
    version = (message.get("params", {}).get("_meta") or {}).get(VERSION)
    if version is None:
        return error(message, -32602, f"_meta is missing; the versions spoken here are {', '.join(versions)}")
    if version not in versions:
        data = {"supported": list(versions), "requested": version}
        return error(message, -32022, "Unsupported protocol version", data)
    if message["method"] == "server/discover":
        return result(
            message,
            {
                "resultType": "complete",
                "supportedVersions": list(versions),
                "capabilities": {"tools": {}},
                "ttlMs": 0,
                "cacheScope": "public",
            },
        )
    if message["method"] == "tools/call":
        return result(message, {"resultType": "complete", **TEXT})
    return error(message, -32601, "Method not found")


def later(message: Mapping[str, Any]) -> Answer:
    """It is modern, and knows only revisions that are still to come."""
    return modern(message, ("2099-01-01",))


def legacy(message: Mapping[str, Any], unknown: int | None = -32601) -> Answer:
    """It knows the handshake, and answers what it does not know with an error (or, None, not at all)."""
    if "id" not in message:
        return None
    if message["method"] == "initialize":
        version = message["params"]["protocolVersion"]
        return result(
            message,
            {
                "protocolVersion": version if version in LEGACY else LEGACY[-1],
                "capabilities": {"tools": {}},
                "serverInfo": {"name": "legacy", "version": "1"},
            },
        )
    if message["method"] == "tools/call":
        return result(message, TEXT)
    return None if unknown is None else error(message, unknown, "What?")


def legacy_invalid(message: Mapping[str, Any]) -> Answer:
    """It takes what comes before the handshake for invalid parameters."""
    return legacy(message, -32602)


def legacy_of_its_own(message: Mapping[str, Any]) -> Answer:
    """It has an error code of its own."""
    return legacy(message, -1)


def legacy_silent(message: Mapping[str, Any]) -> Answer:
    """It does not answer what it does not know."""
    return legacy(message, None)


def legacy_fragile(message: Mapping[str, Any]) -> Answer:
    """It ends at a first request that is not `initialize`."""
    if message.get("method") == "server/discover":
        raise Exits
    return legacy(message)


KINDS: dict[str, Kind] = {
    one.__name__: one
    for one in (modern, later, legacy, legacy_invalid, legacy_of_its_own, legacy_silent, legacy_fragile)
}

if __name__ == "__main__":
    if sys.argv[1] == "dual":
        from tests.eras.dual import make_server

        make_server().serve_stdio()
    else:
        for line in sys.stdin:
            try:
                answer = KINDS[sys.argv[1]](json.loads(line))
            except Exits:
                print("what is this?", file=sys.stderr)
                sys.exit(3)
            if answer is not None:
                print(json.dumps(answer), flush=True)
