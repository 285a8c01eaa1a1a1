"""`read` and `prompt`: what servers have ready."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from typing import Any

from ...errors import SchemaError
from ...render import parts_of
from ...server.uri_template import UriTemplate
from ...types import PromptReference, ResourceTemplateReference
from ..brief import CommandError, hinted
from ..interpolation import Names
from ..uri_templates import expand, variables_of
from ..words import Word
from ..workspace import NOTHING_YET, Member, Workspace, each
from .completing import Completing, writable
from .naming import find
from .table import Command, Invocation, Option, Reply, seconds

_NAMED = re.compile(r"\{[+#./;?&]?[\w.,:*%]+\}")
"""A variable of a template. Braces around anything else would be Python's."""
TIMEOUT = Option("--timeout", "give up after so many seconds of silence", value="SECONDS", read=seconds)


def run_read(invocation: Invocation) -> Reply:
    """Read a resource."""
    words = [word for word in invocation.words if not word.key]
    values = _values(invocation)
    workspace = invocation.workspace
    server = workspace.get(invocation.names.text(words[0])) if len(words) > 1 else None
    if not words or len(words) > 2 or (len(words) == 2 and server is None):
        if len(words) == 2:
            workspace.member(invocation.names.text(words[0]))
        raise CommandError(f"{invocation.command.say_usage()}  %mcp resources lists what there is.")
    member, uri = resource_of(workspace, server, words[-1], values, invocation.names)
    member.check()
    result = workspace.wait(member.client.read_resource(uri, timeout=invocation.options.get("timeout")))
    return Reply(result, parts_of(result))


def resource_of(
    workspace: Workspace, server: Member | None, word: Word, values: Mapping[str, Any], names: Names
) -> tuple[Member, str]:
    """Which server is to be asked for which URI."""
    members = [server] if server is not None else workspace.connected()
    if not members:
        raise CommandError(f"There is nothing to read: {NOTHING_YET}")
    lists = [
        (member, found)
        for member, found in workspace.wait(each(members, "resources", "templates"))
        if isinstance(found, list)
    ]
    for member, (_, templates) in lists:
        if any(word.raw == template.uri_template for template in templates):
            return member, expand(word.raw, values, names)
    uri = names.with_values(values).text(word)
    if server is not None:
        return server, uri
    having = [member for member, (resources, _) in lists if any(uri == resource.uri for resource in resources)]
    having = having or [m for m, (_, templates) in lists if any(_matches(each.uri_template, uri) for each in templates)]
    having = having or [member for member, found in lists if any(found)] or members
    if len(having) == 1:
        return having[0], uri
    which = " or ".join(f"%mcp read {member.name} {word.raw}" for member in having)
    known = [resource.uri for _, (resources, _) in lists for resource in resources]
    raise CommandError(f"{hinted(f'Which server has {uri!r} is not known', uri, known)} Write {which}.")


def _matches(template: str, uri: str) -> bool:
    try:
        return UriTemplate(template).match(uri) is not None
    except SchemaError:
        return False


def run_prompt(invocation: Invocation) -> Reply:
    """Get the messages of a prompt."""
    words = [word for word in invocation.words if not word.key]
    if len(words) != 1 or invocation.words[0] is not words[0]:
        raise CommandError(f"{invocation.command.say_usage()}  %mcp prompts lists them.")
    found = find(invocation.workspace, "prompts", invocation.names.text(words[0]))
    values = {key: str(value) for key, value in _values(invocation).items()}
    arguments = {argument.name: argument.required for argument in found.item.arguments or []}
    for key in values:
        if key not in arguments:
            takes = f"It takes {', '.join(arguments)}." if arguments else "It takes none."
            missing = hinted(f"{found.item.name} has no argument {key!r}", key, arguments)
            raise CommandError(f"{missing} {takes}")
    missing = [name for name, required in arguments.items() if required and name not in values]
    if missing:
        raise CommandError(f"{found.item.name} needs {', '.join(f'{name}=…' for name in missing)}")
    client = found.member.client
    result = invocation.workspace.wait(
        client.get_prompt(found.item.name, values, timeout=invocation.options.get("timeout"))
    )
    return Reply(result, parts_of(result))


def _values(invocation: Invocation) -> dict[str, Any]:
    """The `key=value` words; a value that is nothing but a Python expression stays as it is."""
    names = invocation.names
    return {
        word.key: names.evaluate(word.expression) if word.expression else names.value_text(word)
        for word in invocation.words
        if word.key
    }


def complete_read(completing: Completing) -> Iterable[str]:
    """Servers and URIs; behind a template its variables, and what the server suggests for them."""
    words = completing.words
    named = completing.workspace.get(words[0].raw) if words else None
    members = [named] if named is not None else completing.workspace.connected()
    templates = [one for one in completing.offered("templates") if one.member in members]
    chosen = [one for one in templates if any(one.item.uri_template == word.raw for word in words)]
    if chosen:
        if completing.key is None:
            return completing.keys(variables_of(chosen[0].item.uri_template))
        return completing.suggested(chosen[0], ResourceTemplateReference(uri=chosen[0].item.uri_template))
    if len(words) > 1 or (words and named is None):
        return []
    resources = [one.item.uri for one in completing.offered("resources") if one.member in members]
    servers = completing.workspace.names if not words else []
    return [
        *servers,
        *filter(writable, resources),
        *(uri for one in templates if writable(_NAMED.sub("", uri := one.item.uri_template))),
    ]


def complete_prompt(completing: Completing) -> Iterable[str]:
    """Prompts; then the arguments of the one that was named, and what the server suggests for them."""
    if not completing.words:
        return completing.names_of("prompts")
    found = completing.found("prompts")
    if found is None:
        return []
    if completing.key is None:
        return completing.keys(argument.name for argument in found.item.arguments or [])
    return completing.suggested(found, PromptReference(name=found.item.name))


READ = Command(
    name="read",
    usage="[NAME] URI [variable=value …]",
    summary="read a resource",
    about="A template's variables are given behind it, or are the notebook's variables of the same names.",
    examples=(
        "%mcp read demo://resource/static/document/features.md",
        "page = %mcp read everything demo://resource/dynamic/text/{resourceId} resourceId=3",
    ),
    options=(TIMEOUT,),
    run=run_read,
    complete=complete_read,
)

PROMPT = Command(
    name="prompt",
    usage="[NAME.]PROMPT [key=value …]",
    summary="get the messages of a prompt",
    examples=("%mcp prompt everything.args-prompt city=Oslo",),
    options=(TIMEOUT,),
    run=run_prompt,
    complete=complete_prompt,
)
