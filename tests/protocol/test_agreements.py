"""What a server and its modern clients agree on: by each request's own metadata, which is read once."""

from __future__ import annotations

from typing import Any

import pytest

from mcp_notebook.errors import ProtocolError
from mcp_notebook.protocol import metadata
from mcp_notebook.protocol.metadata import CLIENT_CAPABILITIES, CLIENT_INFO, LOG_LEVEL, VERSION, written
from mcp_notebook.protocol.negotiation import Agreements
from mcp_notebook.types import ClientCapabilities, Implementation, ServerCapabilities


@pytest.fixture
def agreements() -> Agreements:
    return Agreements(ServerCapabilities(tools={}), Implementation(name="us"))


def params(name: str = "them", /, **meta: Any) -> dict[str, Any]:
    said = written("2026-07-28", ClientCapabilities(roots={}), Implementation(name=name))
    return {"name": "t", "_meta": {**said, **meta}}


def test_what_a_request_says_again_is_not_read_again(agreements: Agreements) -> None:
    first = agreements.of_request(params(progressToken=1))
    assert (first.client_info.name, first.client.roots, first.server.tools) == ("them", {}, {})
    assert agreements.of_request(params(progressToken=2)) is first


def test_each_request_is_served_by_its_own_word(agreements: Agreements) -> None:
    agreements.of_request(params())
    assert agreements.of_request(params("others")).client_info.name == "others"
    assert agreements.of_request(params(**{LOG_LEVEL: "error"})).log_level == "error"
    assert agreements.of_request(params(**{CLIENT_CAPABILITIES: {}})).client.roots is None


def test_broken_metadata_is_refused_each_time(agreements: Agreements) -> None:
    agreements.of_request(params())
    absent = params()
    del absent["_meta"][CLIENT_INFO]
    agreements.of_request(absent)
    for _ in range(2):
        with pytest.raises(ProtocolError, match="Unsupported protocol version"):
            agreements.of_request(params(**{VERSION: "1999-01-01"}))
        with pytest.raises(ProtocolError, match="no log level"):
            agreements.of_request(params(**{LOG_LEVEL: "loud"}))
        with pytest.raises(ProtocolError, match="valid dictionary"):
            agreements.of_request(params(**{CLIENT_INFO: None}))


def test_what_is_remembered_is_bounded_in_number_and_size(
    agreements: Agreements, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(metadata, "REMEMBERED", 3)
    first = agreements.of_request(params())
    for number in range(3):
        agreements.of_request(params(f"client {number}"))
    assert agreements.of_request(params()) is not first
    large = params("x" * 5000)
    assert agreements.of_request(large) is not agreements.of_request(large)
