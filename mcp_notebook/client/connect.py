"""`connect`: the way to a `Client`."""

from __future__ import annotations

import asyncio
import dataclasses
from collections.abc import Callable, Generator, Mapping, Sequence
from pathlib import Path
from typing import Any

from ..home import Home, current_home
from ..jsonrpc import Notification
from ..limits import DEFAULT_LIMITS, Limits
from ..protocol.negotiation import known_revision
from ..transports.http.options import HttpOptions
from ..types import ElicitParams, ElicitResult, Implementation
from .answering import Answering, Elicitation, Roots, Sampling
from .calls import CallHandle
from .client import Client, ClientOptions
from .targets import destination
from .visits import visiting_by


def connect(
    target: Any,
    *,
    name: str | None = None,
    env: Mapping[str, str] | None = None,
    cwd: str | Path | None = None,
    timeout: float | None = None,
    revision: str | None = None,
    headers: Mapping[str, str] | None = None,
    verify: Any = True,
    cert: Any = None,
    proxy: str | None = None,
    auth: Any = None,
    http_client: Any = None,
    roots: Roots | None = None,
    elicitation: Elicitation | None = None,
    url_elicitation: Callable[[ElicitParams], Any] | None = None,
    sampling: Sampling | None = None,
    on_notification: Callable[[Notification], None] | None = None,
    client_info: Implementation | None = None,
    trust: bool = False,
    keep: str | None = None,
    remember_arguments: bool = False,
    left: Sequence[CallHandle] = (),
    limits: Limits = DEFAULT_LIMITS,
) -> Connecting:
    """Connect to a server: `client = await connect(...)`, or `async with connect(...) as client:`.

    Args:
        target: a command (a list of words, a `Command`, or a line), a URL, a `Server` of this process, or an entry of
            an `mcp.json` file.
        name: what to call the server here.
        env: additions to the environment of a command.
        cwd: the folder a command runs in.
        timeout: seconds of silence after which a request is given up; 60 by default.
        revision: the protocol revision to speak; found out by default.
        headers: HTTP headers to send with every request to a URL, such as an Authorization.
        verify: how TLS certificates are checked: True, False, a file of authorities, or an `ssl.SSLContext`.
        cert: the client's own TLS certificate, as httpx2 takes it.
        proxy: the URL of a proxy.
        auth: anything httpx2 takes as `auth`.
        http_client: an `httpx2.AsyncClient` of your own in place of one made of all this.
        roots: folders that the server may work in, or a function that gives them.
        elicitation: answers the server's questions: takes `ElicitParams`, gives a dict of values to accept, an
            `ElicitResult`, or None to cancel. In a notebook the person is asked by default.
        url_elicitation: asks the person whether a URL may be opened, and has it opened where they agree: takes
            `ElicitParams` with `.url` and `.message`; gives True, False to decline, or None to cancel. Nothing else
            opens it, or fetches anything of it.
        sampling: stands for a language model: takes `CreateMessageParams`, gives text or a `CreateMessageResult`.
        on_notification: told of each notification of the server's; it must not block.
        client_info: how to introduce oneself.
        trust: in a notebook, a command may start where nobody can be asked; where somebody can, they are (CON-3).
        keep: a name under which the server that a command starts outlives this program. Whoever connects to the same
            command with the same name meets the same process; one at a time, and the newest wins. It ends when nobody
            has been connected for `Limits.relay_keep`. (Not on Windows.)
        remember_arguments: in a notebook, the journal of calls under way keeps what they were called with, too.
        left: calls that another process has left, to be resumed here.
        limits: the bounds to keep.

    Raises:
        ConnectError: there is nothing to connect to, or no connection could be made.
        ConsentDenied: in a notebook, the person did not let the command start.
        NegotiationError: no revision is common, or `revision` is none.
    """
    if revision is not None:
        known_revision(revision)
    http = HttpOptions(headers=headers or {}, verify=verify, cert=cert, proxy=proxy, auth=auth, client=http_client)
    where = destination(target, env=env, cwd=cwd, http=http, keep=keep, keep_for=limits.relay_keep)
    options = ClientOptions(
        answering=Answering(
            roots=roots,
            elicitation=elicitation,
            sampling=sampling,
            visiting=None if url_elicitation is None else visiting_by(url_elicitation, limits),
        ),
        timeout=timeout,
        revision=revision,
        limits=limits,
        info=client_info,
        on_notification=on_notification,
        trust=trust,
        remember_arguments=remember_arguments,
        left=left,
    )
    return Connecting(
        lambda home: Client(name or where.name, where, home, _with_host(options, home, name or where.name))
    )


class Connecting:
    """A connection to be made: await it for the client, or use it as an asynchronous context."""

    def __init__(self, make: Callable[[Home], Client]) -> None:
        self._make = make
        self._client: Client | None = None

    def __await__(self) -> Generator[Any, None, Client]:
        return self._open().__await__()

    async def __aenter__(self) -> Client:
        self._client = await self._open()
        return self._client

    async def __aexit__(self, *_: object) -> None:
        if self._client is not None:
            await self._client.close()

    def __getattr__(self, name: str) -> Any:
        raise AttributeError(
            f"This is no client yet, so it has no {name!r}: write `client = await connect(...)`, "
            "or `async with connect(...) as client:`."
        )

    def __repr__(self) -> str:
        return "<a connection that is not made yet: `client = await connect(...)`>"

    async def _open(self) -> Client:
        return await self._make(current_home()).open()


def _with_host(options: ClientOptions, home: Home, server: str) -> ClientOptions:
    """Where the place has a person to ask, and the caller gave no function in their place, the person is asked."""
    host, answering = home.host, options.answering
    if host is None or answering.elicitation is not None:
        return options

    async def ask(params: ElicitParams) -> Any:
        return await host.elicit(server, params)

    async def visit(params: ElicitParams, done: asyncio.Event, wait: bool) -> ElicitResult:
        return await host.visit(server, params, done, wait)

    asked = dataclasses.replace(answering, elicitation=ask, visiting=answering.visiting or visit)
    return dataclasses.replace(options, answering=asked)
