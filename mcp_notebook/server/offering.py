"""What a program offers to MCP clients: the decorators that make tools, resources and prompts of its functions."""

from __future__ import annotations

import functools
import sys
from collections.abc import Callable
from typing import Any, TypeVar, overload

import anyio

from ..errors import SchemaError
from ..protocol.resuming import ResumeTerms
from ..protocol.tasks import SUPPORTS, Support
from ..types import (
    Annotations,
    Icon,
    Prompt,
    PromptArgument,
    Resource,
    ResourceTemplate,
    Tool,
    ToolAnnotations,
    ToolExecution,
)
from .completing import as_completer, from_schema
from .context import Context
from .registry import Kind, Registry
from .running import Handler, run_prompt, run_resource, run_tool
from .signature import Signature
from .uri_template import UriTemplate

F = TypeVar("F", bound=Callable[..., Any])


class Offering:
    """Tools, resources and prompts, made of functions and kept in a registry.

    Args:
        on_changed: told which list changed.
        handler_threads: how many synchronous functions run at once.
    """

    def __init__(self, on_changed: Callable[[Kind], None], handler_threads: int) -> None:
        self.registry = Registry(on_changed)
        self._limiter = anyio.CapacityLimiter(handler_threads)

    @overload
    def tool(self, function: F, /) -> F: ...
    @overload
    def tool(
        self,
        /,
        *,
        name: str | None = None,
        title: str | None = None,
        description: str | None = None,
        annotations: ToolAnnotations | None = None,
        input_schema: dict[str, Any] | None = None,
        icons: list[Icon] | None = None,
        meta: dict[str, Any] | None = None,
        structured: bool = True,
        task: Support = "forbidden",
        late_task: bool = False,
        resumable: bool = False,
        min_wait: int = 0,
        max_wait: int | None = None,
    ) -> Callable[[F], F]: ...
    def tool(
        self,
        function: Any = None,
        /,
        *,
        name: str | None = None,
        title: str | None = None,
        description: str | None = None,
        annotations: ToolAnnotations | None = None,
        input_schema: dict[str, Any] | None = None,
        icons: list[Icon] | None = None,
        meta: dict[str, Any] | None = None,
        structured: bool = True,
        task: Support = "forbidden",
        late_task: bool = False,
        resumable: bool = False,
        min_wait: int = 0,
        max_wait: int | None = None,
    ) -> Any:
        """Offer a function as a tool: `@server.tool`, or `@server.tool(name=...)`.

        The input schema comes from the signature, the descriptions from the docstring, the output schema from the
        return annotation. A parameter annotated with `Context` receives the running call. A tool of the same name is
        replaced.

        Args:
            function: the function, synchronous (run in a thread) or asynchronous.
            name: the tool's name; the function's by default.
            title: the name for people.
            description: what it does; the docstring by default.
            annotations: hints such as `ToolAnnotations(read_only_hint=True)`.
            input_schema: a JSON Schema of your own in place of the generated one; arguments are checked against it
                and passed by keyword as they came.
            icons: pictures for it.
            meta: its `_meta`.
            structured: whether results are told as data, too.
            task: whether a client that can may ("optional") or must ("required") call it as a task, about which it may
                ask later, whatever becomes of its connection. A task belongs to the principal who began it; without
                one, to the session; where the revision has no sessions either (2026-07-28), to whoever knows its id,
                which cannot be guessed (TSK-9). How many there may be, how long they are kept at most, and how often
                one may ask about them, `Limits` says: `tasks`, `task_keep_most`, `task_rate` (TSK-8).
            late_task: where the server decides when a call becomes a task (TEX-1), it does so only when the handler
                calls `context.become_task()`: what it asks before is asked as in any other call. Elsewhere a task
                begins with the call.
            resumable: whether a client that can (capabilities `resumableRequests` and `streams`) may go away and come
                back while the tool runs; what it says meanwhile is kept.
            min_wait: seconds that such a client should stay away at least.
            max_wait: seconds after which a call whose client stays away is given up; `Limits.kept` by default.

        Raises:
            SchemaError: no schema can be made of the signature, or the given one is none (JSC-3).
            ValueError: `task` is another word, or the handler could never say when it becomes a task.
        """
        if task not in SUPPORTS:
            raise ValueError(f"task={task!r} is none of {', '.join(map(repr, SUPPORTS))}")
        if late_task and task == "forbidden":
            raise ValueError("late_task=True is for tools with task='optional' or task='required'")
        if function is None:
            return functools.partial(
                self.tool,
                name=name,
                title=title,
                description=description,
                annotations=annotations,
                input_schema=input_schema,
                icons=icons,
                meta=meta,
                structured=structured,
                task=task,
                late_task=late_task,
                resumable=resumable,
                min_wait=min_wait,
                max_wait=max_wait,
            )
        signature = self._signature(function, name, input_schema)
        if not structured:
            signature = signature.without_output()
        handler = Handler(function, signature, self._limiter)
        tool = Tool(
            name=name or signature.name,
            title=title,
            description=description or signature.description,
            input_schema=signature.input_schema,
            output_schema=signature.output_schema,
            annotations=annotations,
            icons=icons,
            meta=meta,
            execution=None if task == "forbidden" else ToolExecution(task_support=task),
        )
        asks = signature.context_parameter is not None
        if late_task and not asks:
            raise ValueError(f"late_task=True: {signature.name!r} needs a parameter of type Context, to become a task")
        resume = ResumeTerms(min_wait, max_wait) if resumable else None
        run = functools.partial(run_tool, handler)
        self.registry.add_tool(tool, run, asks=asks, resume=resume, task=task, late_task=late_task)
        return function

    def resource(
        self,
        uri: str,
        *,
        name: str | None = None,
        title: str | None = None,
        description: str | None = None,
        mime_type: str | None = None,
        annotations: Annotations | None = None,
        icons: list[Icon] | None = None,
        size: int | None = None,
        meta: dict[str, Any] | None = None,
    ) -> Callable[[F], F]:
        """Offer a function as a resource, or (with `{variables}` in the URI) as a family of them.

        It returns text, bytes, anything that can be told as JSON, or `ResourceContents`. The variables are its
        parameters.

        Args:
            uri: the URI, or an RFC 6570 template of it.
            name: the name for programs; the function's by default.
            title: the name for people.
            description: what it holds; the docstring by default.
            mime_type: of what it holds; guessed from what is returned by default.
            annotations: for whom it is, and how important.
            icons: pictures for it.
            size: in bytes (not for templates).
            meta: its `_meta`.

        Raises:
            SchemaError: the variables of the template are not the parameters of the function.
        """

        def offer(function: F) -> F:
            signature = self._signature(function, name)
            variables = UriTemplate(uri).variables
            _check_variables(uri, variables, signature)
            handler = Handler(function, signature, self._limiter)
            common: dict[str, Any] = {
                "name": name or signature.name,
                "title": title,
                "description": description or signature.description,
                "mime_type": mime_type,
                "annotations": annotations,
                "icons": icons,
                "meta": meta,
            }

            async def run(target: tuple[str, dict[str, str]], context: Context) -> Any:
                return await run_resource(handler, *target, mime_type, context)

            if variables:
                self.registry.add_template(ResourceTemplate(uri_template=uri, **common), run)
            else:
                self.registry.add_resource(Resource(uri=uri, size=size, **common), run)
            self._complete_from_schema(uri, signature)
            return function

        return offer

    @overload
    def prompt(self, function: F, /) -> F: ...
    @overload
    def prompt(
        self,
        /,
        *,
        name: str | None = None,
        title: str | None = None,
        description: str | None = None,
        icons: list[Icon] | None = None,
        meta: dict[str, Any] | None = None,
    ) -> Callable[[F], F]: ...
    def prompt(
        self,
        function: Any = None,
        /,
        *,
        name: str | None = None,
        title: str | None = None,
        description: str | None = None,
        icons: list[Icon] | None = None,
        meta: dict[str, Any] | None = None,
    ) -> Any:
        """Offer a function as a prompt: `@server.prompt`, or `@server.prompt(name=...)`.

        It returns a string (one message of the user), a `PromptMessage`, or a list of both.

        Args:
            function: the function; its parameters are the prompt's arguments.
            name: the prompt's name; the function's by default.
            title: the name for people.
            description: what it is for; the docstring by default.
            icons: pictures for it.
            meta: its `_meta`.

        Raises:
            SchemaError: the signature cannot be used.
        """
        if function is None:
            return functools.partial(
                self.prompt, name=name, title=title, description=description, icons=icons, meta=meta
            )
        signature = self._signature(function, name)
        handler = Handler(function, signature, self._limiter)
        about = description or signature.description
        required = signature.input_schema.get("required", [])
        arguments = [
            PromptArgument(name=key, description=schema.get("description"), required=key in required)
            for key, schema in signature.input_schema.get("properties", {}).items()
        ]
        prompt = Prompt(
            name=name or signature.name, title=title, description=about, arguments=arguments, icons=icons, meta=meta
        )

        async def run(given: dict[str, str], context: Context) -> Any:
            return await run_prompt(handler, given, about, context)

        self.registry.add_prompt(prompt, run)
        self._complete_from_schema(prompt.name, signature)
        return function

    def completion(self, of: str, argument: str) -> Callable[[F], F]:
        """Offer suggestions for an argument of a prompt, or a variable of a resource template.

        The function takes what stands there so far, and (if it has a second parameter) the other arguments as a dict;
        it returns the suggestions.

        Args:
            of: the prompt's name, or the URI template.
            argument: the argument's name.
        """

        def offer(function: F) -> F:
            self.registry.completions[of, argument] = as_completer(function, self._limiter)
            return function

        return offer

    def remove_tool(self, name: str) -> None:
        """No longer offer a tool. Raises KeyError."""
        self.registry.remove("tools", name)

    def remove_resource(self, uri: str) -> None:
        """No longer offer a resource or template. Raises KeyError."""
        self.registry.remove("resources", uri)

    def remove_prompt(self, name: str) -> None:
        """No longer offer a prompt. Raises KeyError."""
        self.registry.remove("prompts", name)

    # Within

    def _signature(self, function: Any, name: str | None, input_schema: dict[str, Any] | None = None) -> Signature:
        frame = sys._getframe(1)
        while frame.f_back is not None and frame.f_globals.get("__name__", "") in (__name__, "functools"):
            frame = frame.f_back
        return Signature.of(function, context=Context, localns=frame.f_locals, name=name, input_schema=input_schema)

    def _complete_from_schema(self, of: str, signature: Signature) -> None:
        for argument, completer in from_schema(signature.input_schema):
            self.registry.completions.setdefault((of, argument), completer)


def _check_variables(uri: str, variables: list[str], signature: Signature) -> None:
    parameters = signature.input_schema.get("properties", {})
    missing = [name for name in variables if name not in parameters]
    left = [name for name in signature.input_schema.get("required", []) if name not in variables]
    if missing:
        raise SchemaError(
            f"The URI {uri!r} has the variable {missing[0]!r}, but {signature.name}() has no such parameter. "
            "Name the parameters as the variables."
        )
    if left:
        raise SchemaError(
            f"{signature.name}() needs {left[0]!r}, which the URI {uri!r} does not have. "
            f"Write it into the URI as {{{left[0]}}}, or give the parameter a default."
        )
