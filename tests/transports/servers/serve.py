"""A server on its own stdin and stdout whose handlers do what a wire must survive. `python serve.py`"""

import asyncio
import os
import subprocess
import sys

from mcp_notebook.errors import MCPError
from mcp_notebook.jsonrpc import ErrorResponse, InvalidMessage, Message, Request, RequestId, Response
from mcp_notebook.protocol.calls import Occurrence
from mcp_notebook.transports.stdio_server import StdioServerChannel


class Serving:
    """Answers each request with what its method does; a line that is no message with an error."""

    def __init__(self) -> None:
        self.channel = StdioServerChannel()
        self.ended = asyncio.get_running_loop().create_future()
        self.tasks: list[asyncio.Task[None]] = []

    def received(self, message: Message) -> None:
        assert isinstance(message, Request)
        result = getattr(self, message.method)(**message.params or {})
        self.answer(Response(message.id, result))

    def faulty(self, reason: str) -> None:
        raise AssertionError(reason)

    def received_invalid(self, error: InvalidMessage) -> None:
        self.answer(ErrorResponse(error.id, error.code, str(error)))

    def failed(self, id: RequestId, error: MCPError) -> None:
        raise AssertionError("stdio has one way for all requests")

    def moved(self, id: RequestId, what: Occurrence) -> float:
        raise AssertionError(what)

    def disconnected(self, error: MCPError | None) -> None:
        self.ended.set_result(error)

    def answer(self, message: Message) -> None:
        self.tasks.append(asyncio.get_running_loop().create_task(self.channel.send(message)))

    def echo(self, **params: object) -> object:
        return params

    def chatter(self) -> str:
        """All the ways to write to stdout."""
        print("a print")
        sys.stdout.write("a write without an end")
        os.write(1, b"a library\n")
        subprocess.run([sys.executable, "-I", "-S", "-c", "print('a child process')"], check=True)
        return "done"

    def steal(self) -> str:
        """All the ways to read from stdin."""
        child = subprocess.run(
            [sys.executable, "-I", "-S", "-c", "import sys; print(sys.stdin.read())"], stdout=-1, check=True
        )
        return repr((sys.stdin.read(), os.read(0, 10), child.stdout.strip()))

    def large(self, size: int) -> str:
        return "x" * size


async def main() -> None:
    print("before serving")  # waits in a buffer, where stdout is a pipe
    serving = Serving()
    await serving.channel.open(serving)
    print(await serving.ended, file=sys.stderr)
    await asyncio.gather(*serving.tasks)
    await serving.channel.close()
    print("after serving")


asyncio.run(main())
