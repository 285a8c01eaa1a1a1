"""Bytes <-> messages."""

from __future__ import annotations

import gc
import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from mcp_notebook.errors import ProtocolError
from mcp_notebook.jsonrpc import (
    INVALID_REQUEST,
    LARGE,
    PARSE_ERROR,
    ErrorResponse,
    InvalidMessage,
    Message,
    Notification,
    Request,
    Response,
    Unserializable,
    as_message,
    dump,
    load,
)
from mcp_notebook.types import CallToolResult, TextContent

texts = st.text(st.characters(exclude_categories=["Cs"]))
numbers = st.integers(-(2**63), 2**63) | st.floats(allow_nan=False, allow_infinity=False)
values = st.recursive(
    st.none() | st.booleans() | numbers | texts,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(texts, inner, max_size=3),
    max_leaves=8,
)
objects = st.dictionaries(texts, values, max_size=3)
ids = texts | st.integers()
messages = st.one_of(
    st.builds(Request, ids, texts, st.none() | objects),
    st.builds(Notification, texts, st.none() | objects),
    st.builds(Response, ids, values),
    st.builds(ErrorResponse, st.none() | ids, st.integers(), texts, st.none() | values),
)


@given(messages)
def test_every_message_comes_back_from_its_bytes(message: Message) -> None:
    data = dump(message)
    assert load(data) == message
    assert b"\n" not in data
    assert b"\r" not in data


@pytest.mark.parametrize(
    ("message", "data"),
    [
        (Request("a", "ping"), b'{"jsonrpc":"2.0","id":"a","method":"ping"}'),
        (Request(0, "x", {}), b'{"jsonrpc":"2.0","id":0,"method":"x","params":{}}'),
        (Notification("n"), b'{"jsonrpc":"2.0","method":"n"}'),
        (Notification("n", {"a": None}), b'{"jsonrpc":"2.0","method":"n","params":{"a":null}}'),
        (Response("", None), b'{"jsonrpc":"2.0","id":"","result":null}'),
        (ErrorResponse(None, -1, "no"), b'{"jsonrpc":"2.0","id":null,"error":{"code":-1,"message":"no"}}'),
        (ErrorResponse(1, 2, "no", [0]), b'{"jsonrpc":"2.0","id":1,"error":{"code":2,"message":"no","data":[0]}}'),
    ],
)
def test_a_message_has_these_bytes(message: Message, data: bytes) -> None:
    assert dump(message) == data


def test_models_are_written_by_their_names_on_the_wire_and_without_what_they_lack() -> None:
    result = CallToolResult(content=[TextContent(text="ä")], structured_content={"is": None}, is_error=False)
    assert (
        dump(Response(1, result))
        == (
            '{"jsonrpc":"2.0","id":1,"result":{"content":[{"type":"text","text":"ä"}],'
            '"structuredContent":{"is":null},"isError":false}}'
        ).encode()
    )


@pytest.mark.parametrize("value", [float("nan"), float("inf"), float("-inf")])
def test_a_number_that_json_lacks_becomes_null(value: float) -> None:
    assert dump(Response(1, {"x": value})) == b'{"jsonrpc":"2.0","id":1,"result":{"x":null}}'


def deep(levels: int) -> Any:
    value: Any = 0
    for _ in range(levels):
        value = [value]
    return value


def circle() -> Any:
    value: list[Any] = []
    value.append(value)
    return value


UNSAYABLE = {
    "object": object(),
    "half a surrogate pair": "\ud800",
    "such a key": {"\udfff": 1},
    "bytes that are no text": b"\xff",
    "too deep": deep(5000),
    "a circle": circle(),
}


@pytest.mark.parametrize("value", UNSAYABLE.values(), ids=UNSAYABLE)
def test_what_json_cannot_say_is_refused_in_one_error(value: Any) -> None:
    with pytest.raises(Unserializable, match="cannot be sent as JSON"):
        dump(Response(1, value))


@pytest.mark.parametrize("data", [b"", b"log line", b'{"jsonrpc":', b'{"a":NaN}', b"\xff\xfe", b"[" * 100_000])
def test_what_is_no_json_is_a_parse_error(data: bytes) -> None:
    with pytest.raises(InvalidMessage) as caught:
        load(data)
    assert caught.value.code == PARSE_ERROR
    assert caught.value.id is None


