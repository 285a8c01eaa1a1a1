"""`serve_http`: in a place that outlives the caller, as in a notebook, and in a script."""

from __future__ import annotations

import asyncio
import signal
import socket
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import pytest

from mcp_notebook import HTTPError, Limits, MCPError, Server, connect
from mcp_notebook.home import Home
from mcp_notebook.server.serving import HttpServing

pytestmark = pytest.mark.anyio

ROOT = Path(__file__).parents[2]


class Permanent(Home):
    """A home as in a kernel: its loop runs in a thread of its own, and it tells its closers of its end."""

    def __init__(self) -> None:
        super().__init__(asyncio.new_event_loop())
        self.closers: list[Any] = []
        self.thread = threading.Thread(target=self.loop.run_forever, daemon=True)
        self.thread.mcp_home = self  # type: ignore[attr-defined]
        self.thread.start()

    def add_closer(self, closer: Any) -> None:
        self.closers.append(closer)

    def remove_closer(self, closer: Any) -> None:
        if closer in self.closers:
            self.closers.remove(closer)

    def end(self) -> None:
        if self.loop.is_closed():
            return
        for closer in list(self.closers):
            self.wait(self.submit(closer()), 5)
        self.loop.call_soon_threadsafe(self.loop.stop)
        self.thread.join(5)
        self.loop.close()


@pytest.fixture
def home() -> Iterator[Permanent]:
    home = Permanent()
    yield home
    home.end()


def a_server(**limits: Any) -> Server:
    server = Server("demo", limits=Limits(**limits))

    @server.tool
    def where() -> str:
        return threading.current_thread().name

    @server.tool
    async def loop() -> str:
        return threading.current_thread().name

    return server


def served(server: Server, **how: Any) -> HttpServing:
    serving = server.serve_http(**how)
    assert serving is not None
    return serving


def listens(url: str) -> bool:
    address = urlsplit(url)
    with socket.socket(socket.AF_INET6 if address.hostname == "::1" else socket.AF_INET) as probe:
        return probe.connect_ex((address.hostname, address.port)) == 0


# In a place that outlives the caller


async def test_it_returns_at_once_and_serves_on_the_other_loop(home: Permanent) -> None:
    serving = served(a_server())
    assert urlsplit(serving.url).hostname == "127.0.0.1"
    assert urlsplit(serving.url).path == "/mcp"
    async with connect(serving.url, headers=serving.headers) as client:
        assert (await client.call_tool("loop")).text == home.thread.name
    serving.close()
    assert not listens(serving.url)
    serving.close()


async def test_a_new_token_is_wanted_by_default_and_shown_in_no_repr(home: Permanent) -> None:
    one, two = served(a_server()), served(a_server())
    assert one.token is not None
    assert one.token != two.token
    assert len(one.token) >= 32
    assert one.headers == {"Authorization": f"Bearer {one.token}"}
    for headers in ({}, two.headers):
        with pytest.raises(HTTPError, match="401"):
            await connect(one.url, headers=headers)
    assert one.token not in repr(one)
    assert one.token not in str(vars(one)["_listener"])


async def test_the_repr_tells_how_to_connect_and_that_it_is_over(home: Permanent) -> None:
    serving = served(a_server())
    assert repr(serving) == (
        f"<'demo', served at {serving.url}: connect(serving.url, headers=serving.headers), or serving.close()>"
    )
    serving.close()
    assert repr(serving) == f"<'demo', no longer served at {serving.url}>"


async def test_a_token_of_ones_own_and_none(home: Permanent) -> None:
    own = served(a_server(), token="hunter2")
    assert own.headers == {"Authorization": "Bearer hunter2"}
    async with connect(own.url, headers=own.headers):
        pass
    free = served(a_server(), token=None)
    assert (free.token, free.headers) == (None, {})
    assert "headers" not in repr(free)
    async with connect(free.url):
        pass
    with pytest.raises(ValueError, match="empty token"):
        a_server().serve_http(token="")


async def test_a_port_and_a_path_can_be_chosen(home: Permanent) -> None:
    with socket.create_server(("127.0.0.1", 0)) as probe:
        port = probe.getsockname()[1]
        with pytest.raises(MCPError, match=f"port {port} of 127.0.0.1"):
            a_server().serve_http(port=port)
    serving = served(a_server(), port=port, path="deep/er/")
    assert serving.url == f"http://127.0.0.1:{port}/deep/er"
    async with connect(serving.url, headers=serving.headers):
        pass


async def test_another_address_answers_to_its_own_name(home: Permanent) -> None:
    serving = served(a_server(), host="127.0.0.2")
    async with connect(serving.url, headers=serving.headers):
        pass


