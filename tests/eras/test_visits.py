"""URLs that a server wants a person to visit: consent, completion, the error that wants a visit first, both eras."""

from __future__ import annotations

import asyncio
import logging
from typing import Any

import pytest

from mcp_notebook import Context, Limits, Server, UnsupportedFeature, connect
from mcp_notebook.client.urls import examine
from mcp_notebook.errors import MCPError, ProtocolError, URLElicitationRequired
from mcp_notebook.protocol.revisions import ALL
from mcp_notebook.types import ElicitParams, ElicitResult

from ..scripted import Scripted, until

pytestmark = pytest.mark.anyio
REVISIONS = [name for name, revision in ALL.items() if "url" in revision.elicitation_modes]
HANDSHAKE = [name for name in REVISIONS if ALL[name].url_required is not None]
URL = "https://example.org/sign-in?for=files"
each_revision = pytest.mark.parametrize("revision", REVISIONS)


class SigningIn(Server):
    """A server whose tools want a person to sign in somewhere."""

    def __init__(self, **more: Any) -> None:
        super().__init__("signing in", **more)
        self.answers: list[Any] = []
        self.signed_in = False
        self.runs = 0

        @self.tool
        async def ask(ctx: Context) -> str:
            answer = await ctx.elicit_url(URL, "Sign in to your files.")
            self.answers.append(answer)
            return answer.action

        @self.tool
        async def need(ctx: Context) -> str:
            self.runs += 1
            if not self.signed_in:
                raise URLElicitationRequired(URL, "Sign in to your files.")
            return "files"


class Person:
    """Somebody who is asked, and does as told."""

    def __init__(self, answer: Any = True) -> None:
        self.asked: list[ElicitParams] = []
        self.answer = answer

    def __call__(self, params: ElicitParams) -> Any:
        self.asked.append(params)
        return self.answer


def asking(url: str) -> dict[str, Any]:
    return {"mode": "url", "url": url, "message": "m", "elicitationId": "1"}


@each_revision
@pytest.mark.parametrize(("given", "action"), [(True, "accept"), (False, "decline"), (None, "cancel")])
async def test_a_person_accepts_declines_or_cancels(revision: str, given: Any, action: str) -> None:  # URL-2
    server, person = SigningIn(), Person(given)
    async with connect(server, revision=revision, url_elicitation=person) as client:
        assert (await client.call_tool("ask")).data == action
    (params,) = person.asked
    assert (params.mode, params.url, params.message) == ("url", URL, "Sign in to your files.")
    assert (params.elicitation_id is not None) == (revision in HANDSHAKE)
    assert bool(server.answers[0]) == (action == "accept")


@each_revision
async def test_a_client_that_shows_no_urls_is_not_asked(revision: str) -> None:  # URL-1
    server = SigningIn()
    async with connect(server, revision=revision, elicitation=lambda params: {}) as client:
        if revision in HANDSHAKE:
            assert (await client.call_tool("ask")).is_error
        else:
            with pytest.raises(ProtocolError) as refused:
                await client.call_tool("ask")
            assert refused.value.data == {"requiredCapabilities": {"elicitation": {"url": {}}}}
        assert server.answers == []


async def test_an_empty_capability_means_forms_only() -> None:  # URL-1
    server = Scripted()
    async with connect(server, revision=HANDSHAKE[0], elicitation=lambda params: {}) as client:
        assert client.profile.client.elicitation == {"form": {}}
    async with connect(server, revision=HANDSHAKE[0], url_elicitation=Person()) as client:
        assert client.profile.client.elicitation == {"url": {}}
        assert client.profile.elicitation_modes() == {"url"}


async def test_a_mode_that_was_not_declared_is_invalid() -> None:  # URL-1
    server = Scripted()
    async with connect(server, revision=HANDSHAKE[0], elicitation=lambda params: {}):
        with pytest.raises(ProtocolError) as refused:
            await server.ask("elicitation/create", asking(URL))
        assert refused.value.code == -32602


@pytest.mark.parametrize("revision", HANDSHAKE)
async def test_completion_is_told_to_the_client_that_was_asked_and_no_other(revision: str) -> None:  # URL-3
    server = SigningIn()
    told: list[list[Any]] = [[], []]

    def note(number: int) -> Any:
        return lambda notification: told[number].append((notification.params or {}).get("elicitationId"))

    async with (
        connect(server, revision=revision, url_elicitation=Person(), on_notification=note(0)) as one,
        connect(server, revision=revision, url_elicitation=Person(), on_notification=note(1)),
    ):
        await one.call_tool("ask")
        id = server.answers[0].id
        assert server.answers[0].complete() is True
        await until(lambda: told[0] == [id])
        assert server.complete_elicitation(id) is False
        assert told[1] == []


@each_revision
async def test_a_request_that_wants_a_visit_is_made_again_after_it(revision: str) -> None:  # URL-4
    server = SigningIn()

    def visit(params: ElicitParams) -> bool:
        server.signed_in = True
        if params.elicitation_id is not None:
            asyncio.get_running_loop().call_soon(server.complete_elicitation, params.elicitation_id)
        return True

    async with connect(server, revision=revision, url_elicitation=visit) as client:
        assert (await client.call_tool("need")).data == "files"
    assert server.runs == 2


