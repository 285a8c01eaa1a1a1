"""Prompts, and suggestions for arguments."""

from __future__ import annotations

from enum import Enum
from typing import Any, Literal

import pytest

from mcp_notebook import Server
from mcp_notebook.jsonrpc import INVALID_PARAMS
from mcp_notebook.types import GetPromptResult, ImageContent, PromptMessage, TextContent

from .visiting import Visitor, visiting

pytestmark = pytest.mark.anyio


class Colour(Enum):
    RED = "red"
    ROSE = "rose"
    BLUE = "blue"


def said(role: str, text: str) -> dict[str, Any]:
    return {"role": role, "content": {"type": "text", "text": text}}


async def test_a_prompt_is_listed_with_its_arguments() -> None:
    server = Server("demo")

    @server.prompt(title="Greeting")
    def greet(name: str, times: int = 1) -> str:
        """Greet somebody.

        Args:
            name: whom
        """
        return " ".join(["Hello", name] * times)

    async with visiting(server) as visitor:
        (prompt,) = (await visitor.ask("prompts/list"))["prompts"]
        assert prompt == {
            "name": "greet",
            "title": "Greeting",
            "description": "Greet somebody.",
            "arguments": [
                {"name": "name", "description": "whom", "required": True},
                {"name": "times", "required": False},
            ],
        }
        result = await visitor.ask("prompts/get", name="greet", arguments={"name": "Ada", "times": "2"})
        assert result == {"description": "Greet somebody.", "messages": [said("user", "Hello Ada Hello Ada")]}


@pytest.mark.parametrize(
    ("value", "messages"),
    [
        ("x", [said("user", "x")]),
        (["x", "y"], [said("user", "x"), said("user", "y")]),
        (PromptMessage(role="assistant", content=TextContent(text="x")), [said("assistant", "x")]),
        ({"role": "assistant", "content": "x"}, [said("assistant", "x")]),
        (said("assistant", "x"), [said("assistant", "x")]),
        ([TextContent(text="x")], [said("user", "x")]),
        (
            ImageContent(data="AA==", mime_type="image/png"),
            [{"role": "user", "content": {"type": "image", "data": "AA==", "mimeType": "image/png"}}],
        ),
        ({"a": 1}, [said("user", '{\n  "a": 1\n}')]),
        (GetPromptResult(messages=[]), []),
        ([], []),
    ],
    ids=repr,
)
async def test_whatever_a_prompt_returns_becomes_messages(value: Any, messages: Any) -> None:
    server = Server("demo")
    server.prompt(name="p")(lambda: value)
    async with visiting(server) as visitor:
        assert (await visitor.ask("prompts/get", name="p"))["messages"] == messages


@pytest.mark.parametrize("arguments", [{}, {"name": "x", "times": "many"}, {"name": "x", "more": "y"}])
async def test_arguments_that_do_not_fit_are_refused_with_what_is_wrong(arguments: Any) -> None:  # VAL-2
    server = Server("demo")

    @server.prompt
    def greet(name: str, times: int = 1) -> str:
        return name

    async with visiting(server) as visitor:
        error = await visitor.refused("prompts/get", name="greet", arguments=arguments)
        assert error.code == INVALID_PARAMS
        assert "greet" in error.message


@pytest.mark.parametrize("arguments", [{"name": 5}, ["x"], "x"])
async def test_arguments_that_are_no_texts_are_refused(arguments: Any) -> None:
    server = Server("demo")
    server.prompt(name="p")(lambda name: name)
    async with visiting(server) as visitor:
        assert (await visitor.refused("prompts/get", name="p", arguments=arguments)).code == INVALID_PARAMS


async def test_an_unknown_prompt_is_refused_with_a_hint() -> None:
    server = Server("demo")
    server.prompt(name="greet")(lambda: "x")
    async with visiting(server) as visitor:
        error = await visitor.refused("prompts/get", name="great")
        assert error.code == INVALID_PARAMS
        assert error.message == "Unknown prompt: great. Did you mean greet?"


# Completion


