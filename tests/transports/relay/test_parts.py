"""The parts of a relay that do no I/O, and who counts as oneself."""

from __future__ import annotations

import os
import socket

import pytest
from hypothesis import given
from hypothesis import strategies as st

from mcp_notebook.transports.relay.backlog import Backlog
from mcp_notebook.transports.relay.frames import (
    FrameReader,
    Kind,
    data_frames,
    frame,
    json_frame,
    number_frame,
    number_in,
)
from mcp_notebook.transports.relay.place import is_own

STEPS = st.lists(
    st.one_of(
        st.tuples(st.just("add"), st.integers(1, 30)),
        st.tuples(st.just("take"), st.just(0)),
        st.tuples(st.just("read"), st.integers(0, 60)),
        st.tuples(st.just("rewind"), st.just(0)),
    ),
    max_size=60,
)


@given(STEPS)
def test_each_line_comes_whole_and_in_order_until_a_reader_has_read_it_whole(steps: list[tuple[str, int]]) -> None:
    backlog = Backlog(limit=100, window=40)
    said: list[bytes] = []
    done = 0  # lines that some reader has read whole
    given: list[bytes] = []  # to this reader
    read = 0  # bytes, by this reader
    first = 0  # the line that this reader began with

    for step, number in steps:
        match step:
            case "add":
                said.append(bytes([len(said) % 256]) * number)
                backlog.add(said[-1])
            case "take":
                line = backlog.take()
                if line is None:
                    ahead = sum(map(len, given)) - sum(map(len, said[first:done]))
                    following = said[first + len(given) :][:1]
                    assert not following or (ahead and ahead + len(following[0]) > 40)
                else:
                    given.append(line)
            case "read":
                read = min(read + number, sum(map(len, given)))
                backlog.read(read)
                while done - first < len(given) and sum(map(len, said[first : done + 1])) <= read:
                    done += 1
            case _:
                backlog.rewind()
                first, given, read = done, [], 0
        assert given == said[first : first + len(given)]
        assert backlog.size == sum(map(len, said[done:]))
        assert backlog.full == (backlog.size >= 100)
        assert backlog.all_given == (first + len(given) == len(said))


@given(st.lists(st.tuples(st.sampled_from(Kind), st.binary(max_size=50)), max_size=10), st.data())
def test_frames_are_found_however_their_bytes_are_cut_up(frames: list[tuple[Kind, bytes]], data: st.DataObject) -> None:
    wire = b"".join(frame(kind, payload) for kind, payload in frames)
    cuts = sorted(data.draw(st.lists(st.integers(0, len(wire)), max_size=10)))
    reader = FrameReader()
    found = []
    for start, end in zip([0, *cuts], [*cuts, len(wire)], strict=True):
        found += reader.feed(wire[start:end])
    assert found == frames


def test_frames_hold_what_was_put_in() -> None:
    assert list(FrameReader().feed(json_frame(Kind.HELLO, {"ä": 1}))) == [(Kind.HELLO, b'{"\\u00e4": 1}')]
    ((_, number),) = FrameReader().feed(number_frame(Kind.READ, 2**40))
    assert number_in(number) == 2**40
    data = os.urandom(200_000)
    pieces = list(FrameReader().feed(b"".join(data_frames(Kind.DATA, data))))
    assert b"".join(payload for _, payload in pieces) == data
    assert len(pieces) == 4


@pytest.mark.parametrize("wire", [b"\xff\0\0\0\0", b"\1\xff\0\0\0"])
def test_what_is_no_frame_is_refused(wire: bytes) -> None:
    with pytest.raises(ValueError, match=r"frame|Kind"):
        list(FrameReader().feed(wire))
    with pytest.raises(ValueError, match="bytes"):
        number_in(b"123")


def test_a_process_of_another_user_is_not_ones_own(monkeypatch: pytest.MonkeyPatch) -> None:
    one, other = socket.socketpair()
    with one, other:
        assert is_own(one)
        monkeypatch.setattr(os, "geteuid", lambda: 12345)
        assert not is_own(one)
