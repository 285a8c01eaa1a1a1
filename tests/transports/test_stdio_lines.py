"""Bytes to messages: lines however they are cut, what is no message, what is too long."""

import time

import pytest

from mcp_notebook.errors import LimitExceeded, MCPError
from mcp_notebook.jsonrpc import (
    PARSE_ERROR,
    ErrorResponse,
    InvalidMessage,
    Message,
    Notification,
    Request,
    RequestId,
    Response,
)
from mcp_notebook.protocol.calls import Occurrence
from mcp_notebook.transports.lines import LineBuffer, MessageReader, as_line

ONE = b'{"jsonrpc":"2.0","id":1,"result":1}'
TWO = b'{"jsonrpc":"2.0","id":2,"result":2}'


class Told:
    """A receiver that keeps what it is told."""

    def __init__(self) -> None:
        self.messages: list[Message] = []
        self.invalid: list[InvalidMessage] = []

    def received(self, message: Message) -> None:
        self.messages.append(message)

    def received_invalid(self, error: InvalidMessage) -> None:
        self.invalid.append(error)

    def faulty(self, reason: str) -> None:
        raise AssertionError(reason)

    def failed(self, id: RequestId, error: MCPError) -> None:
        raise AssertionError("stdio has one way for all requests")

    def moved(self, id: RequestId, what: Occurrence) -> float:
        raise AssertionError(what)

    def disconnected(self, error: MCPError | None) -> None:
        raise AssertionError("a reader does not end a channel")


def read(*pieces: bytes, limit: int = 10_000, forgiving: bool = True) -> Told:
    told = Told()
    reader = MessageReader(told, limit, forgiving=forgiving)
    for piece in pieces:
        reader.feed(piece)
    return told


@pytest.mark.parametrize("size", [1, 2, 7, 1000])
def test_messages_come_in_order_however_the_bytes_are_cut(size: int) -> None:
    data = ONE + b"\n" + TWO + b"\r\n\n  \n" + ONE + b"\n"
    told = read(*(data[i : i + size] for i in range(0, len(data), size)))
    assert told.messages == [Response(1, 1), Response(2, 2), Response(1, 1)]
    assert not told.invalid


def test_a_batch_is_told_message_by_message() -> None:
    told = read(b"[" + ONE + b',{"jsonrpc":"2.0","method":"n"},{"no":"message"},' + TWO + b"]\n")
    assert told.messages == [Response(1, 1), Notification("n"), Response(2, 2)]
    assert len(told.invalid) == 1


def test_lines_that_are_no_json_are_skipped_and_the_first_is_quoted() -> None:  # PS PR924
    told = read(b"Server starting on \x1b[1mstdio\x1b[0m\n" + ONE + b"\nlistening\n[not json\n" + TWO + b"\n")
    assert told.messages == [Response(1, 1), Response(2, 2)]
    assert len(told.invalid) == 1
    assert "'Server starting on <U+001B>[1mstdio<U+001B>[0m'" in str(told.invalid[0])
    assert told.invalid[0].code == PARSE_ERROR


def test_bytes_that_are_no_utf8_are_reported_and_the_next_message_is_read() -> None:  # PS#2454
    told = read(b"caf\xe9\n" + ONE + b"\n")
    assert told.messages == [Response(1, 1)]
    assert "'caf\ufffd'" in str(told.invalid[0])


def test_a_message_behind_a_log_text_on_the_same_line_is_found_and_the_text_quoted_once() -> None:  # PS PR115
    told = read(b"INFO starting" + ONE + b"\nWARN {odd} " + TWO + b"\n")
    assert told.messages == [Response(1, 1), Response(2, 2)]
    assert len(told.invalid) == 1
    assert "'INFO starting'" in str(told.invalid[0])


def test_a_client_that_writes_no_json_is_told_every_time_and_nothing_is_searched_for() -> None:
    told = read(b"INFO starting" + ONE + b"\nrubbish\n", forgiving=False)
    assert not told.messages
    assert len(told.invalid) == 2


