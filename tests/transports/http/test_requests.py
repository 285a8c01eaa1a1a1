"""Redirects, and certificates."""

from __future__ import annotations

import ssl
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from mcp_notebook import ConnectError, HTTPError, MCPError, connect

from .certificates import Authority
from .loopback import Asked, Puppet, handshake, modern, reply, stream

pytestmark = pytest.mark.anyio

SECRETS = {"Authorization": "Bearer secret", "X-Api-Key": "secret", "Cookie": "secret=1"}


def to(location: Callable[[], str], status: int) -> Callable[[Asked], bytes]:
    return lambda asked: reply(status, location=location())


def slashed(status: int, served: Callable[[Asked], Any]) -> Callable[[Asked], Any]:
    """A server that wants a slash at the end, as many do."""
    return lambda asked: served(asked) if asked.path == "/mcp/" else reply(status, location="/mcp/")


# Redirects


@pytest.mark.parametrize("status", [307, 308])
@pytest.mark.parametrize("era", [handshake, modern])
async def test_a_redirect_keeps_method_body_and_headers(
    status: int, era: Callable[..., Callable[[Asked], Any]]
) -> None:  # PS#732, PS#1168, FM#1867
    async with (
        Puppet(slashed(status, era({"GET": stream(b": \n\n")}))) as puppet,
        connect(puppet.url, headers=SECRETS) as client,
    ):
        assert (await client.call_tool("x", {"a": 1})).text == "done"
        before, after = [asked for asked in puppet.asked if asked.says == "tools/call"]
        assert (before.path, after.path) == ("/mcp", "/mcp/")
        assert (after.method, after.body) == ("POST", before.body)
        assert {**after.headers} == {**before.headers}
        assert after.headers["authorization"] == "Bearer secret"


async def test_the_stream_and_the_end_of_a_session_follow_redirects_too() -> None:
    async with Puppet(slashed(307, handshake({"GET": stream()}))) as puppet:
        async with connect(puppet.url):
            pass
        assert [asked.path for asked in puppet.requests("GET")] == ["/mcp", "/mcp/"]
        assert [asked.path for asked in puppet.requests("DELETE")] == ["/mcp", "/mcp/"]


@pytest.mark.parametrize("auth", [None, ("user", "word")], ids=["headers", "auth"])
async def test_nothing_secret_goes_to_another_origin(auth: Any) -> None:
    async with Puppet(handshake()) as other, Puppet(to(lambda: other.url, 307)) as puppet:
        async with connect(puppet.url, headers=SECRETS, auth=auth) as client:
            assert (await client.call_tool("x")).text == "done"
        for asked in puppet.asked:
            assert asked.headers["x-api-key"] == "secret"
        for asked in other.asked:
            assert not {"authorization", "x-api-key", "cookie"} & set(asked.headers)
            assert asked.headers["host"] == f"127.0.0.1:{other.port}"
        assert other.requests("tools/call")[0].headers["mcp-session-id"] == "s-1"


async def test_nothing_secret_goes_to_where_another_origin_redirects_within_itself() -> None:
    async with Puppet(slashed(307, handshake())) as other, Puppet(to(lambda: other.url, 307)) as puppet:
        async with connect(puppet.url, headers=SECRETS, auth=("user", "word")) as client:
            assert (await client.call_tool("x")).text == "done"
        assert {asked.path for asked in other.asked} == {"/mcp", "/mcp/"}
        for asked in other.asked:
            assert not {"authorization", "x-api-key", "cookie"} & set(asked.headers)


async def test_nothing_secret_comes_back_from_another_origin() -> None:
    """A redirect away and back again must not regain the headers on the way."""
    async with Puppet(lambda asked: b"") as puppet, Puppet(to(lambda: f"{puppet.url}/end", 307)) as other:
        puppet.answer = lambda asked: reply(307, location=other.url) if asked.path == "/mcp" else handshake()(asked)
        async with connect(puppet.url, headers=SECRETS):
            pass
        assert all("x-api-key" not in asked.headers for asked in puppet.asked if asked.path == "/mcp/end")


