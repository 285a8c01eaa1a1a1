"""Server-sent events: read from bytes that are cut anywhere."""  # SSE-3, SSE-4

from __future__ import annotations

import itertools
import time
from collections.abc import Iterable

import pytest
from hypothesis import given
from hypothesis import strategies as st

from mcp_notebook.errors import LimitExceeded
from mcp_notebook.transports.sse import LONGEST_RETRY, EventReader, ServerSentEvent

MiB = 1024 * 1024
BOM = b"\xef\xbb\xbf"


def read(*parts: bytes, limit: int = MiB, reader: EventReader | None = None) -> list[ServerSentEvent]:
    reader = reader or EventReader(limit)
    return [event for part in parts for event in reader.feed(part)]


def told(*parts: bytes) -> list[tuple[str, bytes, str | None]]:
    return [(event.event, event.data, event.id) for event in read(*parts)]


def cut(data: bytes, places: Iterable[int]) -> list[bytes]:
    edges = [0, *sorted({place % (len(data) + 1) for place in places}), len(data)]
    return [data[start:end] for start, end in itertools.pairwise(edges)]


TEXT = st.text(st.characters(blacklist_characters="\r\n\0", blacklist_categories=("Cs",)), max_size=6)
EVENTS = st.lists(
    st.tuples(
        st.one_of(st.just("message"), TEXT.filter(bool)),
        st.lists(TEXT, min_size=1, max_size=3).filter(lambda lines: any(lines)),
        st.one_of(st.none(), TEXT),
    ),
    max_size=4,
)


def written(
    events: list[tuple[str, list[str], str | None]], endings: Iterable[bytes]
) -> tuple[bytes, list[tuple[str, bytes, str | None]]]:
    """A stream with these events, each line ended as `endings` says, and what should be read of it."""
    stream, expected, last = bytearray(), [], None
    ending = iter(endings)

    def line(text: str) -> None:
        end = next(ending, b"\n")
        if not text and end == b"\n" and stream.endswith(b"\r"):
            end = b"\r\n"  # with the CR before it would be one end of a line
        stream.extend(text.encode() + end)

    for kind, lines, id in events:
        line(": a comment")
        if kind != "message":
            line(f"event: {kind}")
        if id is not None:
            line(f"id: {id}")
            last = id
        for one in lines:
            line(f"data: {one}")
        line("colour: red")
        line("")
        expected.append((kind, "\n".join(lines).encode(), last))
    return bytes(stream), expected


@given(EVENTS, st.lists(st.sampled_from([b"\n", b"\r", b"\r\n"]), max_size=40), st.lists(st.integers(0, 500)))
def test_lines_end_with_cr_lf_or_both_wherever_the_bytes_are_cut(
    events: list[tuple[str, list[str], str | None]], endings: list[bytes], places: list[int]
) -> None:
    stream, expected = written(events, endings)
    assert told(*cut(stream, places)) == expected
    assert told(*(stream[place : place + 1] for place in range(len(stream)))) == expected


@given(st.binary(max_size=200), st.lists(st.integers(0, 200)))
def test_any_bytes_are_read_the_same_however_they_are_cut(data: bytes, places: list[int]) -> None:
    whole = EventReader(MiB)
    pieces = EventReader(MiB)
    assert read(data, reader=whole) == read(*cut(data, places), reader=pieces)
    assert (whole.last_id, whole.retry) == (pieces.last_id, pieces.retry)


def test_an_event_is_complete_with_a_last_cr_though_an_lf_may_follow() -> None:
    reader = EventReader(MiB)
    assert [event.data for event in reader.feed(b"data: a\r\r")] == [b"a"]
    assert [event.data for event in reader.feed(b"\ndata: b\n\n")] == [b"b"]


@pytest.mark.parametrize("places", [[], [1], [2], [3], [1, 2, 3, 4]])
def test_a_byte_order_mark_at_the_beginning_is_no_part_of_the_first_field(places: list[int]) -> None:
    assert told(*cut(BOM + b"id: 7\ndata: a\n\n", places)) == [("message", b"a", "7")]
    assert told(*cut(BOM + b"data: a\n\n", places)) == [("message", b"a", None)]


def test_a_byte_order_mark_further_on_belongs_to_the_text() -> None:
    assert told(b"data: a\n\n" + BOM + b"data: b\n\n") == [("message", b"a", None)]
    assert told(b"data: " + BOM + b"a\n\n") == [("message", BOM + b"a", None)]


def test_several_data_lines_are_one_text_with_line_breaks() -> None:
    assert told(b'data: {"a":\r\ndata:  1,\r\ndata\r\ndata:}\r\n\r\n') == [("message", b'{"a":\n 1,\n\n}', None)]


def test_one_space_after_the_colon_is_dropped_and_no_more() -> None:
    assert told(b"data:  a \n\n") == [("message", b" a ", None)]
    assert told(b"data:a\n\n") == [("message", b"a", None)]


