"""Kept calls beyond a restart: what ended is still there, and what was at work has failed, and says so.

Source: RR-5, RR-9, and row 9 of the seeds on what a restart may lose.
"""

from __future__ import annotations

import time
from dataclasses import dataclass
from typing import Any

from pydantic_core import from_json, to_json

from ...jsonrpc import INTERNAL_ERROR, error_of
from ...protocol.calls import EventKind
from ...protocol.extensions import RESUMING
from ...protocol.resuming import Dialect, ResumePolicy
from ...store import Record, Store

KIND = "resumable"
AT_WORK = 24 * 3600.0
"""Seconds after which a call that was at work when the process ended is no longer told of."""
RESTARTED = "The server was restarted while this request was at work."


@dataclass(frozen=True, slots=True)
class Remembered:
    """A call as it will be found by another process.

    Attributes:
        dialect: the draft that its client speaks.
        policy: what was promised, without the token, of which only the digest is known.
        said: what it said that may not have arrived: (number, kind, method, parameters).
        last: the number of the last thing that it said.
        result: its result; None where there is an error.
        error: the error in its place.
    """

    dialect: Dialect
    policy: ResumePolicy
    said: list[tuple[int, EventKind, str, dict[str, Any]]]
    last: int
    result: Any
    error: dict[str, Any] | None

    def outcome(self) -> Any:
        """Its result. Raises ProtocolError."""
        if self.error is not None:
            raise error_of(self.error)
        return self.result


def working_record(digest: bytes, principal: str | None, dialect: Dialect, policy: ResumePolicy) -> Record:
    """What to remember of a call that begins: should the process end before it does, it has failed."""
    interrupted = Remembered(dialect, policy, [], 0, None, {"code": INTERNAL_ERROR, "message": RESTARTED})
    return _record(digest, principal, interrupted, "working", AT_WORK)


def ended_record(digest: bytes, principal: str | None, call: Remembered) -> Record:
    """What to remember of a call that has its outcome."""
    return _record(digest, principal, call, "ended", call.policy.max_wait or 0)


def _record(digest: bytes, principal: str | None, call: Remembered, state: str, seconds: float) -> Record:
    """A call under the digest of its token; the token itself is remembered nowhere."""
    policy, now = call.policy, time.time()
    data = {
        "dialect": call.dialect.capability,
        "request": policy.request_id,
        "stream": policy.stream_id,
        "waits": [policy.min_wait, policy.max_wait],
        "said": call.said,
        "last": call.last,
        "result": call.result,
        "error": call.error,
    }
    return Record(
        owner=principal or "",
        kind=KIND,
        key=digest.hex(),
        state=state,
        created=now,
        expires=now + seconds,
        data=to_json(data),
    )


def recall(store: Store, digest: bytes, principal: str | None) -> Remembered | None:
    """The call of a token's digest, if it is this principal's, and its time is not over."""
    found = store.get(principal or "", KIND, digest.hex())
    if found is None or (found.expires is not None and found.expires < time.time()):
        return None
    data = from_json(found.data)
    dialect = next((one for one in RESUMING if one.capability == data["dialect"]), None)
    if dialect is None:
        return None
    least, most = data["waits"]
    policy = ResumePolicy(request_id=data["request"], token="", min_wait=least, max_wait=most, stream_id=data["stream"])
    said = [(number, kind, method, params) for number, kind, method, params in data["said"]]
    return Remembered(dialect, policy, said, data["last"], data["result"], data["error"])
