from __future__ import annotations

from collections.abc import AsyncIterator, Callable
from typing import Any

import pytest

from mcp_notebook import Server

from .far import Http, Memory

FAR = {"memory": Memory, "HTTP": Http}


@pytest.fixture(params=[*FAR.values()], ids=[*FAR])
async def to(request: pytest.FixtureRequest, anyio_backend: str) -> AsyncIterator[Callable[..., Any]]:
    """Makes the way to a server, over each transport in turn; it is closed at the end."""
    made: list[Any] = []

    def make(server: Server) -> Any:
        made.append(request.param(server))
        return made[-1]

    yield make
    for one in made:
        await one.close()
