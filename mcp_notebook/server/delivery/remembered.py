"""Kept calls beyond a restart: what ended is still there, and what was at work has failed, and says so.

Source: RR-5, RR-9, and row 9 of the seeds on what a restart may lose.
"""

from __future__ import annotations

import time
from dataclasses import dataclass
from typing import Any

from pydantic_core import from_json, to_json

from ...errors import ProtocolError
from ...jsonrpc import INTERNAL_ERROR
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
    """A call as it was when the process ended.

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
            raise ProtocolError(self.error["code"], self.error["message"], self.error.get("data"))
        return self.result


def record(
    digest: bytes, principal: str | None, remembered: Remembered | None, like: tuple[Dialect, ResumePolicy]
) -> Record:
    """What to remember of a call.

    Args:
        digest: of its token; the token itself is remembered nowhere.
        principal: whose it is.
        remembered: how it ended; None while it is at work.
        like: its draft and policy.
    """
    dialect, policy = like
    now = time.time()
    data = {
        "dialect": dialect.capability,
        "request": policy.request_id,
        "stream": policy.stream_id,
        "waits": [policy.min_wait, policy.max_wait],
        "said": [] if remembered is None else remembered.said,
        "last": 0 if remembered is None else remembered.last,
        "result": None if remembered is None else remembered.result,
        "error": {"code": INTERNAL_ERROR, "message": RESTARTED} if remembered is None else remembered.error,
    }
    return Record(
        owner=principal or "",
        kind=KIND,
        key=digest.hex(),
        state="working" if remembered is None else "ended",
        created=now,
        expires=now + (AT_WORK if remembered is None else policy.max_wait or 0),
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
