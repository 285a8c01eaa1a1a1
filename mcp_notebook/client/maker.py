"""What calls ask of the client that makes them."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Protocol

from ..home import Home
from ..types import Tool
from .results import ToolResult

if TYPE_CHECKING:
    from .session import ClientSession


class Maker(Protocol):
    """What makes calls, and goes on with them: a client."""

    @property
    def home(self) -> Home: ...

    @property
    def session(self) -> ClientSession: ...

    @property
    def address(self) -> str | None:
        """Where the server is, if that outlives this process."""
        ...

    @property
    def remembers_arguments(self) -> bool:
        """Whether a journal may keep what its tools are called with."""
        ...

    async def attached(self) -> ClientSession: ...

    def validated(self, name: str, raw: Any) -> ToolResult: ...

    def known_tool(self, name: str) -> Tool | None: ...

    async def list_tools(self) -> list[Tool]: ...
