"""Errors as cards."""

from __future__ import annotations

import pytest

from mcp_notebook import errors

from .page import show


def test_an_error_says_in_its_title_what_kind_it_is_and_then_its_own_words() -> None:
    page, plain = show(errors.ConnectError("No server at x. Check the command."))
    assert {"mcp-card", "mcp-fail"} <= page.classes()
    assert plain == "● no connection\n  No server at x. Check the command."
    assert "No server at x. Check the command." in page.text


def test_an_end_that_somebody_wanted_is_no_failure() -> None:
    for error in (errors.ConsentDenied("Nothing was started."), errors.CallCancelled()):
        page, _ = show(error)
        assert "mcp-drop" in page.classes()
        assert "mcp-fail" not in page.classes()


def test_a_kind_of_error_that_is_new_is_called_what_its_parent_is() -> None:
    class Refused(errors.ConnectError):
        pass

    assert show(Refused("x"))[1].startswith("● no connection")


@pytest.mark.parametrize(
    ("error", "title"),
    [
        (errors.MCPError("x"), "that did not work"),
        (errors.ProtocolError(1, "x"), "the server answers with an error"),
        (errors.UnsupportedFeature("x"), "not supported there"),
        (errors.ConsentDenied("x"), "not started"),
        (errors.ConnectionLost("x"), "the connection ended"),
        (errors.ServerExited("x"), "the server ended"),
        (errors.RequestTimeout("x", seconds=1), "no answer in time"),
        (errors.CallCancelled("x"), "cancelled"),
        (errors.LimitExceeded("x", limit="message", allowed=1), "too much"),
        (errors.ToolError("x"), "the tool reports an error"),
        (errors.InvalidResult("x"), "an answer that makes no sense"),
        (errors.SchemaError("x"), "a schema that cannot be used"),
    ],
)
def test_each_kind_of_error_is_called_by_its_name(error: errors.MCPError, title: str) -> None:
    page, plain = show(error)
    assert f"● {title}" in page.text
    assert plain.splitlines()[0] == f"● {title}"
    assert plain.splitlines()[1].startswith("  x")


def test_what_a_server_wrote_to_stderr_is_a_fold_away() -> None:
    page, plain = show(errors.ServerExited("It ended.", exit_status=3, stderr="Traceback\nImportError: torch\n"))
    assert ("details", {"class": "mcp-fold"}) in page.elements
    assert plain.splitlines()[2:] == ["  what it wrote to stderr:", "    Traceback", "    ImportError: torch"]
    assert "ImportError: torch" in page.text
    assert "stderr" not in show(errors.ServerExited("It ended."))[1]


def test_the_data_of_a_protocol_error_is_a_fold_away() -> None:
    _, plain = show(errors.ProtocolError(-32602, "Unknown tool", {"known": ["echo"]}))
    assert plain.splitlines() == [
        "● the server answers with an error",
        "  Unknown tool (error -32602)",
        "  details:",
        '    known: ["echo"]',
    ]
    assert "details" not in show(errors.ProtocolError(-32602, "Unknown tool"))[1]