@each_revision
async def test_who_does_not_want_to_visit_gets_the_refusal(revision: str) -> None:  # URL-4
    async with connect(SigningIn(), revision=revision, url_elicitation=Person(False)) as client:
        if revision in HANDSHAKE:
            with pytest.raises(ProtocolError) as refused:
                await client.call_tool("need")
            assert refused.value.code == -32042
        else:
            result = await client.call_tool("need")
            assert result.is_error
            assert "did not want" in result.text


@pytest.mark.parametrize("revision", REVISIONS)
async def test_the_error_goes_to_no_client_that_cannot_show_urls(revision: str) -> None:  # URL-4
    async with connect(SigningIn(), revision=revision) as client:
        result = await client.call_tool("need")
        assert result.is_error
        assert URL in result.text


@pytest.mark.parametrize(
    "entries", [[], [{"mode": "form", "message": "m", "elicitationId": "1"}], [{"mode": "url", "message": "m"}], "x"]
)
async def test_an_error_that_wants_something_else_is_refused(entries: Any) -> None:  # URL-4
    person = Person()
    error = {"code": -32042, "message": "m", "data": {"elicitations": entries}}
    server = Scripted({"tools/call": ProtocolError(error["code"], "m", error["data"])})
    async with connect(server, revision=HANDSHAKE[0], url_elicitation=person) as client:
        with pytest.raises(MCPError, match="visit"):
            await client.call_tool("x")
    assert person.asked == []


@pytest.mark.parametrize(
    ("url", "why"),
    [
        ("http://example.org/", "not encrypted"),
        ("javascript:alert(1)", "names no host"),
        ("data:text/html,x", "names no host"),
        ("file:///etc/passwd", "names no host"),
        ("https://user:pw@example.org/", "name or password"),
        ("https://example.org/\u202egnp", "cannot be seen"),
        ("https://exa mple.org/", "cannot be seen"),
        ("https://", "names no host"),
        ("", "missing"),
    ],
)
async def test_a_url_that_must_not_be_opened_is_refused_and_nobody_asked(url: str, why: str) -> None:  # URL-5
    with pytest.raises(ValueError, match=why):
        examine(url, loopback=True)
    person, server = Person(), Scripted()
    async with connect(server, revision=HANDSHAKE[0], url_elicitation=person):
        with pytest.raises(ProtocolError) as refused:
            await server.ask("elicitation/create", asking(url))
        assert refused.value.code == -32602
    assert person.asked == []


def test_what_is_unusual_about_a_host_is_said() -> None:  # URL-5
    examined = examine("https://еxample.org:8443/x")  # the first letter is Cyrillic
    assert examined.host == "xn--xample-2of.org:8443"
    assert "may look like others" in examined.warnings[0]
    assert examine("https://192.0.2.1/").warnings == ("The host is a bare address, not a name.",)
    assert examine("https://example.org/").warnings == ()
    assert examine("http://localhost:3000/", loopback=True).host == "localhost:3000"
    with pytest.raises(ValueError, match="not encrypted"):
        examine("http://localhost:3000/")


async def test_somebody_else_cannot_complete_it(caplog: pytest.LogCaptureFixture) -> None:  # URL-6, URL-7
    server = SigningIn()
    id = ""

    @server.tool
    async def begin(ctx: Context) -> str:
        nonlocal id
        id = (await ctx.elicit_url(URL, "m")).id
        return "ok"

    from ..resuming.lines import MemoryLine
    from ..transports.http.asgi import request

    line = await MemoryLine.open(server, {"elicitation": {"url": {}}}, "ada")
    await line.say(request(1, "tools/call", name="begin"))
    question = await line.next()
    await line.say({"jsonrpc": "2.0", "id": question["id"], "result": {"action": "accept"}})
    await line.next()
    with pytest.raises(MCPError, match="somebody else"):
        server.complete_elicitation(id, "bob")
    assert "somebody else" in caplog.text
    assert server.complete_elicitation(id, "ada") is True
    assert (await line.next())["params"] == {"elicitationId": id}


async def test_there_are_bounds_and_an_audit(caplog: pytest.LogCaptureFixture) -> None:  # URL-7
    caplog.set_level(logging.INFO, "mcp_notebook.audit")
    server = SigningIn(limits=Limits(visits=1, question=0.05))
    async with connect(server, revision=HANDSHAKE[0], url_elicitation=Person()) as client:
        assert (await client.call_tool("ask")).data == "accept"
        assert "More than 1 URLs" in (await client.call_tool("ask")).text
        await until(lambda: "is given up" in caplog.text)
        assert (await client.call_tool("ask")).data == "accept"
    assert "a server asked to open a URL at example.org: accept" in caplog.text


async def test_what_revisions_lack_is_said() -> None:
    older = [name for name in ALL if name not in REVISIONS and ALL[name].elicitation_modes]
    server = SigningIn()
    seen: list[Exception] = []

    @server.tool
    async def old(ctx: Context) -> str:
        try:
            await ctx.elicit_url(URL, "m")
        except UnsupportedFeature as error:
            seen.append(error)
        return "old"

    async with connect(server, revision=older[-1], elicitation=lambda params: ElicitResult(action="decline")) as client:
        await client.call_tool("old")
    assert "mode 'url'" in str(seen[0])
