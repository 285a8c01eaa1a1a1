"""A server in a process of its own: `python -m tests.benchmarks.serve NAME TRANSPORT TOOLS [DESCRIPTOR]`.

DESCRIPTOR is that of a socket that listens already, for HTTP: so nobody has to guess a port, or when to try it.
"""

from __future__ import annotations

import socket
import sys
from typing import cast

from .cases import Transport
from .implementations import IMPLEMENTATIONS


def main(name: str, transport: str, tools: str, descriptor: str | None = None) -> None:
    implementation = IMPLEMENTATIONS[name]
    server = implementation.server(int(tools))
    if descriptor is None:
        implementation.serve_stdio(server)
        return
    import uvicorn

    app = implementation.asgi_app(server, cast(Transport, transport))
    config = uvicorn.Config(app, http="h11", loop="asyncio", log_level="warning", access_log=False)
    uvicorn.Server(config).run(sockets=[socket.socket(fileno=int(descriptor))])


if __name__ == "__main__":
    main(*sys.argv[1:])