@pytest.mark.parametrize("status", [301, 302, 303])
async def test_a_redirect_that_would_change_the_request_is_an_error_that_names_the_new_url(status: int) -> None:
    async with Puppet(lambda asked: reply(status, location="/new/mcp?key=secret")) as puppet:
        with pytest.raises(HTTPError, match=rf"moved to {puppet.url[:-4]}/new/mcp\?…: use that URL") as caught:
            await connect(puppet.url)
        assert caught.value.status == status
        assert "secret" not in str(caught.value)
        assert len(puppet.asked) == 1


async def test_redirects_without_end_are_an_error() -> None:
    async with Puppet(lambda asked: reply(307, location=f"{asked.path}x")) as puppet:
        with pytest.raises(HTTPError, match="redirects more than 5 times"):
            await connect(puppet.url)
        assert len(puppet.asked) == 6


@pytest.mark.parametrize("location", ["http://[", "gopher://x/", "http://127.0.0.1:99999/"])
async def test_a_redirect_to_nowhere_is_an_error(location: str) -> None:
    async with Puppet(lambda asked: reply(307, location=location)) as puppet:
        with pytest.raises(MCPError):
            await connect(puppet.url)


async def test_a_redirect_without_a_location_is_an_error() -> None:
    async with Puppet(lambda asked: reply(307)) as puppet:
        with pytest.raises(HTTPError, match="307"):
            await connect(puppet.url)


async def test_a_redirect_from_an_encrypted_url_to_a_plain_one_is_not_followed(authority: Authority) -> None:
    async with (
        Puppet(handshake()) as plain,
        Puppet(to(lambda: plain.url, 307), ssl=authority.server()) as puppet,
    ):
        with pytest.raises(HTTPError, match="not encrypted"):
            await connect(puppet.url, verify=str(authority.file))
        assert plain.asked == []


# Certificates


@pytest.fixture
def authority(tmp_path: Path) -> Authority:
    return Authority(tmp_path)


async def test_a_certificate_of_an_unknown_authority_is_refused_and_the_way_out_named(authority: Authority) -> None:
    async with Puppet(handshake(), ssl=authority.server()) as puppet:
        with pytest.raises(ConnectError, match=r"verify='AUTHORITIES\.pem'"):
            await connect(puppet.url)
        assert puppet.asked == []


@pytest.mark.filterwarnings("error")
@pytest.mark.parametrize("form", ["path", "text", "context", "off"])
async def test_an_authority_of_ones_own_can_be_named(authority: Authority, form: str) -> None:  # PS#870, PS#1791
    verify: Any = {
        "path": authority.file,
        "text": str(authority.file),
        "context": ssl.create_default_context(cafile=authority.file),
        "off": False,
    }[form]
    async with (
        Puppet(handshake(), ssl=authority.server()) as puppet,
        connect(puppet.url, verify=verify) as client,
    ):
        assert (await client.call_tool("x")).text == "done"


@pytest.mark.filterwarnings("error")
async def test_a_client_shows_its_own_certificate(authority: Authority) -> None:
    files = authority.issue("client")
    async with Puppet(handshake(), ssl=authority.server(wants_client=True)) as puppet:
        async with connect(puppet.url, verify=str(authority.file), cert=(str(files[0]), str(files[1]))) as client:
            assert (await client.call_tool("x")).text == "done"
        with pytest.raises(MCPError):
            await connect(puppet.url, verify=str(authority.file))


async def test_each_server_has_its_own_authorities(authority: Authority) -> None:
    async with (
        Puppet(handshake(), ssl=authority.server()) as puppet,
        connect(puppet.url, verify=str(authority.file)),
    ):
        with pytest.raises(ConnectError, match="CERTIFICATE"):
            await connect(puppet.url)
