"""`client.map`: one tool, many calls, a few at a time, with one progress and one table of what came of them."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Callable, Generator, Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Any

from ..errors import CallCancelled, MCPError, SchemaError
from ..home import Home
from ..types import Progress, Tool
from .calls import CallHandle
from .listeners import tell
from .results import ToolResult

if TYPE_CHECKING:
    from concurrent.futures import Future

    import pandas

Outcome = ToolResult | MCPError


class CallMap(Sequence[CallHandle]):
    """Many calls of one tool, under way or done: a sequence of their handles, in the order of the rows.

    `await` it or ask it for its `result()`: a list with a result for each row, or the error in its place, so that one
    row that fails costs no other. `to_pandas()` waits as well, and makes it a table.

    Attributes:
        tool: the tool's name.
        rows: the arguments of each call.
    """

    def __init__(
        self, home: Home, tool: str, rows: list[dict[str, Any]], begin: Callable[[dict[str, Any]], CallHandle]
    ) -> None:
        self.tool = tool
        self.rows = rows
        self._home = home
        self._begin = begin
        self._calls: list[CallHandle | None] = [None] * len(rows)
        self._outcomes: list[Outcome | None] = [None] * len(rows)
        self._done = 0
        self._began, self._over = time.time(), 0.0
        self._cancelled = False
        self._listeners: list[Callable[[CallMap], None]] = []
        self._future: Future[list[Outcome]] | None = None

    def start(self, concurrency: int) -> CallMap:
        """Begin, with so many calls at a time."""
        self._future = self._home.submit(self._run(concurrency))
        return self

    def result(self, timeout: float | None = None) -> list[Outcome]:
        """Wait for all of them, blocking.

        Args:
            timeout: seconds to wait; the calls go on when they are over.

        Returns:
            A result, or the error, for each row.

        Raises:
            TimeoutError: the seconds are over.
        """
        return self._home.wait(self._waited_for(), timeout)

    def __await__(self) -> Generator[Any, None, list[Outcome]]:
        return self._home.settled(self._waited_for()).__await__()

    def done(self) -> bool:
        """Whether all have ended."""
        return self._waited_for().done()

    def cancel(self) -> None:
        """No longer want any of them: what runs is cancelled, and nothing more begins. What has ended stays."""
        self._home.loop.call_soon_threadsafe(self._cancel_here)

    @property
    def progress(self) -> Progress:
        """How far all of them are together: rows done, parts of those under way among them."""
        under_way = sum(_share(call) for call in self._calls if call is not None and not call.done())
        return Progress(progress=self._done + under_way, total=len(self.rows), message=self._words())

    @property
    def failed(self) -> list[int]:
        """The numbers of the rows that failed so far, from 0: an error, or a tool's own."""
        return [number for number, outcome in enumerate(self._outcomes) if _failed(outcome)]

    @property
    def cancelled(self) -> list[int]:
        """The numbers of those among them that were cancelled."""
        return [number for number, outcome in enumerate(self._outcomes) if isinstance(outcome, CallCancelled)]

    def to_pandas(self) -> pandas.DataFrame:
        """A table: the arguments, the data (an object's fields as columns, else `result`), and `error` where a row
        failed. Waits until all have ended, blocking, as `result()` does.

        Raises:
            ImportError: pandas is not installed.
            RuntimeError: they have not all ended, and the event loop that the wait would block is the one that they
                run on: `await` them first.
        """
        try:
            import pandas
        except ImportError:
            raise ImportError("to_pandas() needs pandas: pip install pandas") from None
        return pandas.DataFrame(self.table())

    def table(self) -> list[dict[str, Any]]:
        """The same as dicts, one for each row; waits as well."""
        if not self.done():
            self._check_may_wait()
            self.result()
        return self.table_so_far()

    def table_so_far(self) -> list[dict[str, Any]]:
        """The same without waiting: of a row whose call has not ended there are the arguments only."""
        return [{**row, **_cells(outcome)} for row, outcome in zip(self.rows, self._outcomes, strict=True)]

    @property
    def ended(self) -> int:
        """How many have ended."""
        return self._done

    @property
    def elapsed(self) -> float:
        """Seconds since they began, up to the end of the last."""
        return (self._over or time.time()) - self._began

    def add_listener(self, listener: Callable[[CallMap], None]) -> None:
        """Have a function told of each change, on the connection's loop, where it must not block."""
        self._listeners.append(listener)

    def __len__(self) -> int:
        return len(self.rows)

    def __getitem__(self, number: Any) -> Any:
        """The handle of a row's call; None where it has not begun yet."""
        return self._calls[number]

    def __repr__(self) -> str:
        from ..render.letters import line  # not before there is something to show

        return f"<CallMap of {line(self.tool)}: {self._words()}>"

    # Within, on the connection's loop

    async def _run(self, concurrency: int) -> list[Outcome]:
        todo = iter(range(len(self.rows)))  # one for all workers: each takes the next
        try:
            await asyncio.gather(*(self._work(todo) for _ in range(min(concurrency, len(self.rows)))))
        except asyncio.CancelledError:  # whoever waited was interrupted
            self._outcomes = [outcome or CallCancelled("It was cancelled.") for outcome in self._outcomes]
            raise
        finally:
            self._over = time.time()
        return [outcome for outcome in self._outcomes if outcome is not None]

    async def _work(self, todo: Iterable[int]) -> None:
        for number in todo:
            if self._cancelled:
                self._outcomes[number] = CallCancelled("It was cancelled before it began.")
                continue
            try:
                call = self._calls[number] = self._begin(self.rows[number])
                call.add_listener(lambda *_: tell(self._listeners, self))
                self._outcomes[number] = await call
            except MCPError as error:
                self._outcomes[number] = error
            self._done += 1
            tell(self._listeners, self)

    def _cancel_here(self) -> None:
        self._cancelled = True
        for call in self._calls:
            if call is not None:
                call.cancel()

    def _check_may_wait(self) -> None:
        if not self._home.may_wait:
            raise RuntimeError(
                f"The calls of {self.tool!r} have not all ended ({self._words()}), and waiting for them here would "
                "block the event loop that they run on. `await calls` first."
            )

    def _waited_for(self) -> Future[list[Outcome]]:
        assert self._future is not None, "it is given out once it has begun"
        return self._future

    def _words(self) -> str:
        failed = len(self.failed)
        return f"{self._done} of {len(self.rows)} done" + (f", {failed} failed" if failed else "")


