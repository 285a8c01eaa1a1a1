"""Transports × revisions, as one table: whatever holds everywhere is tested in each of its rows.

A test module imports the fixtures it needs, and `anyio_backend` with them. A new revision, or a new transport, is a
new entry here.
"""

from __future__ import annotations

import asyncio
import contextlib
import sys
from collections.abc import AsyncIterator, Callable
from contextlib import AbstractAsyncContextManager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pytest

from mcp_notebook import Client, connect
from mcp_notebook.jsonrpc import Notification
from mcp_notebook.types import CreateMessageParams, ElicitParams

from .feature_server import make_server
from .transports.http.loopback import listening

__all__ = ["REVISIONS", "ROWS", "TRANSPORTS", "Link", "Row", "anyio_backend", "link", "linked", "row"]

REVISIONS = ["2024-11-05", "2025-03-26", "2025-06-18", "2025-11-25", "2026-07-28"]


@contextlib.asynccontextmanager
async def _here(target: Any) -> AsyncIterator[Any]:
    yield target


TRANSPORTS: dict[str, Callable[[], AbstractAsyncContextManager[Any]]] = {
    "memory": lambda: _here(make_server()),
    "stdio": lambda: _here([sys.executable, "-m", "tests.feature_server"]),
    "HTTP": lambda: listening(make_server()),
    "HTTP streams": lambda: listening(make_server(), stream=True),
}
"""Transport -> what to connect to, for as long as the context lasts."""


@dataclass(frozen=True)
class Row:
    """One row of the matrix."""

    transport: str
    revision: str

    def __str__(self) -> str:
        return f"{self.transport}-{self.revision}"


ROWS = [Row(transport, revision) for transport in TRANSPORTS for revision in REVISIONS]


@dataclass
class Link:
    """A client that is connected to the feature server, and what it has heard."""

    row: Row
    client: Client
    told: list[Notification] = field(default_factory=list)
    elicitation: Any = None
    """What is answered to questions: a value, or a function of the question."""

    @property
    def revision(self) -> str:
        return self.row.revision

    def heard(self, method: str) -> list[dict[str, Any]]:
        """The parameters of the notifications of this method so far."""
        return [one.params or {} for one in self.told if one.method == method]

    async def text(self, tool: str, **arguments: Any) -> str:
        """Call a tool, and give all text of its answer."""
        return (await self.client.call_tool(tool, arguments)).text


@contextlib.asynccontextmanager
async def linked(row: Row, **options: Any) -> AsyncIterator[Link]:
    """A connection of its own, for a test that changes what holds for a connection."""
    links: list[Link] = []
    told: list[Notification] = []

    async def answer(params: ElicitParams) -> Any:
        given = links[0].elicitation
        given = given(params) if callable(given) else given
        return await given if asyncio.iscoroutine(given) else given

    def model(params: CreateMessageParams) -> str:
        return f"a model's answer in {params.max_tokens} tokens"

    options = {
        "cwd": Path(__file__).parents[1] if row.transport == "stdio" else None,
        "roots": ["file:///a", "file:///b"],
        "elicitation": answer,
        "sampling": model,
        **options,
    }
    async with (
        TRANSPORTS[row.transport]() as target,
        connect(target, revision=row.revision, on_notification=told.append, **options) as client,
    ):
        links.append(Link(row, client, told))
        yield links[0]


@pytest.fixture(scope="module")
def anyio_backend() -> str:
    """One event loop for all tests of a module, so that they can share connections."""
    return "asyncio"


@pytest.fixture(scope="module", params=ROWS, ids=str)
def row(request: pytest.FixtureRequest) -> Row:
    """Each row in turn."""
    return request.param


@pytest.fixture(scope="module")
async def link(row: Row, anyio_backend: str) -> AsyncIterator[Link]:
    """A connection that the tests of one row share."""
    async with linked(row) as link:
        yield link
