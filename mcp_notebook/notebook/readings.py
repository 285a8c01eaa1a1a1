"""What is read: a resource, one of those that a template describes, a prompt; and what has to be given for it."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Mapping
from contextlib import suppress
from dataclasses import dataclass
from typing import Any

from ..errors import MCPError
from ..render import parts_of
from ..render.parts import Part
from ..types import Prompt, PromptReference, Resource, ResourceTemplate, ResourceTemplateReference
from .interpolation import Names
from .uri_templates import expand, variables_of
from .workspace import Member

SUGGESTING = 1.0
"""Seconds that a server is given to suggest values."""
SUGGESTED = 5
"""How many of them are told."""


@dataclass(frozen=True, slots=True)
class Reading:
    """Something to be read.

    Attributes:
        name: what it is called.
        description: what the server says of it.
        verb: what is done with it.
        schema: what has to be given for it: an object of texts.
        read: reads it with that.
    """

    name: str
    description: str
    verb: str
    schema: dict[str, Any]
    read: Callable[[Mapping[str, str]], Awaitable[list[Part]]]


async def reading_of(member: Member, item: Resource | ResourceTemplate | Prompt) -> Reading:
    """How something that a server offers is read. On the background loop.

    Args:
        member: the server.
        item: what it offers.
    """
    client = member.client

    async def resource(_: Mapping[str, str]) -> list[Part]:
        return parts_of(await client.read_resource(item.uri))  # pyright: ignore[reportAttributeAccessIssue]

    async def of_template(values: Mapping[str, str]) -> list[Part]:
        return parts_of(await client.read_resource(expand(template, values, Names({}))))

    async def prompt(values: Mapping[str, str]) -> list[Part]:
        return parts_of(await client.get_prompt(item.name, values))

    about = item.description or ""
    if isinstance(item, Resource):
        return Reading(item.name, about, "Read", {"type": "object", "properties": {}}, resource)
    if isinstance(item, ResourceTemplate):
        template = item.uri_template
        asked = {name: ("", needed) for name, needed in variables_of(template).items()}
        schema = await _schema(member, ResourceTemplateReference(uri=template), asked)
        return Reading(item.name, "\n".join(filter(None, (about, template))), "Read", schema, of_template)
    asked = {one.name: (one.description or "", bool(one.required)) for one in item.arguments or ()}
    return Reading(item.name, about, "Get", await _schema(member, PromptReference(name=item.name), asked), prompt)


async def _schema(member: Member, of: Any, asked: Mapping[str, tuple[str, bool]]) -> dict[str, Any]:
    """An object of texts: their names -> what the server says of them, and whether they are needed."""
    suggested = await asyncio.gather(*(_suggested(member, of, name) for name in asked))
    properties = {
        name: {"type": "string", "description": "\n".join(filter(None, (about, such_as)))}
        for (name, (about, _)), such_as in zip(asked.items(), suggested, strict=True)
    }
    return {"type": "object", "properties": properties, "required": [name for name, (_, need) in asked.items() if need]}


async def _suggested(member: Member, of: Any, name: str) -> str:
    """What the server suggests for an argument, if it does so soon."""
    with suppress(MCPError, TimeoutError):
        async with asyncio.timeout(SUGGESTING):
            values = (await member.client.complete(of, name)).values
            more = ", …" if len(values) > SUGGESTED else ""
            return f"such as {', '.join(values[:SUGGESTED])}{more}" if values else ""
    return ""