def test_comments_and_unknown_fields_are_skipped() -> None:
    assert told(b": keep-alive\n\n:\n\nfoo: bar\nDATA: x\ndata : y\ndata: a\nbar\n\n") == [("message", b"a", None)]


def test_the_type_of_an_event_holds_for_that_event_alone() -> None:
    assert told(b"event: endpoint\ndata: /x\n\ndata: a\n\nevent: other\n\ndata: b\n\n") == [
        ("endpoint", b"/x", None),
        ("message", b"a", None),
        ("message", b"b", None),
    ]


def test_the_id_of_an_event_without_data_is_recorded_and_the_event_left_out() -> None:  # SSE-3; PS#1672
    reader = EventReader(MiB)
    assert read(b"id: p-0\ndata:\n\n", reader=reader) == []
    assert reader.last_id == "p-0"
    assert read(b"id: p-1\n\n", reader=reader) == []
    assert reader.last_id == "p-1"
    assert read(b"data: a\n\n", reader=reader) == [ServerSentEvent("message", b"a", "p-1")]


def test_an_id_lasts_until_the_next_one_and_may_be_emptied() -> None:
    assert told(b"id: 1\ndata: a\n\ndata: b\n\nid\ndata: c\n\n") == [
        ("message", b"a", "1"),
        ("message", b"b", "1"),
        ("message", b"c", ""),
    ]


def test_an_id_with_a_null_character_is_ignored() -> None:
    assert told(b"id: 1\nid: 2\0\ndata: a\n\n") == [("message", b"a", "1")]


def test_a_reader_goes_on_from_the_last_id_of_the_stream_before() -> None:
    reader = EventReader(MiB, last_id="9")
    assert read(b"data: a\n\n", reader=reader) == [ServerSentEvent("message", b"a", "9")]


def test_a_reader_that_goes_on_knows_what_is_sent_again() -> None:  # SSE-2
    first = EventReader(MiB)
    assert [event.again for event in first.feed(b"id: 1\n\nid: 2\ndata: a\n\nid: 2\ndata: b\n\n")] == [False, False]
    second = first.following()
    again = {event.data: event.again for event in second.feed(b"data: x\n\nid: 2\ndata: a\n\nid: 3\ndata: c\n\n")}
    assert again == {b"x": False, b"a": True, b"c": False}  # what has no id of its own is never known
    third = second.following()
    assert third.last_id == "3"
    assert [event.again for event in third.feed(b"id: 1\ndata: y\n\nid: 3\ndata: c\n\n")] == [True, True]


@pytest.mark.parametrize("value", ["-5", "1.5", "1e3", "x", "", "+3", "0x10", " 5 ", "٣", "²"])
def test_a_retry_that_is_no_number_of_digits_is_ignored(value: str) -> None:
    reader = EventReader(MiB)
    read(f"retry: 700\nretry: {value}\n\n".encode(), reader=reader)
    assert reader.retry == 700


def test_a_retry_is_taken_and_an_absurd_one_is_ignored() -> None:
    reader = EventReader(MiB)
    read(b"retry: 0\n\n", reader=reader)
    assert reader.retry == 0
    read(f"retry: {LONGEST_RETRY}\n\n".encode(), reader=reader)
    assert reader.retry == LONGEST_RETRY
    for absurd in (str(LONGEST_RETRY + 1), "86400000", "9" * 10_000):
        read(f"retry: {absurd}\n\n".encode(), reader=reader)
        assert reader.retry == LONGEST_RETRY


def test_text_that_is_no_utf8_in_names_does_no_harm() -> None:
    assert told(b"event: \xff\nid: \xfe\ndata: a\n\n") == [("\ufffd", b"a", "\ufffd")]


def test_events_of_many_megabytes_are_read_up_to_the_limit_and_in_linear_time() -> None:
    size = 8 * MiB
    stream = b"data: " + b"x" * size + b"\n\n"
    reader = EventReader(size + 100)
    began = time.perf_counter()
    (event,) = read(*(stream[start : start + 65536] for start in range(0, len(stream), 65536)), reader=reader)
    assert len(event.data) == size
    assert time.perf_counter() - began < 5  # searching from the beginning each time would take far longer


@pytest.mark.parametrize(
    "stream",
    [b"data: " + b"x" * 2000, b"x" * 2000, b"data: abc\n" * 700, b"data\n" * 2000, b": " + b"c" * 2000],
    ids=["one line", "no field", "many lines", "empty lines", "comment"],
)
def test_an_event_over_the_limit_is_an_error_before_it_ends(stream: bytes) -> None:
    with pytest.raises(LimitExceeded, match="1,000") as caught:
        read(*(stream[start : start + 64] for start in range(0, len(stream), 64)), limit=1000)
    assert (caught.value.limit, caught.value.allowed) == ("message", 1000)


def test_the_limit_is_of_one_event_not_of_the_stream() -> None:
    one = b"data: " + b"x" * 900 + b"\n\n"
    assert len(read(*[one] * 100, limit=1000)) == 100
    assert len(read(one * 100, limit=1000)) == 100