def as_rows(rows: Any, tool: Tool | None) -> list[dict[str, Any]]:
    """The arguments of each call.

    Args:
        rows: dicts; or the rows of a DataFrame, whose missing values are left out; or plain values, for a tool that
            needs just one argument.
        tool: what is known of the tool.

    Raises:
        SchemaError: a plain value stands where the tool does not say which argument it is.
        TypeError: the rows are none.
    """
    if hasattr(rows, "to_dict") and hasattr(rows, "columns"):
        return [_present(rows.columns, values) for values in rows.astype(object).itertuples(index=False)]
    if isinstance(rows, (str, bytes, Mapping)) or not isinstance(rows, Iterable):
        raise TypeError(f"map() takes a list of arguments, or a DataFrame, not {type(rows).__name__}")
    found = list(rows)
    if all(isinstance(row, Mapping) for row in found):
        return [dict(row) for row in found]
    name = _only_argument(tool)
    return [dict(row) if isinstance(row, Mapping) else {name: row} for row in found]


def _present(columns: Iterable[Any], values: Iterable[Any]) -> dict[str, Any]:
    """A row without its missing values: None, and what is unequal to itself, as NaN and NaT are."""
    cells = zip(columns, values, strict=True)
    return {str(column): value for column, value in cells if value is not None and value == value}


def _only_argument(tool: Tool | None) -> str:
    from ..protocol.json_schema import properties_of, required_of  # which costs time, and many programs never need

    schema = tool.input_schema if tool is not None else {}
    properties, required = list(properties_of(schema)), required_of(schema)
    candidates = required if len(required) == 1 else properties
    if len(candidates) != 1:
        what = f"has the arguments {', '.join(properties)}" if properties else "does not say what its arguments are"
        raise SchemaError(
            f"The tool {tool.name if tool else ''!r} {what}: give each row as a dict, {{'argument': value}}."
        )
    return candidates[0]


def _share(call: CallHandle) -> float:
    progress = call.progress
    return min(progress.progress / progress.total, 1.0) if progress is not None and progress.total else 0.0


def _failed(outcome: Outcome | None) -> bool:
    return isinstance(outcome, MCPError) or bool(outcome is not None and outcome.is_error)


def _cells(outcome: Outcome | None) -> dict[str, Any]:
    if outcome is None:
        return {}
    if isinstance(outcome, MCPError):
        return {"error": str(outcome)}
    if outcome.is_error:
        return {"error": outcome.text}
    return outcome.data if isinstance(outcome.data, dict) else {"result": outcome.data}
