"""Roots: the folders a client lets a server work in."""

from __future__ import annotations

from .base import Result, WithMeta


class Root(WithMeta):
    """A folder or file, as a `file://` URI."""

    uri: str
    name: str | None = None


class ListRootsResult(Result):
    """The answer to `roots/list`."""

    roots: list[Root]
