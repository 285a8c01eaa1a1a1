"""A share of the soak: nothing is lost, comes twice, runs twice or changes its order, wherever a connection is cut.

The whole of it is a command: `python -m tests.faults.soak`.
"""

from __future__ import annotations

import pytest

from .soak import MECHANISMS, soaked

pytestmark = pytest.mark.anyio
CALLS = 80
SEED = 20261130


async def share(mechanism: str) -> None:
    """Make the calls, and see that the faults were real ones."""
    made = await soaked(mechanism, MECHANISMS[mechanism], SEED, CALLS)
    made.check()
    assert len(made.ledger.calls) == CALLS
    assert len(made.dropped) > CALLS / 8, made.record
    assert len(made.ledger.unknown) < CALLS / 2, made.record


async def test_streams_that_are_cut_anywhere_are_gone_on_with_by_their_last_event_id() -> None:  # SSE-2, SSE-3, SSE-5
    await share("sse")


async def test_requests_that_are_dropped_anywhere_are_resumed_over_http() -> None:  # RR-3, RR-4, RR-5, RR-10
    await share("requests-http")


async def test_requests_that_are_dropped_anywhere_are_resumed_over_a_relay() -> None:  # RR-3, RR-4, RR-5, RR-10
    await share("requests-relay")


async def test_streams_that_are_dropped_anywhere_are_resumed_over_http() -> None:  # ST-2, ST-6, ST-7
    await share("streams-http")


async def test_streams_that_are_dropped_anywhere_are_resumed_over_a_relay() -> None:  # ST-2, ST-6, ST-7
    await share("streams-relay")
