"""A process with a connection to a server behind a relay, like a kernel. Sends each line of stdin as it is, and prints
what comes, line by line. `python client.py COMMAND ...`
"""

import asyncio
import os
import sys
import threading

from mcp_notebook.errors import MCPError
from mcp_notebook.jsonrpc import InvalidMessage, Message, RequestId, dump, load
from mcp_notebook.protocol.calls import Occurrence
from mcp_notebook.transports.command import Command
from mcp_notebook.transports.relay import relayed
from mcp_notebook.transports.stdio import StdioChannel


class Printing:
    def received(self, message: Message) -> None:
        print(dump(message).decode(), flush=True)

    def received_invalid(self, error: InvalidMessage) -> None:
        raise AssertionError(error)

    def faulty(self, reason: str) -> None:
        raise AssertionError(reason)

    def failed(self, id: RequestId, error: MCPError) -> None:
        raise AssertionError(error)

    def moved(self, id: RequestId, what: Occurrence) -> float:
        raise AssertionError(what)

    def disconnected(self, error: MCPError | None) -> None:
        print(f"ended: {error}", flush=True)


def main(command: list[str]) -> None:
    loop = asyncio.new_event_loop()
    threading.Thread(target=loop.run_forever, daemon=True).start()

    def run(coroutine):
        return asyncio.run_coroutine_threadsafe(coroutine, loop).result(10)

    environment = {name: os.environ[name] for name in ("PYTHONPATH", "XDG_RUNTIME_DIR")}
    channel = StdioChannel(relayed(Command(command, environment)))
    run(channel.open(Printing()))
    for line in sys.stdin.buffer:
        message = load(line)
        assert not isinstance(message, list)
        run(channel.send(message))
    threading.Event().wait(60)


main(sys.argv[1:])
