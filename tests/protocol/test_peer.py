"""One end of a conversation, as bookkeeping."""

from __future__ import annotations

from typing import Any

import pytest

from mcp_notebook.jsonrpc import INVALID_REQUEST, ErrorResponse, Notification, Request, Response
from mcp_notebook.protocol.peer import (
    Answered,
    Asked,
    Faulty,
    Ignored,
    Incoming,
    Outgoing,
    Peer,
    Progressed,
    Refused,
    Told,
    Withdrawn,
)


@pytest.fixture
def peer() -> Peer:
    return Peer()


def asked(peer: Peer, id: Any = 1, method: str = "tools/call") -> Incoming:
    event = peer.receive(Request(id, method))
    assert isinstance(event, Asked)
    return event.incoming


def cancelled(id: Any, **more: Any) -> Notification:
    return Notification("notifications/cancelled", {"requestId": id, **more})


def progress(token: Any) -> Notification:
    return Notification("notifications/progress", {"progressToken": token, "progress": 1})


def test_ids_are_strings_that_differ_within_and_between_connections() -> None:
    peers = [Peer() for _ in range(50)]
    ids = [peer.open("ping").id for peer in peers for _ in range(3)]
    assert all(isinstance(id, str) for id in ids)
    assert len(set(ids)) == len(ids)


def test_an_answer_belongs_to_the_request_of_its_id(peer: Peer) -> None:
    one, two = peer.open("a"), peer.open("b")
    assert peer.receive(Response(two.id, {"x": 1})) == Answered(two, {"x": 1})
    error = ErrorResponse(one.id, -1, "no")
    assert peer.receive(error) == Refused(one, error)
    assert not peer.outgoing


def test_a_second_answer_is_ignored(peer: Peer) -> None:
    one = peer.open("a")
    peer.receive(Response(one.id, {}))
    assert peer.receive(Response(one.id, {})) == Ignored()
    assert peer.receive(ErrorResponse(one.id, -1, "late")) == Ignored()


def test_an_answer_to_nothing_is_ignored(peer: Peer) -> None:
    assert peer.receive(Response("elsewhere-1", {})) == Ignored()


def test_an_error_without_an_id_is_a_fault_that_says_what_it_said(peer: Peer) -> None:
    peer.open("a")
    event = peer.receive(ErrorResponse(None, -32700, "Parse error"))
    assert isinstance(event, Faulty)
    assert "Parse error" in event.reason
    assert event.reply is None
    assert len(peer.outgoing) == 1


def test_a_request_bears_a_progress_token_where_that_is_wanted(peer: Peer) -> None:
    params = {"name": "x", "_meta": {"own": 1}}
    outgoing = peer.open("tools/call", params, progress=True)
    assert outgoing.request.params == {"name": "x", "_meta": {"own": 1, "progressToken": outgoing.id}}
    assert params == {"name": "x", "_meta": {"own": 1}}  # the caller's own stays as it was
    assert peer.open("ping").request.params is None


def test_progress_belongs_to_the_request_whose_token_it_bears(peer: Peer) -> None:
    peer.open("a", progress=True)
    two = peer.open("b", progress=True)
    event = peer.receive(progress(two.id))
    assert isinstance(event, Progressed)
    assert event.outgoing is two
    assert event.params["progress"] == 1


@pytest.mark.parametrize("token", ["elsewhere", 7, None, True, [1], {"a": 1}])
def test_progress_of_nothing_is_ignored(peer: Peer, token: Any) -> None:
    peer.open("a", progress=True)
    assert peer.receive(progress(token)) == Ignored()


def test_late_progress_is_ignored(peer: Peer) -> None:
    one = peer.open("a", progress=True)
    peer.receive(Response(one.id, {}))
    assert peer.receive(progress(one.id)) == Ignored()


def test_cancelling_tells_the_other_side_and_forgets_the_request(peer: Peer) -> None:
    one = peer.open("a")
    assert peer.cancel(one, "why") == Notification("notifications/cancelled", {"requestId": one.id, "reason": "why"})
    assert peer.receive(Response(one.id, {})) == Ignored()
    assert peer.cancel(one, "again") is None


def test_what_is_answered_is_not_cancelled_any_more(peer: Peer) -> None:
    one = peer.open("a")
    peer.receive(Response(one.id, {}))
    assert peer.cancel(one, "late") is None


def test_initialize_is_given_up_without_a_word(peer: Peer) -> None:
    one = peer.open("initialize")
    assert peer.cancel(one, "why") is None
    assert not peer.outgoing