@pytest.mark.parametrize(
    ("value", "id"),
    [
        (1, None),
        ("text", None),
        (None, None),
        ({}, None),
        ({"jsonrpc": "1.0", "id": 7, "method": "x"}, 7),
        ({"id": "a", "method": "x"}, "a"),
        ({"jsonrpc": "2.0", "id": 1, "method": 5}, 1),
        ({"jsonrpc": "2.0", "id": 1, "method": "x", "params": [1]}, 1),
        ({"jsonrpc": "2.0", "id": None, "method": "x"}, None),
        ({"jsonrpc": "2.0", "id": 1.5, "method": "x"}, None),
        ({"jsonrpc": "2.0", "id": True, "method": "x"}, None),
        ({"jsonrpc": "2.0", "id": {"a": 1}, "method": "x"}, None),
        ({"jsonrpc": "2.0", "result": {}}, None),
        ({"jsonrpc": "2.0", "id": None, "result": {}}, None),
        ({"jsonrpc": "2.0", "id": 3}, 3),
        ({"jsonrpc": "2.0", "id": 3, "error": "text"}, 3),
        ({"jsonrpc": "2.0", "id": 3, "error": {"code": "1", "message": ""}}, 3),
        ({"jsonrpc": "2.0", "id": 3, "error": {"code": True, "message": ""}}, 3),
        ({"jsonrpc": "2.0", "id": 3, "error": {"code": 1}}, 3),
    ],
)
def test_json_that_is_no_message_is_an_invalid_request_with_the_id_if_it_has_one(value: Any, id: Any) -> None:
    with pytest.raises(InvalidMessage) as caught:
        as_message(value)
    assert caught.value.code == INVALID_REQUEST
    assert caught.value.id == id


def test_a_result_of_null_is_a_response() -> None:
    assert load(b'{"jsonrpc":"2.0","id":1,"result":null}') == Response(1, None)


def test_where_both_stand_the_error_counts() -> None:
    both = {"jsonrpc": "2.0", "id": 1, "result": {}, "error": {"code": 1, "message": "no"}}
    assert as_message(both) == ErrorResponse(1, 1, "no")


def test_members_that_nobody_knows_are_passed_over() -> None:
    assert load(b'{"jsonrpc":"2.0","method":"n","more":1}') == Notification("n")


def test_a_batch_is_a_list_in_which_what_is_invalid_stands_for_itself() -> None:
    found = load(b'[{"jsonrpc":"2.0","id":1,"method":"ping"},5,{"jsonrpc":"2.0","method":"n"}]')
    assert isinstance(found, list)
    first, second, third = found
    assert first == Request(1, "ping")
    assert isinstance(second, InvalidMessage)
    assert third == Notification("n")


def test_an_empty_batch_is_an_invalid_request() -> None:
    with pytest.raises(InvalidMessage, match="empty batch") as caught:
        load(b"[]")
    assert caught.value.code == INVALID_REQUEST


@pytest.mark.parametrize("half", [r"\ud83d", r"\uDE00", r"\ude00\ud83d", r"\\\ud83d"])
def test_half_a_surrogate_pair_spoils_only_itself(half: str) -> None:
    # JSON.stringify writes a text that was cut in the middle of an emoji so.
    text = r'{"jsonrpc":"2.0","id":1,"result":{"text":"cut ' + half + r'","whole":"\ud83d\ude00","\\ud83d":1}}'
    message = load(text.encode())
    assert isinstance(message, Response)
    assert message.result["text"].startswith("cut ")
    assert message.result["whole"] == "😀"
    assert message.result["\\ud83d"] == 1
    assert json.loads(dump(message))["result"] == message.result


@pytest.mark.parametrize("text", [r'{"a":"\ud83d","b":NaN}', r'{"a":"\ud83d"', r'["\ud83d",' + "[" * 100_000])
def test_half_a_surrogate_pair_excuses_nothing_else(text: str) -> None:
    with pytest.raises(InvalidMessage) as caught:
        load(text)
    assert caught.value.code == PARSE_ERROR


def test_numbers_beyond_64_bits_keep_their_value() -> None:
    big = 2**80
    assert load(dump(Response(1, big))) == Response(1, big)


def test_an_error_response_is_a_protocol_error_for_the_one_who_asked() -> None:
    error = ErrorResponse(1, -32002, "Resource not found", {"uri": "a"}).as_error()
    assert isinstance(error, ProtocolError)
    assert (error.code, error.message, error.data) == (-32002, "Resource not found", {"uri": "a"})
    assert str(error) == "Resource not found (error -32002)"


@pytest.mark.parametrize("enabled", [True, False])
def test_no_garbage_is_looked_for_while_a_large_message_is_read(enabled: bool) -> None:
    data = json.dumps({"jsonrpc": "2.0", "id": 1, "result": [{"name": str(number)} for number in range(10_000)]})
    assert len(data) > LARGE
    looks: list[str] = []

    def look(phase: str, info: Any) -> None:
        looks.append(phase)

    before = gc.isenabled()
    (gc.enable if enabled else gc.disable)()
    gc.collect()
    gc.callbacks.append(look)
    try:
        message = load(data)
        during = list(looks)
        assert gc.isenabled() is enabled
    finally:
        gc.callbacks.remove(look)
        (gc.enable if before else gc.disable)()
    assert isinstance(message, Response)
    assert len(message.result) == 10_000
    assert during.count("start") <= 1  # which is the first one afterwards
