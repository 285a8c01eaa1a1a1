"""JSON-RPC 2.0 messages, and the way between them and bytes.

A message's `params` and `result` stay plain JSON data here; whoever knows the method validates them, once. They stand
in no repr, since tokens and answers may be among them.
Source: "Overview" of each revision (basic/index), and https://www.jsonrpc.org/specification.
"""

from __future__ import annotations

import gc
import json
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any, TypeAlias

from pydantic_core import from_json, to_json

from .errors import MCPError, ProtocolError

PARSE_ERROR = -32700
INVALID_REQUEST = -32600
METHOD_NOT_FOUND = -32601
INVALID_PARAMS = -32602
INTERNAL_ERROR = -32603

RequestId: TypeAlias = str | int

LARGE = 64 * 1024
"""From this size on a message may hold many objects, in bytes."""


@dataclass(slots=True)
class Request:
    """Something asked, which must be answered under the same id."""

    id: RequestId
    method: str
    params: dict[str, Any] | None = field(default=None, repr=False)
    headers: Mapping[str, str] | None = field(default=None, repr=False)
    """What a transport that has headers says beside the body; no part of the message."""


@dataclass(slots=True)
class Notification:
    """Something told, which has no answer."""

    method: str
    params: dict[str, Any] | None = field(default=None, repr=False)


@dataclass(slots=True)
class Response:
    """The answer to a request. `result` is JSON data as read, or anything that serialises to it as sent."""

    id: RequestId
    result: Any
    last: bool = True
    """Whether nothing follows about its request; no part of the message."""


@dataclass(slots=True)
class ErrorResponse:
    """The refusal of a request; without an id where the request's own could not be read."""

    id: RequestId | None
    code: int
    message: str
    data: Any = None
    last: bool = True
    """As of a `Response`."""

    def as_error(self) -> ProtocolError:
        """The exception that the one who asked sees."""
        return ProtocolError(self.code, self.message, self.data, received=True)


def error_of(data: Mapping[str, Any], *, received: bool = False) -> ProtocolError:
    """The exception for an error in the form that JSON-RPC gives it: `code`, `message`, `data`. A careless server may
    leave out any of them. `received`: as of `ProtocolError`."""
    code, message = data.get("code", INTERNAL_ERROR), str(data.get("message", "Nothing is said of why."))
    return ProtocolError(code, message, data.get("data"), received=received)


def data_of(error: ProtocolError | ErrorResponse) -> dict[str, Any]:
    """An error in the form that JSON-RPC gives it: what `error_of` reads."""
    data: dict[str, Any] = {"code": error.code, "message": error.message}
    if error.data is not None:
        data["data"] = error.data
    return data


Message: TypeAlias = Request | Notification | Response | ErrorResponse


class InvalidMessage(MCPError):
    """Bytes that are no JSON-RPC message.

    `code` is PARSE_ERROR where they are no JSON, else INVALID_REQUEST; `id` is the request's where it could be read.
    """

    def __init__(self, message: str, *, code: int, id: RequestId | None = None) -> None:
        super().__init__(message)
        self.code = code
        self.id = id


class Unserializable(MCPError):
    """A message holds something that JSON cannot say."""


def load(data: bytes | bytearray | str) -> Message | list[Message | InvalidMessage]:
    """Read one message, or a batch as a list in which what is invalid stands as an `InvalidMessage`.

    Raises:
        InvalidMessage: the bytes are no JSON, or no JSON-RPC 2.0 message.
    """
    try:
        value = from_json(data, allow_inf_nan=False) if len(data) < LARGE else _from_large(data)
    except ValueError as error:
        try:
            value = _without_half_pairs(data)
        except (ValueError, RecursionError):
            raise InvalidMessage(f"not JSON: {error}", code=PARSE_ERROR) from None
    if not isinstance(value, list):
        return as_message(value)
    if not value:
        raise InvalidMessage("an empty batch", code=INVALID_REQUEST)
    return [_message_or_error(item) for item in value]


def _from_large(data: bytes | bytearray | str) -> Any:
    with much_data():
        return from_json(data, allow_inf_nan=False)


@contextmanager
def much_data() -> Iterator[None]:
    """Many objects are made of data here, and Python does not look for garbage meanwhile.

    There is none, and yet it would look after every few hundred new objects, each time at more of them: of a list of
    ten thousand tools that takes most of the time.
    """
    if not gc.isenabled():
        yield
        return
    gc.disable()
    try:
        yield
    finally:
        gc.enable()


def _without_half_pairs(data: bytes | bytearray | str) -> Any:
    """JSON data with "?" for half a surrogate pair: a text cut in the middle of an emoji must not cost the message."""
    value = json.loads(data if isinstance(data, str) else data.decode())
    return from_json(json.dumps(value, ensure_ascii=False).encode("utf-8", "replace"), allow_inf_nan=False)


def _message_or_error(value: Any) -> Message | InvalidMessage:
    try:
        return as_message(value)
    except InvalidMessage as error:
        return error


def as_message(value: Any) -> Message:
    """Make a message of JSON data.

    Raises:
        InvalidMessage: it has not the form of one.
    """
    if not isinstance(value, dict):
        raise InvalidMessage("a message is a JSON object", code=INVALID_REQUEST)
    id = value.get("id")
    known = type(id) in (str, int)  # and no bool
    if value.get("jsonrpc") != "2.0":
        raise _invalid("'jsonrpc' is not \"2.0\"", id if known else None)
    if "method" in value:
        method, params = value["method"], value.get("params")
        if not isinstance(method, str):
            raise _invalid("'method' is not a string", id if known else None)
        if params is not None and not isinstance(params, dict):
            raise _invalid("'params' is not an object", id if known else None)
        if known:
            return Request(id, method, params)  # pyright: ignore[reportArgumentType]
        if "id" in value:
            raise _invalid("'id' is neither a string nor an integer", None)
        return Notification(method, params)
    if "result" in value and "error" not in value:
        if not known:
            raise _invalid("a response without a string or integer 'id'", None)
        return Response(id, value["result"])  # pyright: ignore[reportArgumentType]
    error = value.get("error")
    if isinstance(error, dict) and type(error.get("code")) is int and isinstance(error.get("message"), str):
        return ErrorResponse(id if known else None, error["code"], error["message"], error.get("data"))
    raise _invalid("neither a request, a notification nor a response", id if known else None)


def _invalid(reason: str, id: Any) -> InvalidMessage:
    return InvalidMessage(reason, code=INVALID_REQUEST, id=id)


def dump(message: Message) -> bytes:
    """The bytes of one message: UTF-8 JSON without line breaks.

    Raises:
        Unserializable: it holds something that JSON cannot say.
    """
    body: dict[str, Any] = {"jsonrpc": "2.0"}
    match message:
        case Response():
            body["id"] = message.id
            body["result"] = message.result
        case Request():
            body["id"] = message.id
            body["method"] = message.method
            if message.params is not None:
                body["params"] = message.params
        case Notification():
            body["method"] = message.method
            if message.params is not None:
                body["params"] = message.params
        case ErrorResponse():
            body["id"] = message.id
            body["error"] = data_of(message)
    return as_json(body)


def as_json(value: Any) -> bytes:
    """Anything that serialises to JSON data, in UTF-8.

    Raises:
        Unserializable: it holds something that JSON cannot say.
    """
    try:
        return to_json(value, by_alias=True, exclude_none=True, inf_nan_mode="null")
    except ValueError as reason:
        raise Unserializable(f"This cannot be sent as JSON: {reason}") from None
