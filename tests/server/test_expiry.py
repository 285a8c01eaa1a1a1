"""Thousands of calls are given up in time by one timer, and others get on meanwhile."""

from __future__ import annotations

import asyncio
import itertools
from typing import Any

import pytest

from mcp_notebook.server.delivery.expiry import AT_ONCE, Expiry

from ..virtual_time import virtual_time as anyio_backend  # noqa: F401

pytestmark = pytest.mark.anyio


class Waiting:
    """A call that is given up after some seconds."""

    def __init__(self, seconds: float, given_up: list[tuple[Any, float]]) -> None:
        self.seconds = seconds
        self.until: float | None = _now() + seconds
        self._given_up = given_up

    def due(self) -> float | None:
        return self.until

    def expire(self) -> None:
        self.until = None
        self._given_up.append((self.seconds, _now()))


def _now() -> float:
    return asyncio.get_running_loop().time()


@pytest.fixture
def given_up() -> list[tuple[Any, float]]:
    return []


@pytest.fixture
async def expiry() -> Expiry:
    return Expiry(asyncio.get_running_loop())


async def test_each_is_given_up_when_it_is_due_whatever_their_order(
    expiry: Expiry, given_up: list[tuple[Any, float]]
) -> None:
    began = _now()
    for seconds in (30, 5, 3600, 5, 1):
        expiry.add(Waiting(seconds, given_up))
    await asyncio.sleep(4000)
    assert given_up == [(seconds, began + seconds) for seconds in (1, 5, 5, 30, 3600)]


async def test_one_that_is_due_later_by_then_is_left_until_then(
    expiry: Expiry, given_up: list[tuple[Any, float]]
) -> None:
    began = _now()
    call = Waiting(10, given_up)
    expiry.add(call)
    await asyncio.sleep(9)
    call.until = began + 25
    await asyncio.sleep(15)
    assert given_up == []
    await asyncio.sleep(2)
    assert given_up == [(10, began + 25)]


async def test_what_is_over_is_let_go_of_long_before_it_would_be_due(
    expiry: Expiry, given_up: list[tuple[Any, float]]
) -> None:
    for _ in range(10):
        calls = [Waiting(3600, given_up) for _ in range(100)]
        for call in calls:
            expiry.add(call)
        for call in calls:
            call.until = None
            expiry.is_over()
    assert len(expiry) <= 100


async def test_others_have_a_turn_while_thousands_are_given_up(
    expiry: Expiry, given_up: list[tuple[Any, float]]
) -> None:
    for _ in range(10_000):
        expiry.add(Waiting(5, given_up))
    await asyncio.sleep(4)
    seen = [0]
    while len(given_up) < 10_000:
        await asyncio.sleep(0 if given_up else 0.5)
        seen.append(len(given_up))
    steps = [after - before for before, after in itertools.pairwise(seen)]
    assert max(steps) <= 2 * AT_ONCE
