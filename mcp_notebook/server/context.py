"""What a handler can say and ask while it runs."""

from __future__ import annotations

import copy
import inspect
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Generic, Literal, TypeVar

import anyio
import anyio.from_thread
from pydantic import ValidationError

from ..errors import InvalidResult, UnsupportedFeature, URLElicitationRequired
from ..jsonrpc import RequestId
from ..protocol.revision import Profile, required
from ..types import (
    LOGGING_LEVELS,
    CreateMessageParams,
    CreateMessageResult,
    ElicitParams,
    ElicitResult,
    ListRootsResult,
    LoggingLevel,
    ProgressToken,
    ReadResourceResult,
    Root,
    SamplingMessage,
    TextContent,
)
from ..types.problems import first_problem
from .delivery import Current, Delivery
from .delivery.giving_way import GivingWay
from .elicitation_schema import elicitation_schema, parse_answer

if TYPE_CHECKING:
    from ..transports.connection import Connection
    from .server import Server
    from .session import ServerSession

Data = TypeVar("Data")
COME_BACK = 1.0
"""Seconds after which a client should come back where its stream was closed."""


@dataclass(frozen=True, slots=True)
class Answer(Generic[Data]):
    """What a person did with a question. True where they accepted.

    Attributes:
        action: "accept", "decline" (they said no) or "cancel" (they said nothing).
        data: what they filled in, as the type that was asked for; None unless accepted.
    """

    action: Literal["accept", "decline", "cancel"]
    data: Data | None = None

    def __bool__(self) -> bool:
        return self.action == "accept"


@dataclass(frozen=True, slots=True)
class UrlAnswer:
    """What a person did with a URL. True where they consented to open it, which does not say that they are done.

    Attributes:
        action: "accept", "decline" or "cancel".
        id: the elicitation's id, for `Server.complete_elicitation`.
    """

    action: Literal["accept", "decline", "cancel"]
    id: str
    _server: Server = field(repr=False)
    _principal: str | None = field(repr=False)

    def __bool__(self) -> bool:
        return self.action == "accept"

    def complete(self) -> bool:
        """They are done: the client is told, where the revision has that. False where it is over already."""
        return self._server.complete_elicitation(self.id, self._principal)


