"""The server that is called. `python -m tests.faults.soak.server NOTES` serves it on stdio, and notes in that file."""

from __future__ import annotations

import asyncio
import random
import sys
from collections.abc import Callable
from functools import partial
from typing import Any

from mcp_notebook import Context, Limits, Server

from ..ledger import Occurrence, note

Note = Callable[[Occurrence, object, Any], None]
WORDS = ["question", *4 * ["progress"], *5 * ["log"]]
LONGEST_PAUSE = 0.03
"""Seconds between two of them, at most."""


def working(note: Note, *, resumable: bool) -> Server:
    """The server: its one tool says `WORDS`, in an order of the call's own and numbered from 1, and notes what it did.

    Args:
        note: where it notes.
        resumable: whether its calls can be resumed; else only their streams can be gone on with.
    """
    server = Server("working", limits=Limits(kept=120, question=60))

    @server.tool(resumable=resumable)
    async def work(call: int, ctx: Context) -> str:
        note("ran", call, None)
        chance, given = random.Random(call), None
        for number, word in enumerate(words_of(call), 1):
            await asyncio.sleep(chance.uniform(0, LONGEST_PAUSE))
            match word:
                case "progress":  # where a newer one follows at once, it need not arrive
                    await ctx.progress(number)
                case "log":
                    note("said", call, number)
                    await ctx.info({"call": call, "number": number})
                case _:
                    note("said", call, number)
                    given = (await ctx.elicit(f"{call} {number}", str)).data
                    note("answered", call, "the question")
        return f"result of {call}: {given}"

    return server


def words_of(call: int) -> list[str]:
    """What the tool says, in its order."""
    return random.Random(call).sample(WORDS, len(WORDS))


def answer(call: int, number: int) -> str:
    """What a client answers to the question that is said as this number."""
    return f"{call} asked as {number}"


def result(call: int) -> str:
    """What the tool gives."""
    return f"result of {call}: {answer(call, words_of(call).index('question') + 1)}"


if __name__ == "__main__":
    working(partial(note, sys.argv[1]), resumable=True).serve_stdio()
