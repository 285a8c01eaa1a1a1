"""Many tasks at once: none is refused for the others, and none takes more work for them."""

from __future__ import annotations

import asyncio
import sys
from pathlib import Path
from types import FrameType
from typing import Any

import pytest

import mcp_notebook
from mcp_notebook import Limits, connect
from mcp_notebook.store import open_store

from ..scripted import until
from .far_tasks import FORMS, REVISION
from .lines import MemoryLine
from .players import Row, Working

pytestmark = pytest.mark.anyio
PACKAGE = str(Path(mcp_notebook.__file__).parent)
FEW, MANY = 10, 300


class Work:
    """Counts what Python does in the package, bytecode by bytecode."""

    def __init__(self) -> None:
        self.steps = 0

    def __enter__(self) -> Work:
        self._before = sys.gettrace()
        sys.settrace(self._enter)
        return self

    def __exit__(self, *_: object) -> None:
        sys.settrace(self._before)

    def _enter(self, frame: FrameType, event: str, _: Any) -> Any:
        if not frame.f_code.co_filename.startswith(PACKAGE):
            return None
        frame.f_trace_opcodes, frame.f_trace_lines = True, False
        return self._step

    def _step(self, frame: FrameType, event: str, _: Any) -> Any:
        self.steps += event == "opcode"
        return self._step


@pytest.mark.parametrize("form", FORMS)
async def test_more_tasks_than_requests_at_once_are_carried_out(form: str) -> None:  # row 9
    server = Working(limits=Limits(incoming_requests=4))
    async with connect(server, revision=REVISION[form]) as client:
        handles = []
        for number in range(1, 13):
            handles.append(client.begin_call("work", task=True))
            await until(lambda number=number: server.runs["begun"] == number)
        await client.ping()
        server.free.set()
        assert {result.text for result in await asyncio.gather(*handles)} == {"done"}


@pytest.mark.parametrize("where", ["memory", "file"])
@pytest.mark.parametrize("form", FORMS)
async def test_asking_about_a_task_takes_as_much_work_among_many(
    form: str, where: str, tmp_path: Path
) -> None:  # row 9
    server = Working(store=open_store(tmp_path / "store" if where == "file" else None))
    player = await Row(form, REVISION[form], MemoryLine).player(server)
    ended = await player.begin(wait=False)
    await player.until(ended, "completed")
    working = await player.begin()
    counted: list[dict[str, int]] = []
    for number in (FEW, MANY):
        while len(player.requests) < number:
            await player.begin()
        uses = {
            "about one at work": lambda: player.get(working),
            "about one that ended": lambda: player.get(ended),
            "for one more": lambda: player.begin(),
        }
        counted.append({})
        for name, use in uses.items():
            with Work() as work:
                await use()
            counted[-1][name] = work.steps
    few, many = counted
    assert min(few.values()) > 100
    assert {name: (few[name], many[name]) for name in few if many[name] > few[name] + MANY / 2} == {}
