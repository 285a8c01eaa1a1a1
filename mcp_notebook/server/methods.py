"""What a server answers: method -> the form of its parameters, and the function that answers."""

from __future__ import annotations

from collections.abc import Callable, Coroutine, Mapping
from typing import TYPE_CHECKING, Any

from ..errors import ProtocolError
from ..jsonrpc import INVALID_PARAMS
from ..protocol import cursors
from ..protocol.revisions import MODERN
from ..types import (
    CallToolResult,
    CompleteResult,
    Completion,
    DiscoverResult,
    GetPromptResult,
    ListenParams,
    ListPromptsResult,
    ListResourcesResult,
    ListResourceTemplatesResult,
    ListToolsResult,
    Model,
    PromptReference,
    ReadResourceResult,
    Result,
)
from ..types.base import WithMeta
from ..types.requests import (
    CallToolParams,
    CompleteParams,
    GetPromptParams,
    PageParams,
    ReadResourceParams,
    ResourceParams,
    SetLevelParams,
)
from .listening import listen
from .registry import Entry, find

if TYPE_CHECKING:
    from .context import Context
    from .session import ServerSession

COUNTED = "from"
"""What a cursor of these lists counts."""
COMPLETION_VALUES = 100
"""How many suggestions one answer may hold (server/utilities/completion)."""

Answerer = Callable[["ServerSession", Any, "Context"], Coroutine[Any, Any, Result]]


async def discover(session: ServerSession, params: WithMeta, context: Context) -> DiscoverResult:
    return DiscoverResult(
        supported_versions=list(MODERN),
        capabilities=context.profile.server,
        instructions=session.server.instructions,
    )


async def list_tools(session: ServerSession, params: PageParams, context: Context) -> ListToolsResult:
    tools, cursor = _page(session, session.server.registry.tools, params.cursor)
    return ListToolsResult.model_construct(tools=tools, next_cursor=cursor)


async def list_resources(session: ServerSession, params: PageParams, context: Context) -> ListResourcesResult:
    resources, cursor = _page(session, session.server.registry.resources, params.cursor)
    return ListResourcesResult.model_construct(resources=resources, next_cursor=cursor)


async def list_templates(session: ServerSession, params: PageParams, context: Context) -> ListResourceTemplatesResult:
    templates, cursor = _page(session, session.server.registry.templates, params.cursor)
    return ListResourceTemplatesResult.model_construct(resource_templates=templates, next_cursor=cursor)


async def list_prompts(session: ServerSession, params: PageParams, context: Context) -> ListPromptsResult:
    prompts, cursor = _page(session, session.server.registry.prompts, params.cursor)
    return ListPromptsResult.model_construct(prompts=prompts, next_cursor=cursor)


def call_tool(session: ServerSession, params: CallToolParams, context: Context) -> Coroutine[Any, Any, CallToolResult]:
    entry = find(session.server.registry.tools, params.name, "tool")
    return entry.run(params.arguments or {}, context)


async def read_resource(session: ServerSession, params: ReadResourceParams, context: Context) -> ReadResourceResult:
    return await session.server.registry.read(params.uri, context)


async def subscribe(session: ServerSession, params: ResourceParams, context: Context) -> Result:
    if len(session.subscriptions | {params.uri}) > session.server.limits.subscriptions:
        raise ProtocolError(INVALID_PARAMS, f"More than {session.server.limits.subscriptions} subscriptions.")
    session.subscriptions.add(params.uri)
    return Result()


async def unsubscribe(session: ServerSession, params: ResourceParams, context: Context) -> Result:
    session.subscriptions.discard(params.uri)
    return Result()


async def get_prompt(session: ServerSession, params: GetPromptParams, context: Context) -> GetPromptResult:
    entry = find(session.server.registry.prompts, params.name, "prompt")
    return await entry.run(params.arguments or {}, context)


async def complete(session: ServerSession, params: CompleteParams, context: Context) -> CompleteResult:
    registry = session.server.registry
    if isinstance(params.ref, PromptReference):
        name = params.ref.name
        find(registry.prompts, name, "prompt")
    else:
        name = params.ref.uri
        if name not in registry.resources:
            find(registry.templates, name, "resource template")
    suggest = registry.completions.get((name, params.argument.name))
    others = (params.context.arguments or {}) if params.context is not None else {}
    values = await suggest(params.argument.value, others, context) if suggest is not None else []
    shown = values[:COMPLETION_VALUES]
    return CompleteResult(completion=Completion(values=shown, total=len(values), has_more=len(values) > len(shown)))


async def set_level(session: ServerSession, params: SetLevelParams, context: Context) -> Result:
    session.level = params.level
    return Result()


METHODS: Mapping[str, tuple[type[Model], Answerer]] = {
    "server/discover": (WithMeta, discover),
    "subscriptions/listen": (ListenParams, listen),
    "tools/list": (PageParams, list_tools),
    "tools/call": (CallToolParams, call_tool),
    "resources/list": (PageParams, list_resources),
    "resources/templates/list": (PageParams, list_templates),
    "resources/read": (ReadResourceParams, read_resource),
    "resources/subscribe": (ResourceParams, subscribe),
    "resources/unsubscribe": (ResourceParams, unsubscribe),
    "prompts/list": (PageParams, list_prompts),
    "prompts/get": (GetPromptParams, get_prompt),
    "completion/complete": (CompleteParams, complete),
    "logging/setLevel": (SetLevelParams, set_level),
}


def _page(session: ServerSession, holder: dict[str, Entry], cursor: str | None) -> tuple[list[Any], str | None]:
    """One page of a list, and the cursor of the next. A cursor is opaque: where the page begins."""
    start = 0 if cursor is None else _position(cursor, len(holder))
    end = start + session.server.page_size
    items = [entry.item for entry in list(holder.values())[start:end]]
    return items, cursors.cursor(COUNTED, end) if end < len(holder) else None


def _position(cursor: str, length: int) -> int:
    position = cursors.position(cursor, COUNTED, length)
    if position is None:
        raise ProtocolError(INVALID_PARAMS, f"Invalid cursor: {cursor[:80]!r}")
    return position