async def test_ipv6_loopback_works(home: Permanent) -> None:
    try:
        socket.create_server(("::1", 0), family=socket.AF_INET6).close()
    except OSError:
        return  # there is no IPv6 here
    serving = served(a_server(), host="::1")
    assert serving.url.startswith("http://[::1]:")
    async with connect(serving.url, headers=serving.headers):
        pass


@pytest.mark.parametrize("host", ["0.0.0.0", "::"])
async def test_listening_everywhere_needs_the_names_to_answer_to(home: Permanent, host: str) -> None:
    with pytest.raises(MCPError, match="allowed_hosts"):
        a_server().serve_http(host=host)


async def test_it_ends_with_its_home(home: Permanent) -> None:
    serving = served(a_server())
    assert listens(serving.url)
    home.end()
    assert not listens(serving.url)
    serving.close()


async def test_closing_is_bounded_though_handlers_go_on(home: Permanent) -> None:
    server = a_server(shutdown=0.3)
    begun = threading.Event()

    @server.tool
    def stubborn() -> None:
        begun.set()
        time.sleep(2)

    serving = served(server)
    client = await connect(serving.url, headers=serving.headers)
    call = client.begin_call("stubborn")
    assert await asyncio.to_thread(begun.wait, 5)
    began = time.monotonic()
    await asyncio.to_thread(serving.close)
    assert time.monotonic() - began < 1.5
    with pytest.raises(MCPError):
        await call
    await client.close()


async def test_a_server_that_is_served_may_close_itself(home: Permanent) -> None:
    server = a_server()

    @server.tool
    async def stop() -> str:
        serving.close()
        return "stopping"

    serving = served(server)
    client = await connect(serving.url, headers=serving.headers)
    with suppress(MCPError):  # it may end before it has answered
        await client.call_tool("stop")
    with pytest.raises(MCPError):
        await client.call_tool("where")
    await client.close()


async def test_the_same_server_is_served_in_several_ways_at_once(home: Permanent) -> None:
    server = a_server()
    one, two = served(server), served(server, stream=True)
    async with (
        connect(one.url, headers=one.headers) as first,
        connect(two.url, headers=two.headers) as second,
        connect(server) as third,
    ):
        for client in (first, second, third):
            assert [tool.name for tool in await client.list_tools()] == ["where", "loop"]


async def test_where_an_event_loop_runs_that_it_would_block_it_says_what_to_do_instead() -> None:
    with pytest.raises(MCPError, match=r"%load_ext mcp_notebook.*asgi_app"):
        a_server().serve_http()


# In a script


SCRIPT = """
import sys
from mcp_notebook import Server
server = Server("demo")
@server.tool
def add(a: int, b: int = 0) -> int:
    return a + b
answer = server.serve_http(port=int(sys.argv[1]), token={token})
print("after", answer)
"""


@pytest.fixture
def script() -> Iterator[Any]:
    running: list[subprocess.Popen[str]] = []

    def start(port: int = 0, token: str = "True") -> subprocess.Popen[str]:
        process = subprocess.Popen(
            [sys.executable, "-c", SCRIPT.format(token=token), str(port)],
            cwd=ROOT,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
        )
        running.append(process)
        return process

    yield start
    for process in running:
        process.kill()
        process.communicate()


async def test_a_script_says_where_it_serves_and_ends_in_good_order(script: Any) -> None:
    for end in (signal.SIGTERM, signal.SIGINT):
        process = script()
        first = await asyncio.to_thread(process.stderr.readline)
        second = await asyncio.to_thread(process.stderr.readline)
        assert first.startswith("demo is served at http://127.0.0.1:")
        url, token = first.split()[4].rstrip("."), second.split()[-1]
        async with connect(url, headers={"Authorization": f"Bearer {token}"}) as client:
            assert (await client.call_tool("add", {"a": 1})).data == 1
            process.send_signal(end)
            output, errors = await asyncio.to_thread(process.communicate, timeout=10)
        assert (process.returncode, output, errors) == (0, "after None\n", "")


async def test_a_script_keeps_a_token_of_ones_own_to_itself(script: Any) -> None:
    process = script(token="'hunter2'")
    await asyncio.to_thread(process.stderr.readline)
    process.send_signal(signal.SIGTERM)
    output, errors = await asyncio.to_thread(process.communicate, timeout=10)
    assert "hunter2" not in output + errors


async def test_a_script_at_a_busy_port_fails_with_the_reason(script: Any) -> None:
    with socket.create_server(("127.0.0.1", 0)) as busy:
        port = busy.getsockname()[1]
        process = script(port)
        _, errors = await asyncio.to_thread(process.communicate, timeout=10)
    assert process.returncode == 1
    assert f"port {port} of 127.0.0.1" in errors.splitlines()[-1]
