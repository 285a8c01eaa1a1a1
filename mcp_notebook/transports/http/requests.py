"""HTTP requests to one server, and their answers, bounded and with errors of our own. The only place that knows httpx2.

What a caller's headers, `auth` and certificates say is for that server: a redirect to another origin is followed
without them.
"""

from __future__ import annotations

import os
import ssl
from collections.abc import AsyncIterator, Mapping
from typing import Any

import httpcore2
import httpx2

from ...errors import ConnectError, ConnectionLost, HTTPError, LimitExceeded, MCPError
from ...limits import Limits
from ..sse import EventReader, ServerSentEvent
from .network import Network
from .options import HttpOptions

REDIRECTS = 5
"""How many redirects of one request are followed; only those that keep method and body (307, 308)."""
QUOTED = 500
"""Characters of an error page that are quoted."""
LOOPBACK = ("localhost", "127.0.0.1", "::1")


class Requests:
    """The way to the server at a URL.

    Args:
        url: the URL.
        options: how it is reached.
        limits: the bounds to keep.

    Raises:
        ConnectError: there can be no way with this URL and these options.
    """

    def __init__(self, url: str, options: HttpOptions, limits: Limits) -> None:
        self._limits = limits
        self._own = options.client is None
        try:
            self.url = httpx2.URL(url)
            self._client: httpx2.AsyncClient = options.client or _make_client(self.url, options, limits)
        except (httpx2.InvalidURL, OSError, ValueError, TypeError) as error:  # a file of authorities that is none, say
            raise ConnectError(f"The URL cannot be reached like this: {error}.") from None
        # How long an answer may take is the connection's to say, so reading has no limit here.
        self._timeout = httpx2.Timeout(**{**self._client.timeout.as_dict(), "read": None})

    def __str__(self) -> str:
        return shown(self.url)

    async def send(
        self, method: str, headers: Mapping[str, str], body: bytes | None = None, *, to: str | None = None
    ) -> Answer:
        """Make a request; follow redirects that keep it whole.

        Args:
            method: POST, GET or DELETE.
            headers: what to say beside what every request to this server says.
            body: the body.
            to: another URL of the same origin.

        Returns:
            The answer's head; its body is still to be read, and the answer to be closed.

        Raises:
            ConnectError: there is no way to the server.
            ConnectionLost: the connection broke; whether the request was carried out is unknown.
            HTTPError: the redirects do not end, or lead where nothing secret may go.
        """
        url, mine = self.url if to is None else httpx2.URL(to), True
        try:
            for _ in range(REDIRECTS + 1):
                response = await self._send_once(method, url, headers, body, mine)
                if response.status_code not in (307, 308) or not response.has_redirect_location:
                    return Answer(response, self._limits)
                await response.aclose()
                target = url.join(response.headers["location"])
                if url.scheme == "https" and target.scheme != "https":
                    raise HTTPError(
                        f"{shown(url)} redirects to {shown(target)}, which is not encrypted; it is not followed. "
                        "If that is right, use that URL.",
                        status=response.status_code,
                    )
                mine, url = mine and _same_origin(url, target), target
        except (httpx2.HTTPError, httpx2.InvalidURL) as error:
            raise failure(url, error) from None
        raise HTTPError(f"{self} redirects more than {REDIRECTS} times.", status=308)

    def within(self, answer: Answer, reference: str) -> str:
        """The URL that a reference in an answer leads to.

        Raises:
            ConnectError: it leads to another origin, or is no URL.
        """
        try:
            url = answer.url.join(reference)
        except (httpx2.InvalidURL, ValueError):
            raise ConnectError(f"{self} names {reference[:80]!r}, which is no URL.") from None
        if not _same_origin(self.url, url):
            raise ConnectError(f"{self} wants messages to be sent to another server, {shown(url)}: refused.")
        return str(url)

    async def close(self) -> None:
        """Let the connections go; a client that the caller gave stays theirs."""
        if self._own:
            await self._client.aclose()

    async def _send_once(
        self, method: str, url: httpx2.URL, headers: Mapping[str, str], body: bytes | None, mine: bool
    ) -> httpx2.Response:
        if mine:
            request = self._client.build_request(method, url, content=body, headers=headers, timeout=self._timeout)
            return await self._client.send(request, stream=True, follow_redirects=False)
        extensions = {"timeout": self._timeout.as_dict()}
        request = httpx2.Request(method, url, content=body, headers=headers, extensions=extensions)
        return await self._client.send(request, stream=True, follow_redirects=False, auth=_NOBODY)


