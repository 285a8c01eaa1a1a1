"""A server in a process of its own: `python -m tests.benchmarks.serve NAME TRANSPORT TOOLS [PORT]`."""

from __future__ import annotations

import sys
from typing import cast

from .cases import Transport
from .implementations import IMPLEMENTATIONS


def main(name: str, transport: str, tools: str, port: str | None = None) -> None:
    implementation = IMPLEMENTATIONS[name]
    server = implementation.server(int(tools))
    if port is None:
        implementation.serve_stdio(server)
    else:
        implementation.serve_http(server, cast(Transport, transport), int(port))


if __name__ == "__main__":
    main(*sys.argv[1:])
