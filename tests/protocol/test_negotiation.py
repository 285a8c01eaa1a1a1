"""How two sides come to speak one revision, by the handshake."""

from __future__ import annotations

from typing import Any

import pytest

from mcp_notebook.errors import NegotiationError, ProtocolError, UnsupportedFeature
from mcp_notebook.jsonrpc import INVALID_PARAMS
from mcp_notebook.protocol.negotiation import accept, conclude, known_revision, only, propose
from mcp_notebook.protocol.revision import Profile, Revision
from mcp_notebook.protocol.revisions import ALL, LATEST_HANDSHAKE
from mcp_notebook.types import ClientCapabilities, Implementation, ServerCapabilities

HANDSHAKE = [revision for revision in ALL.values() if revision.era == "handshake"]
each_revision = pytest.mark.parametrize("revision", HANDSHAKE, ids=lambda revision: revision.name)

CLIENT = ClientCapabilities(
    roots={"listChanged": True}, sampling={}, elicitation={"form": {}}, experimental={"x": {}}, tasks={}
)
SERVER = ServerCapabilities(
    tools={"listChanged": True}, resources={"subscribe": True}, prompts={}, logging={}, completions={}, tasks={}
)
INFO = Implementation(name="us", version="1", title="Us", icons=[])


def opening(**changes: Any) -> dict[str, Any]:
    return {
        "protocolVersion": "2025-06-18",
        "capabilities": {},
        "clientInfo": {"name": "them", "version": "2"},
        **changes,
    }


def agreed(revision: Revision, client: ClientCapabilities = CLIENT, server: ServerCapabilities = SERVER) -> Profile:
    return Profile(
        revision=revision,
        client=only(client, revision.client_capabilities),
        server=only(server, revision.server_capabilities),
        client_info=INFO,
        server_info=INFO,
    )


def test_the_four_handshake_revisions_are_spoken_and_the_newest_is_proposed() -> None:
    assert [revision.name for revision in HANDSHAKE] == ["2024-11-05", "2025-03-26", "2025-06-18", "2025-11-25"]
    assert LATEST_HANDSHAKE is HANDSHAKE[-1]


def test_an_unknown_revision_is_refused_with_a_list_of_the_known_ones() -> None:
    with pytest.raises(NegotiationError, match=r"no protocol revision '2020-01-01'.*2024-11-05.*2025-11-25"):
        known_revision("2020-01-01")


@each_revision
def test_a_client_proposes_its_revision_and_only_the_capabilities_that_it_has(revision: Revision) -> None:
    params = propose(revision, CLIENT, INFO)
    assert params["protocolVersion"] == revision.name
    assert params["clientInfo"]["name"] == "us"
    assert set(params["capabilities"]) == {"roots", "sampling", "experimental"} | (
        {"elicitation"} if revision.name >= "2025-06-18" else set()
    ) | ({"tasks"} if revision.name >= "2025-11-25" else set())


@each_revision
def test_a_server_takes_the_revision_of_the_client(revision: Revision) -> None:
    assert accept(opening(protocolVersion=revision.name), SERVER, INFO).revision is revision


@pytest.mark.parametrize("name", ["1.0", "", "2024-10-07", "2099-01-01", "2026-07-28"])
def test_a_server_answers_with_its_newest_where_it_cannot_shake_hands_in_the_client_s(name: str) -> None:
    assert accept(opening(protocolVersion=name), SERVER, INFO).revision is LATEST_HANDSHAKE


@each_revision
def test_what_a_revision_lacks_is_neither_offered_nor_accepted(revision: Revision) -> None:
    profile = accept(opening(protocolVersion=revision.name, capabilities=CLIENT.wire()), SERVER, INFO)
    assert (profile.client.elicitation is not None) == (revision.name >= "2025-06-18")
    assert (profile.server.completions is not None) == (revision.name >= "2025-03-26")
    assert (profile.server.tasks is not None) == (revision.name >= "2025-11-25")


@pytest.mark.parametrize(
    ("params", "where"),
    [
        (None, "protocolVersion"),
        ({}, "protocolVersion"),
        (opening(protocolVersion=5), "protocolVersion"),
        (opening(capabilities=[]), "capabilities"),
        (opening(capabilities={"roots": 1}), "capabilities.roots"),
        (opening(clientInfo={"version": "1"}), "clientInfo.name"),
    ],
)
def test_a_broken_opening_is_refused_with_its_place(params: Any, where: str) -> None:
    with pytest.raises(ProtocolError, match=f"'initialize'.*{where}") as caught:
        accept(params, SERVER, INFO)
    assert caught.value.code == INVALID_PARAMS


def test_an_opening_without_a_version_of_the_client_is_accepted() -> None:
    assert accept(opening(clientInfo={"name": "them"}), SERVER, INFO).client_info.version == ""