async def complete(visitor: Visitor, ref: str, argument: str, value: str, **context: Any) -> Any:
    kind = {"type": "ref/resource", "uri": ref} if ":" in ref else {"type": "ref/prompt", "name": ref}
    answer = await visitor.ask("completion/complete", ref=kind, argument={"name": argument, "value": value}, **context)
    return answer["completion"]


async def test_a_function_suggests_values_from_what_stands_there_and_from_the_other_arguments() -> None:
    server = Server("demo")

    @server.prompt
    def visit(country: str, city: str) -> str:
        return city

    @server.completion("visit", "country")
    def countries(value: str) -> list[str]:
        return [name for name in ("France", "Finland", "Peru") if name.startswith(value)]

    @server.completion("visit", "city")
    async def cities(value: str, others: dict[str, str]) -> Any:
        return (f"{others.get('country', '?')}-{number}" for number in range(2))

    async with visiting(server) as visitor:
        assert await complete(visitor, "visit", "country", "F") == {
            "values": ["France", "Finland"],
            "total": 2,
            "hasMore": False,
        }
        assert (await complete(visitor, "visit", "city", ""))["values"] == ["?-0", "?-1"]
        given = {"context": {"arguments": {"country": "Peru"}}}
        assert (await complete(visitor, "visit", "city", "", **given))["values"] == ["Peru-0", "Peru-1"]


async def test_values_that_a_type_allows_suggest_themselves() -> None:
    server = Server("demo")

    @server.prompt
    def paint(colour: Colour, size: Literal["small", "large"], fast: bool = False) -> str:
        return "x"

    @server.resource("a:{size}")
    def of(size: Literal["small", "large"]) -> str:
        return size

    async with visiting(server) as visitor:
        assert (await complete(visitor, "paint", "colour", "r"))["values"] == ["red", "rose"]
        assert (await complete(visitor, "paint", "size", "L"))["values"] == ["large"]
        assert (await complete(visitor, "paint", "fast", ""))["values"] == ["true", "false"]
        assert (await complete(visitor, "a:{size}", "size", "s"))["values"] == ["small"]


async def test_a_function_counts_more_than_a_type() -> None:
    server = Server("demo")
    server.completion("paint", "colour")(lambda value: ["own"])

    @server.prompt
    def paint(colour: Colour) -> str:
        return "x"

    async with visiting(server) as visitor:
        assert (await complete(visitor, "paint", "colour", ""))["values"] == ["own"]


async def test_no_more_than_a_hundred_are_sent_and_how_many_there_are() -> None:
    server = Server("demo")
    server.prompt(name="p")(lambda n: n)
    server.completion("p", "n")(lambda value: range(250))
    async with visiting(server) as visitor:
        found = await complete(visitor, "p", "n", "")
        assert (len(found["values"]), found["total"], found["hasMore"]) == (100, 250, True)
        assert found["values"][0] == "0"


async def test_where_nothing_is_known_nothing_is_suggested() -> None:
    server = Server("demo")
    server.prompt(name="p")(lambda n: n)
    server.resource("a:b", name="r")(lambda: "x")
    async with visiting(server) as visitor:
        for ref, argument in (("p", "n"), ("p", "unknown"), ("a:b", "x")):
            assert (await complete(visitor, ref, argument, ""))["values"] == []


@pytest.mark.parametrize("ref", ["unknown", "a:unknown", "a:{x}"])
async def test_completing_for_what_is_not_there_is_refused(ref: str) -> None:
    async with visiting(Server("demo")) as visitor:
        kind = {"type": "ref/resource", "uri": ref} if ":" in ref else {"type": "ref/prompt", "name": ref}
        error = await visitor.refused("completion/complete", ref=kind, argument={"name": "a", "value": ""})
        assert error.code == INVALID_PARAMS


@pytest.mark.parametrize(
    "params", [{}, {"ref": {"type": "ref/tool", "name": "x"}, "argument": {"name": "a", "value": ""}}]
)
async def test_a_broken_request_for_suggestions_is_refused(params: Any) -> None:
    async with visiting(Server("demo")) as visitor:
        assert (await visitor.refused("completion/complete", **params)).code == INVALID_PARAMS
