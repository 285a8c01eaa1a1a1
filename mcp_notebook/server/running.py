"""Running handlers: asynchronous ones on the loop, synchronous ones in threads; what they raise, as answers."""

from __future__ import annotations

import functools
import inspect
import logging
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

import anyio
import anyio.to_thread

from ..errors import InvalidResult, MCPError, ProtocolError, ToolError, UnsupportedFeature, URLElicitationRequired
from ..jsonrpc import INTERNAL_ERROR, INVALID_PARAMS
from ..protocol.json_schema import coerce_text
from ..types import CallToolResult, GetPromptResult, ReadResourceResult
from .context import Context
from .output import prompt_result, resource_result, tool_failure, tool_result
from .signature import Signature
from .visiting import after_visits

logger = logging.getLogger("mcp_notebook.server")


@dataclass(slots=True)
class Handler:
    """A function that answers requests."""

    function: Callable[..., Any]
    signature: Signature
    limiter: anyio.CapacityLimiter
    """How many synchronous handlers run at once."""
    _is_async: bool = field(init=False)

    def __post_init__(self) -> None:
        self._is_async = is_async(self.function)

    async def __call__(self, values: dict[str, Any], context: Context) -> Any:
        """Run it with validated arguments."""
        name = self.signature.context_parameter
        if self._is_async:
            if name is not None:
                values[name] = context
            return await self.function(**values)
        if name is not None:
            values[name] = context.blocking(self.limiter)
        work = functools.partial(self.function, **values)
        value = await anyio.to_thread.run_sync(work, limiter=self.limiter, abandon_on_cancel=True)
        return await value if inspect.isawaitable(value) else value


def is_async(function: Callable[..., Any]) -> bool:
    """Whether calling it gives a coroutine."""
    while isinstance(function, functools.partial):
        function = function.func
    return inspect.iscoroutinefunction(function) or inspect.iscoroutinefunction(getattr(function, "__call__", None))  # noqa: B004


async def run_tool(handler: Handler, arguments: dict[str, Any], context: Context) -> CallToolResult:
    """Validate, run, and answer; whatever the caller could mend is a result with `isError` (VAL-1)."""
    try:
        values = handler.signature.validate(arguments)
        try:
            value = await handler(values, context)
        except URLElicitationRequired as required:
            value = await after_visits(required, lambda: handler(values, context), context)
        return tool_result(value, handler.signature)
    except ProtocolError as error:
        if error.received:
            return tool_failure(str(error))
        raise
    except (UnsupportedFeature, InvalidResult) as error:
        raise_for_client(error, context)
        return tool_failure(str(error))
    except MCPError as error:
        return tool_failure(str(error))
    except (Exception, SystemExit, KeyboardInterrupt) as error:
        logger.warning("tool %r failed", handler.signature.name, exc_info=True)
        return tool_failure(describe(error))


async def run_resource(
    handler: Handler, uri: str, variables: dict[str, str], mime_type: str | None, context: Context
) -> ReadResourceResult:
    """Read a resource; what fails is a protocol error (VAL-2)."""
    value = await _run_with_text(handler, variables, context, f"resource {uri}")
    return resource_result(value, uri, mime_type)


async def run_prompt(
    handler: Handler, arguments: dict[str, str], description: str | None, context: Context
) -> GetPromptResult:
    """Make a prompt; what fails is a protocol error (VAL-2)."""
    value = await _run_with_text(handler, arguments, context, f"prompt {handler.signature.name}")
    return prompt_result(value, description)


async def _run_with_text(handler: Handler, texts: dict[str, str], context: Context, what: str) -> Any:
    try:
        values = handler.signature.validate(from_text(handler.signature, texts))
    except (ToolError, ValueError) as error:
        raise ProtocolError(INVALID_PARAMS, f"{what}: {error}") from None
    try:
        return await handler(values, context)
    except ProtocolError as error:
        if error.received:
            raise ProtocolError(INTERNAL_ERROR, f"{what} failed: {error}") from None
        raise
    except (UnsupportedFeature, InvalidResult) as error:
        raise_for_client(error, context)
        raise ProtocolError(INTERNAL_ERROR, f"{what}: {error}") from None
    except (Exception, SystemExit, KeyboardInterrupt) as error:
        logger.warning("%s failed", what, exc_info=True)
        raise ProtocolError(INTERNAL_ERROR, f"{what} failed: {describe(error)}") from None


def from_text(signature: Signature, texts: dict[str, str]) -> dict[str, Any]:
    """Arguments that came as text, as the JSON values that the schema wants."""
    schema = signature.input_schema
    properties = schema.get("properties", {})
    definitions = {"$defs": schema["$defs"]} if "$defs" in schema else {}
    return {
        name: coerce_text({**properties[name], **definitions}, text) if name in properties else text
        for name, text in texts.items()
    }


def raise_for_client(error: UnsupportedFeature | InvalidResult, context: Context) -> None:
    """Where the revision has an error of its own for what the client lacks or got wrong, raise that."""
    revision = context.profile.revision
    if isinstance(error, InvalidResult):
        if revision.questions == "returned":  # the broken answer is part of this very request
            raise ProtocolError(INVALID_PARAMS, str(error)) from None
    elif revision.missing_capability is not None and error.capabilities is not None:
        data = {"requiredCapabilities": error.capabilities}
        raise ProtocolError(revision.missing_capability, str(error), data) from None


def describe(error: BaseException) -> str:
    """One line about an exception of somebody's handler: its own text, led by its type."""
    text = str(error)
    kind = type(error).__name__
    if isinstance(error, MCPError):
        return text
    return f"{kind}: {text}" if text else kind
