import sys
from types import SimpleNamespace
from typing import Any

import pytest

from mcp_notebook.notebook.frontend import Frontend


def shell_in(message: dict[str, Any] | None) -> Any:
    return SimpleNamespace(kernel=SimpleNamespace(get_parent=lambda channel: message))


def cell(stdin: bool, metadata: dict[str, Any]) -> dict[str, Any]:
    return {"header": {"msg_type": "execute_request"}, "content": {"allow_stdin": stdin}, "metadata": metadata}


@pytest.mark.parametrize(
    ("message", "frontend"),
    [
        (cell(True, {"cellId": "a"}), Frontend("lab", widgets=True, stdin=True)),
        (cell(False, {"cellId": "a"}), Frontend("lab", widgets=True, stdin=False)),
        (cell(True, {}), Frontend("console", widgets=False, stdin=True)),
        (cell(False, {}), Frontend("headless", widgets=False, stdin=False)),
        ({"header": {"msg_type": "comm_msg"}}, Frontend("lab", widgets=True, stdin=False)),
        ({}, Frontend("headless", widgets=False, stdin=False)),
        (None, Frontend("headless", widgets=False, stdin=False)),
    ],
)
def test_the_message_tells_the_front_end(message: dict[str, Any] | None, frontend: Frontend) -> None:
    assert Frontend.of(shell_in(message)) == frontend


@pytest.mark.parametrize(
    ("tty", "frontend"),
    [
        (True, Frontend("terminal", widgets=False, stdin=True)),
        (False, Frontend("headless", widgets=False, stdin=False)),
    ],
)
def test_without_a_kernel_it_is_a_terminal_if_somebody_sits_there(
    tty: bool, frontend: Frontend, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(sys, "stdin", SimpleNamespace(isatty=lambda: tty))
    assert Frontend.of(SimpleNamespace()) == frontend
