"""Answering what servers ask of a client: roots, elicitation, sampling."""

from __future__ import annotations

import inspect
from collections.abc import Awaitable, Callable, Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, TypeAlias

import anyio.to_thread
from pydantic import ValidationError

from ..errors import InvalidResult, ProtocolError, SchemaError
from ..jsonrpc import INVALID_PARAMS
from ..protocol.revision import Profile
from ..types import (
    ClientCapabilities,
    CreateMessageParams,
    CreateMessageResult,
    ElicitParams,
    ElicitResult,
    ListRootsResult,
    Model,
    Result,
    Root,
    TextContent,
)
from ..types.problems import first_problem
from .visits import Visiting, Visits

Roots: TypeAlias = Iterable[Root | str | Path] | Callable[[], Any]
"""Folders (paths or `file://` URIs), or a function that gives them."""
Elicitation: TypeAlias = Callable[[ElicitParams], Any]
"""Takes what is asked; gives an ElicitResult, a dict of values (which accepts), or None (which cancels)."""
Sampling: TypeAlias = Callable[[CreateMessageParams], Any]
"""Takes what is asked of the model; gives a CreateMessageResult, or the text of one."""


@dataclass(frozen=True, slots=True)
class Answering:
    """The handlers of one client. What has none is not declared, and refused."""

    roots: Roots | None = None
    elicitation: Elicitation | None = None
    sampling: Sampling | None = None
    visiting: Visiting | None = None

    def capabilities(self) -> ClientCapabilities:
        """What the client declares: what it can do, and no more."""
        return ClientCapabilities(
            roots=None if self.roots is None else {"listChanged": True},
            elicitation=self._modes(),
            sampling=None if self.sampling is None else {},
            resumable_requests={},
            streams={},
            tasks=self._tasks(),
        )

    def _modes(self) -> dict[str, Any] | None:
        """The modes of elicitation (URL-1)."""
        modes = {"form": self.elicitation, "url": self.visiting}
        return {mode: {} for mode, answer in modes.items() if answer is not None} or None

    def _tasks(self) -> dict[str, Any] | None:
        """What a server may ask for as a task: whatever a person or a model may take long over (TCR-1)."""
        requests: dict[str, Any] = {}
        if self._modes() is not None:
            requests["elicitation"] = {"create": {}}
        if self.sampling is not None:
            requests["sampling"] = {"createMessage": {}}
        return {"list": {}, "cancel": {}, "requests": requests} if requests else None

    async def list_roots(self, profile: Profile, params: Model) -> Result:
        """`roots/list`."""
        given = self.roots
        roots = await _called(given) if callable(given) else given
        return ListRootsResult(roots=[as_root(root) for root in roots or ()])

    async def elicit(self, profile: Profile, params: ElicitParams) -> Result:
        """`elicitation/create`."""
        if params.mode not in profile.elicitation_modes():
            raise ProtocolError(INVALID_PARAMS, f"This client did not declare elicitation mode {params.mode!r}.")
        assert self.elicitation is not None  # or the capability would not have been declared
        result = as_elicit_result(await _called(self.elicitation, params))
        if result.action == "accept":
            check_answer(params, result)
        return result

    async def create_message(self, profile: Profile, params: CreateMessageParams) -> Result:
        """`sampling/createMessage`."""
        if params.tools is not None or params.tool_choice is not None:
            raise ProtocolError(INVALID_PARAMS, "This client did not declare the capability 'sampling.tools'.")  # SMP-2
        assert self.sampling is not None  # or the capability would not have been declared
        answer = await _called(self.sampling, params)
        if isinstance(answer, str):
            return CreateMessageResult(content=TextContent(text=answer), model="unknown", stop_reason="endTurn")
        if isinstance(answer, CreateMessageResult):
            return answer
        return CreateMessageResult.model_validate(answer)


Answerer = Callable[[Answering, Profile, Any], Awaitable[Result]]
QUESTIONS: Mapping[str, tuple[type[Model], Answerer]] = {
    "roots/list": (Model, Answering.list_roots),
    "elicitation/create": (ElicitParams, Answering.elicit),
    "sampling/createMessage": (CreateMessageParams, Answering.create_message),
}
"""What a server may ask: method -> the form of its parameters, and what answers."""


async def answer(
    answering: Answering, visits: Visits, profile: Profile, method: str, raw: dict[str, Any] | None
) -> Result:
    """Answer one question of a server's.

    Raises:
        ProtocolError: the question is malformed, or asks for what was not declared.
    """
    form, answerer = QUESTIONS[method]
    try:
        params = form.model_validate(raw or {})
    except ValidationError as error:
        raise ProtocolError(INVALID_PARAMS, f"Invalid params of {method!r}: {first_problem(error)}") from None
    if isinstance(params, ElicitParams) and params.mode == "url" and "url" in profile.elicitation_modes():
        return await visits.ask(params)
    return await answerer(answering, profile, params)


def as_root(root: Root | str | Path) -> Root:
    """A root of a path or URI."""
    if isinstance(root, Root):
        return root
    if isinstance(root, str) and "://" in root:
        return Root(uri=root)
    path = Path(root).expanduser().resolve()
    return Root(uri=path.as_uri(), name=path.name or None)


def as_elicit_result(value: Any) -> ElicitResult:
    """What a handler gave, as the protocol's result."""
    if isinstance(value, ElicitResult):
        return value
    if value is None:
        return ElicitResult(action="cancel")
    if isinstance(value, dict):
        return ElicitResult(action="accept", content=value)
    raise TypeError(f"an elicitation handler returns an ElicitResult, a dict or None, not {type(value).__name__}")


def check_answer(params: ElicitParams, result: ElicitResult) -> None:
    """Check an accepted answer against what was asked, before it is sent.

    Raises:
        InvalidResult: it does not fit.
    """
    from ..protocol.json_schema import Validator  # not before there is a question

    try:
        validator = Validator(params.requested_schema)
    except SchemaError:
        return  # what nobody can check, the server has to (JSC-3)
    problems = validator.errors(result.content or {})
    if problems:
        raise InvalidResult("The answer does not fit what was asked: " + "; ".join(map(str, problems)))


async def _called(function: Callable[..., Any], *args: Any) -> Any:
    """What a function gives, synchronous (it runs in a thread, where it may take its time) or asynchronous."""
    if inspect.iscoroutinefunction(function):
        return await function(*args)
    value = await anyio.to_thread.run_sync(function, *args, abandon_on_cancel=True)
    return await value if inspect.isawaitable(value) else value
