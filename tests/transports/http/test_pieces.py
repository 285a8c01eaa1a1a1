"""A transport that sends in one piece what is written within one turn of the event loop."""

from __future__ import annotations

import asyncio
from typing import Any, cast

import pytest

from mcp_notebook.transports.http.pieces import ENOUGH, InOnePiece

pytestmark = pytest.mark.anyio


class Transport:
    def __init__(self) -> None:
        self.done: list[Any] = []

    def write(self, data: bytes) -> None:
        self.done.append(data)

    def close(self) -> None:
        self.done.append("closed")

    def abort(self) -> None:
        self.done.append("aborted")

    def is_closing(self) -> bool:
        return "closed" in self.done


@pytest.fixture
async def below() -> Transport:
    return Transport()


@pytest.fixture
async def above(below: Transport) -> InOnePiece:
    return InOnePiece(cast(asyncio.Transport, below))


async def test_what_is_written_in_one_turn_goes_out_in_one_piece(above: InOnePiece, below: Transport) -> None:
    above.write(b"head ")
    above.write(b"")
    above.write(b"body")
    assert below.done == []
    await asyncio.sleep(0)
    assert below.done == [b"head body"]
    above.write(b"next")
    await asyncio.sleep(0)
    assert below.done == [b"head body", b"next"]


async def test_much_is_not_held_back(above: InOnePiece, below: Transport) -> None:
    above.write(b"head")
    above.write(b"x" * ENOUGH)
    assert below.done == [b"head" + b"x" * ENOUGH]
    await asyncio.sleep(0)
    assert len(below.done) == 1


async def test_closing_sends_the_rest_first_and_aborting_does_not(above: InOnePiece, below: Transport) -> None:
    above.write(b"last words")
    above.close()
    assert below.done == [b"last words", "closed"]
    assert above.is_closing()
    above.write(b"too late")
    above.abort()
    await asyncio.sleep(0)
    assert below.done[2:] == ["aborted"]