def answered(**changes: Any) -> dict[str, Any]:
    return {
        "protocolVersion": "2025-11-25",
        "capabilities": {"tools": {}},
        "serverInfo": {"name": "them", "version": "2"},
        **changes,
    }


@each_revision
def test_a_client_takes_the_revision_of_the_server_even_another_than_its_own(revision: Revision) -> None:
    profile = conclude(answered(protocolVersion=revision.name, instructions="Be kind."), CLIENT, INFO)
    assert profile.revision is revision
    assert profile.instructions == "Be kind."
    assert profile.server_info.name == "them"
    assert (profile.client.elicitation is not None) == (revision.name >= "2025-06-18")


@pytest.mark.parametrize("name", ["2024-10-07", "2099-01-01", "2026-07-28"])
def test_a_client_refuses_a_revision_that_has_no_handshake_or_is_not_known(name: str) -> None:
    with pytest.raises(NegotiationError, match=f"{name}.*Update"):
        conclude(answered(protocolVersion=name), CLIENT, INFO)


@pytest.mark.parametrize(
    ("raw", "where"),
    [
        (None, ""),
        ([], ""),
        ({}, "protocolVersion"),
        (answered(capabilities=None), "capabilities"),
        (answered(serverInfo="x"), "serverInfo"),
    ],
)
def test_a_broken_answer_is_refused_with_its_place(raw: Any, where: str) -> None:
    with pytest.raises(NegotiationError, match=f"broken.*{where}"):
        conclude(raw, CLIENT, INFO)


def test_capabilities_that_nobody_knows_are_passed_over() -> None:
    profile = conclude(answered(capabilities={"tools": {}, "made-up": {"x": 1}}), CLIENT, INFO)
    assert profile.server_has("tools/list")


# What was agreed on


NEEDS = {
    "tools/call": {"tools": {}},
    "resources/read": {"resources": {}},
    "resources/subscribe": {"resources": {"subscribe": True}},
    "prompts/get": {"prompts": {}},
    "logging/setLevel": {"logging": {}},
}


@each_revision
@pytest.mark.parametrize("method", NEEDS)
def test_a_method_of_the_server_needs_its_capability(revision: Revision, method: str) -> None:
    assert agreed(revision, server=ServerCapabilities.model_validate(NEEDS[method])).server_has(method)
    assert not agreed(revision, server=ServerCapabilities()).server_has(method)


@pytest.mark.parametrize("resources", [{}, {"subscribe": False}, {"subscribe": None}])
def test_a_capability_within_a_capability_must_be_declared_itself(resources: dict[str, Any]) -> None:
    profile = agreed(LATEST_HANDSHAKE, server=ServerCapabilities(resources=resources))
    assert not profile.server_has("resources/subscribe")
    with pytest.raises(UnsupportedFeature, match=r"'resources\.subscribe', which 'resources/subscribe' needs"):
        profile.check_server("resources/subscribe")


def test_what_needs_no_capability_is_always_there() -> None:
    assert agreed(LATEST_HANDSHAKE, server=ServerCapabilities()).server_has("ping")
    assert agreed(HANDSHAKE[0], server=ServerCapabilities()).server_has("completion/complete")


@each_revision
def test_elicitation_is_there_from_the_revision_on_that_has_it(revision: Revision) -> None:
    profile = agreed(revision)
    assert profile.client_has("elicitation/create") == (revision.name >= "2025-06-18")
    if not profile.client_has("elicitation/create"):
        with pytest.raises(UnsupportedFeature, match=f"revision {revision.name} has no 'elicitation/create'"):
            profile.check_client("elicitation/create")


def test_a_question_that_the_client_did_not_declare_is_not_sent() -> None:
    with pytest.raises(UnsupportedFeature, match="The client did not declare the capability 'sampling'"):
        agreed(LATEST_HANDSHAKE, client=ClientCapabilities()).check_client("sampling/createMessage")


# URL-1
@pytest.mark.parametrize(
    ("declared", "newest", "before"),
    [
        (None, set(), set()),
        ({}, {"form"}, {"form"}),
        ({"form": {}}, {"form"}, {"form"}),
        ({"url": {}}, {"url"}, set()),
        ({"form": {}, "url": {}}, {"form", "url"}, {"form"}),
        ({"made-up": {}}, {"form"}, {"form"}),
    ],
)
def test_the_modes_of_elicitation_are_what_was_declared_as_far_as_the_revision_has_them(
    declared: dict[str, Any] | None, newest: set[str], before: set[str]
) -> None:
    capabilities = ClientCapabilities(elicitation=declared)
    assert agreed(ALL["2025-11-25"], client=capabilities).elicitation_modes() == newest
    assert agreed(ALL["2025-06-18"], client=capabilities).elicitation_modes() == before


def test_a_revision_is_called_by_its_date() -> None:
    assert repr(ALL["2025-06-18"]) == "<Revision 2025-06-18>"