@pytest.mark.parametrize(
    ("line", "id"),
    [
        (b'{"jsonrpc":"2.0","id":"k-7","result":{"text":"caf\xe9"}}', "k-7"),  # PS#2454: whose answer it was
        (b'{"result":{"text":"caf\xe9"},"jsonrpc":"2.0","id":7}', 7),
        (b'{"result":{"text":"caf\xe9"},"id": 7, "jsonrpc": "2.0"}', 7),
        (b'{"jsonrpc":"2.0","method":"n","params":{"text":"caf\xe9","id":7}}', None),
        (b'{"id":7,"text":"caf\xe9"}', None),
        (b'{"jsonrpc":"2.0","id":7}', 7),
    ],
)
def test_an_answer_that_cannot_be_read_is_reported_with_its_id(line: bytes, id: int | str | None) -> None:
    told = read(b"rubbish\n", line + b"\n")
    assert [error.id for error in told.invalid] == ([None, id] if id is not None else [None])


@pytest.mark.parametrize("size", [100, 1000, 100_000])
def test_a_line_beyond_the_limit_is_skipped_to_its_end_and_reported_with_its_id(size: int) -> None:  # qwen-code#9298
    line = b'{"result":{"text":"' + b"x" * 20_000 + b'"},"jsonrpc":"2.0","id":7}'
    data = line + b"\n" + ONE + b"\n"
    told = read(*(data[i : i + size] for i in range(0, len(data), size)))
    assert told.messages == [Response(1, 1)]
    (error,) = told.invalid
    assert error.id == 7
    assert isinstance(error.__cause__, LimitExceeded)
    assert (error.__cause__.limit, error.__cause__.allowed) == ("message", 10_000)
    assert f"{len(line):,} bytes" in str(error)


def test_of_an_endless_line_little_is_kept() -> None:
    lines = LineBuffer(10_000)
    for _ in range(1000):
        assert not list(lines.feed(b"x" * 10_000))
    line, size = lines.take()
    assert len(line) < 5_000
    assert size == 10_000_000


def test_reading_a_large_line_takes_time_linear_in_its_length() -> None:
    def seconds(size: int) -> float:
        pieces = [b"x" * 1000] * (size // 1000)
        lines = LineBuffer(size + 1)
        start = time.process_time()
        for piece in pieces:
            assert not list(lines.feed(piece))
        assert len(list(lines.feed(b"\n"))) == 1
        return time.process_time() - start

    seconds(1_000_000)
    assert min(seconds(16_000_000) for _ in range(3)) < 40 * max(0.001, min(seconds(1_000_000) for _ in range(3)))


@pytest.mark.parametrize(
    ("rest", "messages", "cut_off"),
    [(b"", [], False), (ONE, [Response(1, 1)], False), (ONE[:-5], [], True), (b"bye", [], False)],
)
def test_what_a_server_ends_with_is_read_if_it_is_whole(rest: bytes, messages: list[Message], cut_off: bool) -> None:
    told = Told()
    reader = MessageReader(told, 1000, forgiving=True)
    reader.feed(rest)
    assert reader.finish() is cut_off
    assert told.messages == messages
    assert not told.invalid


def test_a_reader_that_was_stopped_tells_nothing_more_not_even_of_the_bytes_at_hand() -> None:
    class Stopping(Told):
        def received(self, message: Message) -> None:
            super().received(message)
            reader.stop()

    told = Stopping()
    reader = MessageReader(told, 1000, forgiving=True)
    reader.feed(ONE + b"\n" + TWO + b"\nrubbish\n")
    assert told.messages == [Response(1, 1)]
    assert not told.invalid


def test_a_message_is_one_line_and_within_the_limit() -> None:
    message = Request(1, "m", {"text": "a\nb\u2028c"})
    line = as_line(message, 100)
    assert line.count(b"\n") == 1
    assert line.endswith(b"\n")
    assert read(line).messages == [message]
    with pytest.raises(LimitExceeded, match=r"Limits\.message") as caught:
        as_line(message, 20)
    assert caught.value.limit == "message"
    assert read(as_line(ErrorResponse(None, -1, "no"), 100)).messages == [ErrorResponse(None, -1, "no")]
