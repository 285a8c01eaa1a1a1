"""Going on with a request after a drop: what both drafts for it have in common, as data.

A draft is a `Dialect`: how the policy is announced, how one resumes, how one asks for the status. The drafts themselves
stand in `protocol/extensions`, one file each.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any, Literal, NamedTuple, Protocol, TypeAlias

from ..jsonrpc import Notification, RequestId

MESSAGE = "mcp-notebook/message"
"""The `_meta` key under which our own peers say which call a message belongs to (`requestId`) and which message of it
it is (`number`), for transports without event ids (RR-10). On a resume `number` is the last one that arrived. Whoever
goes on where another process was says `again`: questions that are open are asked again.

`after` is the number of the message that was said before to whoever is told: nobody may take a message without having
heard that one. What an older way still brings while a newer one is about to repeat what went missing is known by it."""

WorkState: TypeAlias = Literal["processing", "completed", "failed"]
"""Failed means that the response is an error; a tool's own error is completed (RR-9)."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ResumePolicy:
    """What a server promises for one request. Waits are in seconds.

    `token` is a secret (RR-11): it stands in no repr.
    """

    request_id: RequestId
    token: str = field(repr=False)
    min_wait: int = 0
    """How long to wait before resuming or asking for the status."""
    max_wait: int | None = None
    """How long the server waits for either before it may give the request up; None: no promise."""
    stream_id: str | None = None
    """Where the draft has ids of its own for this."""


@dataclass(frozen=True, slots=True)
class ResumeTerms:
    """What a tool offers to clients that can resume: waits in whole seconds.

    Args:
        min_wait: how long a client should wait before it comes back.
        max_wait: how long it may stay away before the call is given up; None: as long as `Limits.kept` says.
    """

    min_wait: int = 0
    max_wait: int | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class WorkStatus:
    """How a resumable request stands."""

    state: WorkState
    pending: bool
    """Whether messages wait for the client."""
    asks: bool
    """Whether a question of the server's is unanswered."""


def mark(
    meta: dict[str, Any] | None,
    id: RequestId,
    number: int | None = None,
    after: int | None = None,
    *,
    again: bool = False,
) -> dict[str, Any]:
    """A `_meta` that says which call a message belongs to, which message of it it is, and after which it comes."""
    said: dict[str, Any] = {"requestId": id}
    if number is not None:
        said["number"] = number
    if after is not None:
        said["after"] = after
    if again:
        said["again"] = True
    return {**(meta or {}), MESSAGE: said}


class Mark(NamedTuple):
    """What a message says of the call that it belongs to."""

    request_id: RequestId | None = None
    """None: it does not say."""
    number: int = 0
    """0: it has none."""
    after: int = 0
    """0: it may be taken whatever was heard before."""
    again: bool = False
    """Whether it is of somebody who goes on where another process was."""


def read_mark(params: Any) -> Mark:
    """The mark in the parameters of a message, or in a result."""
    meta = params.get("_meta") if isinstance(params, dict) else None
    said = meta.get(MESSAGE) if isinstance(meta, dict) else None
    if not isinstance(said, dict):
        return _NO_MARK
    id, number, after = said.get("requestId"), said.get("number"), said.get("after")
    return Mark(
        id if isinstance(id, (str, int)) else None,
        number if isinstance(number, int) else 0,
        after if isinstance(after, int) else 0,
        said.get("again") is True,
    )


_NO_MARK = Mark()


def unmarked(result: Any) -> Any:
    """A result without its mark, which is nothing to whoever wants the result."""
    if read_mark(result) is _NO_MARK:
        return result
    meta = {name: value for name, value in result["_meta"].items() if name != MESSAGE}
    rest = {name: value for name, value in result.items() if name != "_meta"}
    return {**rest, "_meta": meta} if meta else rest


Call: TypeAlias = tuple[str, dict[str, Any]]
"""A method and its parameters."""


class Dialect(Protocol):
    """One draft."""

    capability: str
    """The client capability that opts in, by its Python name."""
    resume_method: str
    status_method: str
    same_id: bool
    """Whether one resumes under the id of the original request (RR-4)."""

    def announce(self, policy: ResumePolicy) -> Notification:
        """What the server tells as soon as it knows that a request is resumable."""
        ...

    def read_policy(self, notification: Notification) -> ResumePolicy | None:
        """The policy that a notification announces; None where it is another, or broken."""
        ...

    def resume(self, policy: ResumePolicy) -> Call:
        """How the client goes on."""
        ...

    def ask_status(self, policy: ResumePolicy) -> Call:
        """How the client asks how it stands."""
        ...

    def key(self, params: dict[str, Any] | None) -> tuple[RequestId | str | None, str | None]:
        """What a resume or status request names: the request or stream (None: the message's own id), and the token."""
        ...

    def status_result(self, policy: ResumePolicy, status: WorkStatus) -> dict[str, Any]:
        """The answer to the question for the status."""
        ...

    def read_status(self, raw: Any) -> WorkStatus | None:
        """What such an answer says; None where it is broken."""
        ...

    def end(self, policy: ResumePolicy) -> Notification | None:
        """What the server tells when all is said, where the draft has that."""
        ...