class Answer:
    """What a server answered: the head at once, the body as it is read."""

    def __init__(self, response: httpx2.Response, limits: Limits) -> None:
        self._response = response
        self._limits = limits
        self.status: int = response.status_code
        self.url: httpx2.URL = response.url
        self.headers: Mapping[str, str] = response.headers
        """By name, in any case."""

    @property
    def ok(self) -> bool:
        """Whether the status says so."""
        return self._response.is_success

    @property
    def kind(self) -> str:
        """The media type, without parameters."""
        return self.headers.get("content-type", "").partition(";")[0].strip().lower()

    @property
    def told(self) -> str:
        """Who answered what, in words."""
        return f"{shown(self.url)} answered {self.status} {self._response.reason_phrase}".rstrip()

    async def read(self) -> bytes:
        """The whole body.

        Raises:
            ConnectionLost: it was cut short.
            LimitExceeded: it is larger than `Limits.message`.
        """
        limit = self._limits.message
        parts, size = [], 0
        async for data in self._chunks():
            size += len(data)
            if size > limit:
                raise LimitExceeded(
                    f"The server's answer is larger than the limit of {limit:,} bytes. "
                    "Raise the limit: Limits(message=...).",
                    limit="message",
                    allowed=limit,
                )
            parts.append(data)
        return parts[0] if len(parts) == 1 else b"".join(parts)

    async def events(self, reader: EventReader) -> AsyncIterator[ServerSentEvent]:
        """The events of the body, as they come.

        Raises:
            ConnectionLost: the stream was cut.
            LimitExceeded: an event is larger than the reader allows.
        """
        async for data in self._chunks():
            for event in reader.feed(data):
                yield event

    async def close(self) -> None:
        """Let the answer go, read or not."""
        await self._response.aclose()

    def error(self, body: bytes) -> HTTPError:
        """What an HTTP error says, and what can be done.

        Args:
            body: the answer's body, of which the beginning is quoted.
        """
        text = body[:QUOTED].decode("utf-8", "replace").strip()
        said = f": {text.removesuffix('.')}" if text else ""
        return HTTPError(f"{self.told}{said}.{self._advice()}", status=self.status)

    def _advice(self) -> str:
        if self._response.has_redirect_location:
            return f" It has moved to {shown(self.url.join(self.headers['location']))}: use that URL."
        return _ADVICE.get(self.status, "")

    async def _chunks(self) -> AsyncIterator[bytes]:
        try:
            async for data in self._response.aiter_bytes():
                yield data
        except httpx2.HTTPError as error:
            raise failure(self.url, error) from None


_ADVICE = {
    401: " It wants to know who asks: give headers={'Authorization': 'Bearer …'} or auth=…, and in a notebook "
    "--token-env VARIABLE.",
    403: " It knows who asks, or from where, and refuses: check the token's rights, and the server's allowed hosts "
    "and origins.",
    421: " The server does not answer to this host name: add it to its allowed hosts.",
}
"""What can be done about some statuses."""


def shown(url: httpx2.URL) -> str:
    """A URL for a text: without what may be secret in it, the user and the query."""
    text = str(url.copy_with(userinfo=b"", query=None, fragment=None))
    return (text if len(text) <= QUOTED else f"{text[:QUOTED]}…") + ("?…" if url.query else "")