class Context:
    """One running request, as its handler sees it. A parameter of a handler that is annotated with it receives it.

    In a synchronous handler, which runs in a thread, the same methods block instead of being awaited.
    """

    def __init__(self, session: ServerSession, current: Current, delivery: Delivery) -> None:
        self._session = session
        self._current = current
        self._delivery = delivery
        self._told = -1.0

    @property
    def profile(self) -> Profile:
        """What holds between the two sides for this request."""
        return self._current.profile

    @property
    def request_id(self) -> RequestId:
        """The request's id. Where the client comes back with answers (2026-07-28), that is a new request."""
        return self._current.request_id

    @property
    def meta(self) -> dict[str, Any]:
        """The request's `_meta`."""
        return self._current.meta

    async def progress(self, progress: float, total: float | None = None, message: str | None = None) -> None:
        """Tell how far the work is. Nothing is sent where the client did not ask, or where it did not grow.

        Args:
            progress: how much is done, in a unit of your own; it must grow.
            total: how much there is to do, in the same unit.
            message: what is being done.
        """
        token: ProgressToken | None = self.meta.get("progressToken")
        if token is None or progress <= self._told:
            return
        self._told = progress
        params: dict[str, Any] = {"progressToken": token, "progress": progress}
        if total is not None:
            params["total"] = total
        if message is not None:
            params["message"] = message
        await self._delivery.tell("notifications/progress", params)

    async def log(self, level: LoggingLevel, data: Any, logger: str | None = None) -> None:
        """Send a line for the client's log; `data` is any JSON, most often text.

        Raises:
            ValueError: there is no such level.
        """
        if level not in LOGGING_LEVELS:
            raise ValueError(f"no log level {level!r}; there are {', '.join(LOGGING_LEVELS)}")
        wanted = self._wanted_level
        if wanted is None or LOGGING_LEVELS.index(level) < LOGGING_LEVELS.index(wanted):
            return
        params: dict[str, Any] = {"level": level, "data": data}
        if logger is not None:
            params["logger"] = logger
        await self._delivery.tell("notifications/message", params)

    async def debug(self, data: Any) -> None:
        """Log at level "debug"."""
        await self.log("debug", data)

    async def info(self, data: Any) -> None:
        """Log at level "info"."""
        await self.log("info", data)

    async def warning(self, data: Any) -> None:
        """Log at level "warning"."""
        await self.log("warning", data)

    async def error(self, data: Any) -> None:
        """Log at level "error"."""
        await self.log("error", data)

    async def elicit(
        self,
        message: str,
        schema: type[Data] | dict[str, Any] | Any,
        *,
        key: str | None = None,
        as_task: bool = False,
    ) -> Answer[Data]:
        """Ask the person at the client for something.

        Args:
            message: the question.
            schema: what is wanted: a dataclass, pydantic model or TypedDict of plain fields; a plain type such as
                `str`, `int`, `bool`, a Literal or an Enum; or a schema of your own as a dict.
            key: a name for the question within the call, which 2026-07-28 shows to the client.
            as_task: have the client carry it out as a task, where it does such things (TSK-10).

        Raises:
            UnsupportedFeature: the client cannot ask anybody.
            SchemaError: no form can be made of the schema, or a default does not fit it (DEF-1).
            InvalidResult: the client's answer does not fit the schema.
        """
        self.profile.check_client("elicitation/create")
        if "form" not in self.profile.elicitation_modes():
            raise UnsupportedFeature(
                "The client did not declare the mode 'form' of elicitation.",
                capabilities=required(("elicitation", "form")),
            )
        requested = elicitation_schema(schema)
        params = ElicitParams(message=message, requested_schema=requested).model_dump(
            mode="json", by_alias=True, exclude_none=True, exclude={"mode"}
        )
        if "url" in self.profile.revision.elicitation_modes:
            params["mode"] = "form"
        result = _checked(ElicitResult, await self._ask("elicitation/create", params, key, as_task))
        if result.action != "accept":
            return Answer(result.action)
        return Answer("accept", parse_answer(schema, result.content or {}))

    async def elicit_url(self, url: str, message: str, *, key: str | None = None) -> UrlAnswer:
        """Ask the person at the client to visit a URL: to sign in somewhere, to pay, to enter what must not pass
        through the client.

        That they accept means that they consented to open it, not that they are done there. Once they are, call the
        answer's `complete()`, or `Server.complete_elicitation`.

        Args:
            url: where to go, https. It holds nothing secret: whoever opens it has to be identified there.
            message: why.
            key: a name for the question, as of `elicit`.

        Raises:
            UnsupportedFeature: the client cannot show URLs.
            LimitExceeded: too many are open at this client (`Limits.visits`).
        """
        self.profile.check_client("elicitation/create")
        if "url" not in self.profile.elicitation_modes():
            raise UnsupportedFeature(
                "The client did not declare the mode 'url' of elicitation.",
                capabilities=required(("elicitation", "url")),
            )
        open = self._session.server.url_elicitations
        id = open.begin(self._session)
        params = {"mode": "url", "message": message, "url": url}
        if self.profile.revision.url_required is not None:
            params["elicitationId"] = id
        try:
            result = _checked(ElicitResult, await self._delivery.ask("elicitation/create", params, key))
        except BaseException:
            open.forget(id)
            raise
        if result.action != "accept":
            open.forget(id)
        return UrlAnswer(result.action, id, self._session.server, self._session.principal)

    def visits(self, required: URLElicitationRequired) -> list[dict[str, Any]]:
        """The URLs to visit, as an error tells them, each open from here on.

        Raises:
            LimitExceeded: too many are open at this client.
        """
        open = self._session.server.url_elicitations
        return [
            {"mode": "url", "elicitationId": open.begin(self._session), "url": url, "message": message}
            for url, message in required.elicitations
        ]

    async def sample(
        self,
        messages: str | SamplingMessage | Sequence[str | SamplingMessage],
        *,
        max_tokens: int = 1000,
        system_prompt: str | None = None,
        temperature: float | None = None,
        stop_sequences: list[str] | None = None,
        key: str | None = None,
        as_task: bool = False,
        **more: Any,
    ) -> CreateMessageResult:
        """Ask the client's language model.

        Args:
            messages: what to say to it; a string is a message of the user.
            max_tokens: how long the answer may be.
            system_prompt: how the model should behave.
            temperature: how freely it should answer.
            stop_sequences: where it should stop.
            key, as_task: as of `elicit`.
            more: further fields of `sampling/createMessage`, by their Python names.

        Raises:
            UnsupportedFeature: the client has no model, or not what `more` asks of it (SMP-2). Nothing was sent.
            ProtocolError: the client (or the person there) refused.
        """
        self.profile.check_client("sampling/createMessage")
        if more.get("tools") is not None or more.get("tool_choice") is not None:
            sampling = self.profile.client.sampling or {}
            if not self.profile.revision.sampling_tools or sampling.get("tools") is None:
                raise UnsupportedFeature(
                    "The client did not declare the capability 'sampling.tools'.",
                    capabilities=required(("sampling", "tools")),
                )
        some = [messages] if isinstance(messages, (str, SamplingMessage)) else messages
        params = CreateMessageParams(
            messages=[
                SamplingMessage(role="user", content=TextContent(text=one)) if isinstance(one, str) else one
                for one in some
            ],
            max_tokens=max_tokens,
            system_prompt=system_prompt,
            temperature=temperature,
            stop_sequences=stop_sequences,
            **more,
        )
        return _checked(CreateMessageResult, await self._ask("sampling/createMessage", params.wire(), key, as_task))

    async def list_roots(self, *, key: str | None = None) -> list[Root]:
        """The folders that the client lets this server work in.

        Args:
            key: a name for the question, as of `elicit`.

        Raises:
            UnsupportedFeature: the client has no such thing.
        """
        self.profile.check_client("roots/list")
        return _checked(ListRootsResult, await self._delivery.ask("roots/list", {}, key)).roots

    async def close_stream(self, retry: float = COME_BACK) -> None:
        """Let go of the connection on which the client waits; it comes back, and misses nothing. For long work over
        HTTP, where connections that stand open are dear (SEP-1699); anywhere else nothing happens.

        Args:
            retry: how many seconds the client should wait before it comes back.
        """
        self._session.connection.pause(self.request_id, round(retry * 1000))

    async def become_task(self) -> None:
        """From here on the call goes on as a task: the client has its answer at once, and asks about the task later.
        Only in tools with `late_task=True`, for clients that can; anywhere else nothing happens."""
        await self._delivery.become_task()

    async def read_resource(self, uri: str) -> ReadResourceResult:
        """Read a resource of this server.

        Raises:
            ProtocolError: there is none of that URI.
        """
        return await self._session.server.registry.read(uri, self)

    @property
    def connection(self) -> Connection:
        """The connection to the client."""
        return self._session.connection

    @property
    def delivery(self) -> Delivery:
        """How what the handler says gets to the client."""
        return self._delivery

    async def _ask(self, method: str, params: dict[str, Any], key: str | None, as_task: bool) -> Any:
        if as_task:
            from .asking import ask_as_task

            return await ask_as_task(self, method, params, key)
        return await self._delivery.ask(method, params, key)

    @property
    def _wanted_level(self) -> LoggingLevel | None:
        if self.profile.revision.log_level == "request":
            return self.profile.log_level
        return self._session.level

    def blocking(self, places: anyio.CapacityLimiter) -> Context:
        """The same for a handler in a worker thread: its methods block instead of being awaited.

        Args:
            places: one of these the handler holds; while it waits for an answer, there is one more.
        """
        context = copy.copy(self)
        context._delivery = GivingWay(self._delivery, places)
        return _Blocking(context)


class _Blocking(Context):
    """A context whose coroutines run on the event loop while the worker thread waits."""

    def __init__(self, context: Context) -> None:
        self.__dict__.update(context.__dict__)
        self._context = context

    def __getattribute__(self, name: str) -> Any:
        value = super().__getattribute__(name)
        if name.startswith("_") or not inspect.iscoroutinefunction(value):
            return value
        method = getattr(self._context, name)

        def block(*args: Any, **kwargs: Any) -> Any:
            async def call() -> Any:
                return await method(*args, **kwargs)

            return anyio.from_thread.run(call)

        return block


Checked = TypeVar("Checked", ElicitResult, CreateMessageResult, ListRootsResult)


def _checked(model: type[Checked], raw: Any) -> Checked:
    try:
        return model.model_validate(raw)
    except ValidationError as error:
        raise InvalidResult(f"The client's answer is broken: {first_problem(error)}.") from None