def test_abandoning_says_whether_the_answer_was_still_awaited(peer: Peer) -> None:
    one = peer.open("a")
    assert peer.abandon(one)
    assert not peer.abandon(one)


@pytest.mark.parametrize("id", [0, 1, "", "a", -5])
def test_a_request_is_answered_once_under_its_own_id(peer: Peer, id: Any) -> None:
    incoming = asked(peer, id)
    assert peer.answer(incoming, {"ok": True}) == Response(id, {"ok": True})
    assert peer.answer(incoming, {}) is None
    assert peer.refuse(incoming, -1, "no") is None


def test_a_request_is_refused_under_its_own_id(peer: Peer) -> None:
    assert peer.refuse(asked(peer, 4), -1, "no", {"a": 1}) == ErrorResponse(4, -1, "no", {"a": 1})


def test_an_id_in_use_is_a_fault_and_the_first_request_goes_on(peer: Peer) -> None:
    first = asked(peer, 1)
    event = peer.receive(Request(1, "again"))
    assert isinstance(event, Faulty)
    assert event.reply is not None
    assert (event.reply.id, event.reply.code) == (1, INVALID_REQUEST)
    assert peer.answer(first, {}) is not None


def test_a_question_that_comes_again_while_it_is_answered_is_answered_once(peer: Peer) -> None:  # RR-5
    question = Request(1, "elicitation/create", {"message": "Name?", "_meta": {"n": 1}})
    first = peer.receive(question)
    assert isinstance(first, Asked)
    assert peer.receive(Request(1, question.method, {"message": "Name?", "_meta": {"n": 2}})) == Ignored()
    assert isinstance(peer.receive(Request(1, question.method, {"message": "Age?"})), Faulty)
    assert peer.answer(first.incoming, {}) == Response(1, {})


def test_an_id_may_be_used_again_once_it_is_answered(peer: Peer) -> None:
    peer.answer(asked(peer, 1), {})
    assert peer.answer(asked(peer, 1), {}) is not None


def test_a_withdrawn_request_gets_no_answer(peer: Peer) -> None:
    incoming = asked(peer, 1)
    assert peer.receive(cancelled(1, reason="enough")) == Withdrawn(incoming, "enough")
    assert peer.answer(incoming, {}) is None


def test_the_answer_to_a_withdrawn_request_is_not_given_to_a_new_one_of_its_id(peer: Peer) -> None:
    old = asked(peer, 1)
    peer.receive(cancelled(1))
    new = asked(peer, 1)
    assert peer.answer(old, "old") is None
    assert peer.answer(new, "new") == Response(1, "new")


@pytest.mark.parametrize("id", [2, "1", None, [1], {}])
def test_a_withdrawal_of_nothing_is_ignored(peer: Peer, id: Any) -> None:
    asked(peer, 1)
    assert peer.receive(cancelled(id)) == Ignored()
    assert list(peer.incoming) == [1]


def test_a_withdrawal_without_any_params_is_ignored(peer: Peer) -> None:
    assert peer.receive(Notification("notifications/cancelled")) == Ignored()


def test_a_reason_that_is_no_text_is_left_out(peer: Peer) -> None:
    incoming = asked(peer, 1)
    assert peer.receive(cancelled(1, reason={"a": 1})) == Withdrawn(incoming, None)


def test_any_other_notification_is_told(peer: Peer) -> None:
    notification = Notification("notifications/made/up", {"a": 1})
    assert peer.receive(notification) == Told(notification)


def test_the_ids_of_the_two_directions_do_not_meet(peer: Peer) -> None:
    outgoing = peer.open("a")
    incoming = asked(peer, outgoing.id)
    assert peer.receive(Response(outgoing.id, 1)) == Answered(outgoing, 1)
    assert peer.answer(incoming, 2) == Response(outgoing.id, 2)


def test_closing_gives_back_what_was_pending_and_forgets_it(peer: Peer) -> None:
    outgoing, incoming = peer.open("a"), asked(peer, 1)
    assert peer.close() == ([outgoing], [incoming])
    assert peer.close() == ([], [])
    assert peer.receive(Response(outgoing.id, {})) == Ignored()
    assert peer.answer(incoming, {}) is None


def test_an_outgoing_request_is_itself_and_no_other() -> None:
    # Two that look alike are kept apart: by identity, not by value.
    assert Outgoing(Request(1, "a")) != Outgoing(Request(1, "a"))