def failure(url: httpx2.URL, error: Exception) -> MCPError:
    """What an exception of httpx2 means."""
    told = str(error) or type(error).__name__
    if isinstance(error, httpx2.LocalProtocolError):  # its own text quotes the header, which may be a secret
        return ConnectError(
            f"There is no way to {shown(url)}: HTTP does not allow such a request. "
            "Is there a line break in one of the headers, or a space around it?"
        )
    if isinstance(error, _NO_WAY):
        advice = "Is the server running, and the URL right?"
        if "CERTIFICATE" in told:
            advice = "If its certificate is of an authority of your own, give verify='AUTHORITIES.pem'."
        return ConnectError(f"There is no way to {shown(url)}: {told}. {advice}")
    return ConnectionLost(f"The connection to {shown(url)} broke: {told.rstrip('.')}.")


_NO_WAY = (
    httpx2.ConnectError,
    httpx2.ConnectTimeout,
    httpx2.ProxyError,
    httpx2.UnsupportedProtocol,
    httpx2.InvalidURL,
)


class _Nobody(httpx2.Auth):
    """Says nothing of who asks; unlike None, also where a client or a URL knows it."""

    def auth_flow(self, request: httpx2.Request) -> Any:
        yield request


_NOBODY = _Nobody()


def _make_client(url: httpx2.URL, options: HttpOptions, limits: Limits) -> httpx2.AsyncClient:
    local = url.host in LOOPBACK
    # Servers commonly let a connection go after five idle seconds; one that is just going must not be used.
    kept = httpx2.Limits(max_connections=None, max_keepalive_connections=100, keepalive_expiry=3.0)
    client = httpx2.AsyncClient(
        headers=dict(options.headers),
        verify=_NO_AUTHORITIES
        if local and url.scheme == "http" and options.verify is True and options.cert is None
        else _tls(options),
        proxy=options.proxy,
        auth=options.auth,
        timeout=httpx2.Timeout(None, connect=limits.connect),
        limits=kept,
        trust_env=not local,  # what runs here is not reached through the environment's proxy
        mounts={"http://": _on_asyncio(kept)} if local and options.proxy is None else None,
    )
    if local:  # what goes without saying is not said there: both sides have work with each header
        for name in {"accept-encoding", "connection"} - {name.lower() for name in options.headers}:
            del client.headers[name]
    return client


def _on_asyncio(limits: httpx2.Limits) -> httpx2.AsyncHTTPTransport:
    transport = httpx2.AsyncHTTPTransport(verify=_NO_AUTHORITIES, trust_env=False)
    # httpcore2 lets one choose the network, but httpx2 has no argument for it.
    transport._pool = httpcore2.AsyncConnectionPool(
        max_connections=limits.max_connections,
        max_keepalive_connections=limits.max_keepalive_connections,
        keepalive_expiry=limits.keepalive_expiry,
        network_backend=Network(),
    )
    return transport


_NO_AUTHORITIES = ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)
"""Trusts no certificate. Reading those that one may trust takes long, and a plain URL of this machine needs none."""


def _tls(options: HttpOptions) -> ssl.SSLContext | bool:
    verify = options.verify
    if not isinstance(verify, (bool, ssl.SSLContext)):
        folder = os.path.isdir(verify)
        verify = ssl.create_default_context(capath=verify if folder else None, cafile=None if folder else verify)
    if options.cert is None:
        return verify
    context = httpx2.create_ssl_context(verify=verify)
    files: list[Any] = [options.cert] if isinstance(options.cert, (str, os.PathLike)) else list(options.cert)
    context.load_cert_chain(*files)
    return context


def _origin(url: httpx2.URL) -> tuple[str, str, int | None]:
    return url.scheme, url.host, url.port or {"http": 80, "https": 443}.get(url.scheme)


def _same_origin(url: httpx2.URL, target: httpx2.URL) -> bool:
    """Whether a redirect stays with whom the request was meant for: the same origin, or its encrypted form."""
    encrypted = target.copy_with(scheme="http", port=None) if target.scheme == "https" and not target.port else target
    return _origin(target) == _origin(url) or _origin(encrypted) == _origin(url)
