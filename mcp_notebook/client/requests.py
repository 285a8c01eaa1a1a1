"""Requests to a server: one way for all but calls of tools; and lists that come in pages."""

from __future__ import annotations

from collections.abc import AsyncIterator, Callable
from typing import Any, TypeVar

from ..errors import InvalidResult
from ..jsonrpc import much_data
from ..types import Model, PaginatedResult
from .link import Link
from .options import ClientOptions
from .results import Listing, parsed

T = TypeVar("T")
M = TypeVar("M", bound=Model)
P = TypeVar("P", bound=PaginatedResult)


class Requests:
    """What is asked on the connection that there is, on its loop.

    Args:
        link: the connection.
        options: how long to wait, and how much to take.
    """

    def __init__(self, link: Link, options: ClientOptions) -> None:
        self._link = link
        self._options = options

    async def request(
        self, method: str, params: dict[str, Any], timeout: float | None = None, *, cached: bool = True
    ) -> Any:
        """The result of a request as JSON data; `cached`: one that the server let us keep will do. Raises MCPError."""
        silence, total = self._options.waits(timeout)
        return await self._link.session.request(
            method, params, timeout=silence, total=total, on_progress=_ignore, cached=cached
        )

    async def ask(self, method: str, params: dict[str, Any], form: type[M], timeout: float | None = None) -> M:
        """The result of a request in its form.

        Raises:
            UnsupportedFeature: the server has no such method.
            InvalidResult: the result has not that form.
            MCPError: the request failed.
        """
        self._link.session.profile.check_server(method)
        return parsed(form, await self.request(method, params, timeout), repr(method))

    async def list_all(self, method: str, form: type[P], items: Callable[[P], list[T]]) -> Listing[T]:
        """All items of a list; empty where the server has no such list."""
        found: Listing[T] = Listing()
        if self._link.session.profile.server_has(method):
            async for page in self._pages(method, form):
                found += items(page)
        return found

    async def _pages(self, method: str, form: type[P]) -> AsyncIterator[P]:
        """All pages of a list. An empty cursor leads on like any other; one that comes again leads nowhere."""
        most, params, seen = self._options.limits.pages, dict[str, Any](), set[str]()
        for _ in range(most):
            raw = await self.request(method, params)
            with much_data():
                page = parsed(form, raw, repr(method))
            yield page
            cursor = page.next_cursor
            if cursor is None:
                return
            if cursor in seen:
                raise InvalidResult(f"The server's {method!r} goes in a circle: the cursor {cursor[:80]!r} came again.")
            seen.add(cursor)
            params = {"cursor": cursor}
        raise InvalidResult(f"The server's {method!r} has more than {most} pages (Limits.pages).")


def _ignore(params: dict[str, Any]) -> None:
    """Progress that nobody watches still shows that the work goes on."""
