"""Resources, templates of resources, subscriptions."""

from __future__ import annotations

import base64
import threading
from dataclasses import dataclass
from typing import Any

import pytest

from mcp_notebook import Limits, SchemaError, Server
from mcp_notebook.jsonrpc import INVALID_PARAMS
from mcp_notebook.server.uri_template import UriTemplate
from mcp_notebook.types import Annotations, ReadResourceResult, ResourceContents

from ..scripted import until
from .visiting import visiting

pytestmark = pytest.mark.anyio


@dataclass
class Point:
    x: int
    y: int


class Picture:
    def _repr_png_(self) -> bytes:
        return b"\x89PNG"


def blob(data: bytes) -> str:
    return base64.b64encode(data).decode()


async def test_a_resource_is_listed_with_all_that_is_said_of_it() -> None:
    server = Server("demo")

    @server.resource("a:b", title="T", mime_type="text/markdown", size=5, annotations=Annotations(audience=["user"]))
    def note() -> str:
        "A note."
        return "# x"

    async with visiting(server) as visitor:
        (resource,) = (await visitor.ask("resources/list"))["resources"]
        assert resource == {
            "name": "note",
            "title": "T",
            "uri": "a:b",
            "description": "A note.",
            "mimeType": "text/markdown",
            "annotations": {"audience": ["user"]},
            "size": 5,
        }
        assert (await visitor.ask("resources/read", uri="a:b"))["contents"] == [
            {"uri": "a:b", "mimeType": "text/markdown", "text": "# x"}
        ]


@pytest.mark.parametrize(
    ("value", "contents"),
    [
        ("text", {"mimeType": "text/plain", "text": "text"}),
        (b"\x00\xff", {"mimeType": "application/octet-stream", "blob": blob(b"\x00\xff")}),
        (Picture(), {"mimeType": "image/png", "blob": blob(b"\x89PNG")}),
        ({"a": [1, None]}, {"mimeType": "application/json", "text": '{\n  "a": [\n    1,\n    null\n  ]\n}'}),
        (Point(1, 2), {"mimeType": "application/json", "text": '{\n  "x": 1,\n  "y": 2\n}'}),
        (None, {"mimeType": "application/json", "text": "null"}),
        ([], {"mimeType": "application/json", "text": "[]"}),
    ],
    ids=repr,
)
async def test_whatever_a_resource_returns_is_told(value: Any, contents: Any) -> None:
    server = Server("demo")
    server.resource("a:b", name="r")(lambda: value)
    async with visiting(server) as visitor:
        assert (await visitor.ask("resources/read", uri="a:b"))["contents"] == [{"uri": "a:b", **contents}]


@pytest.mark.parametrize("form", ["result", "contents", "list"])
async def test_contents_may_be_given_as_they_shall_stand(form: str) -> None:
    one = ResourceContents(uri="a:c", text="x", meta={"a": 1})
    server = Server("demo")
    server.resource("a:b", name="r")(
        lambda: {"result": ReadResourceResult(contents=[one]), "contents": one, "list": [one]}[form]
    )
    async with visiting(server) as visitor:
        assert (await visitor.ask("resources/read", uri="a:b"))["contents"] == [
            {"uri": "a:c", "text": "x", "_meta": {"a": 1}}
        ]


async def test_an_unknown_resource_is_refused_with_its_uri() -> None:
    async with visiting(Server("demo")) as visitor:
        error = await visitor.refused("resources/read", uri="a:b")
        assert (error.code, error.message, error.data) == (-32002, "Resource not found: a:b", {"uri": "a:b"})


# Templates


async def test_variables_of_a_template_are_the_parameters_converted_to_their_types() -> None:
    server = Server("demo")

    @server.resource("notes://{user}/{number}")
    def note(user: str, number: int) -> str:
        return f"{user!r} {number!r}"

    async with visiting(server) as visitor:
        (template,) = (await visitor.ask("resources/templates/list"))["resourceTemplates"]
        assert (template["uriTemplate"], template["name"]) == ("notes://{user}/{number}", "note")
        assert (await visitor.ask("resources/list"))["resources"] == []
        result = await visitor.ask("resources/read", uri="notes://Ada%20L/7")
        assert result["contents"] == [{"uri": "notes://Ada%20L/7", "mimeType": "text/plain", "text": "'Ada L' 7"}]


async def test_a_variable_that_does_not_fit_its_type_is_refused() -> None:
    server = Server("demo")
    server.resource("a:{n}", name="r")(number)
    async with visiting(server) as visitor:
        error = await visitor.refused("resources/read", uri="a:many")
        assert error.code == INVALID_PARAMS
        assert "a:many" in error.message


def number(n: int) -> str:
    return str(n)


async def test_a_listed_resource_comes_before_a_template_that_fits() -> None:
    server = Server("demo")
    server.resource("a:{x}", name="family")(lambda x: f"template {x}")
    server.resource("a:b", name="one")(lambda: "listed")
    async with visiting(server) as visitor:
        assert (await visitor.ask("resources/read", uri="a:b"))["contents"][0]["text"] == "listed"
        assert (await visitor.ask("resources/read", uri="a:c"))["contents"][0]["text"] == "template c"


def test_a_variable_without_a_parameter_is_an_error_of_the_author() -> None:
    with pytest.raises(SchemaError, match=r"variable 'y', but .* has no such parameter"):
        Server("demo").resource("a:{x}/{y}")(lambda x: x)


def test_a_parameter_without_a_variable_is_an_error_of_the_author_unless_it_has_a_default() -> None:
    with pytest.raises(SchemaError, match=r"needs 'y', which the URI 'a:{x}' does not have"):
        Server("demo").resource("a:{x}")(lambda x, y: x)
    with pytest.raises(SchemaError, match="needs 'y'"):
        Server("demo").resource("a:b")(lambda y: y)
    Server("demo").resource("a:{x}")(lambda x, y=1: x)


@pytest.mark.parametrize(
    ("template", "uri", "values"),
    [
        ("notes://{id}", "notes://a", {"id": "a"}),
        ("notes://{id}", "notes://a%2Fb%20c", {"id": "a/b c"}),
        ("notes://{id}", "notes://a/b", None),
        ("notes://{id}", "notes://", None),
        ("notes://{id}", "other://a", None),
        ("a.b://{id}", "axb://1", None),
        ("x://{a}/{b}", "x://1/2", {"a": "1", "b": "2"}),
        ("x://{a}-{b}", "x://1-2", {"a": "1", "b": "2"}),
        ("x://{a}-{b}", "x://1-2-3", {"a": "1", "b": "2-3"}),
        ("x://{a}--{b}", "x://1-2--3", {"a": "1-2", "b": "3"}),
        ("x://{a}-{b}/{c}", "x://1-2/3-4", {"a": "1", "b": "2", "c": "3-4"}),
        ("x://{name}.json", "x://a.b.json", {"name": "a.b"}),
        ("x://{+path}/{name}", "x://a/b/c", {"path": "a/b", "name": "c"}),
        ("x://{a,b}", "x://1,2", {"a": "1", "b": "2"}),
        ("x://{a}{/b}{.c}", "x://1/2.3", {"a": "1", "b": "2", "c": "3"}),
        ("x://y{;p,q}", "x://y;p=;q=2", {"p": "", "q": "2"}),
        ("file:///{+path}", "file:///a/b.txt", {"path": "a/b.txt"}),
        ("file:///{path*}", "file:///a", {"path": "a"}),
        ("x://y{#part}", "x://y#z", {"part": "z"}),
        ("x://y{/a,b}", "x://y/1/2", {"a": "1", "b": "2"}),
        ("x://y{.ending}", "x://y.txt", {"ending": "txt"}),
        ("x://y{;p}", "x://y;p=1", {"p": "1"}),
        ("x://y{?q,limit}", "x://y?q=a%20b&limit=3", {"q": "a b", "limit": "3"}),
        ("x://y{?q,limit}", "x://y?limit=3", {"limit": "3"}),
        ("x://y{?q,limit}", "x://y", {}),
        ("x://y{?q}", "x://y?q=1&other=2", {"q": "1"}),
        ("x://y?fixed=1{&more}", "x://y?fixed=1&more=2", {"more": "2"}),
        ("x://{a}{?q}", "x://1?q=2", {"a": "1", "q": "2"}),
        ("x://y", "x://y", {}),
        ("x://ü/{a}", "x://ü/ä", {"a": "ä"}),
    ],
)
def test_a_template_is_read_backwards(template: str, uri: str, values: dict[str, str] | None) -> None:
    assert UriTemplate(template).match(uri) == values


@pytest.mark.parametrize(
    "template", ["{", "}", "a{", "{a", "{}", "{a b}", "{a}{a}", "{?a}{b}", "{1a}", "{a{b}}", "{!a}"]
)
def test_what_is_no_template_is_an_error_of_the_author(template: str) -> None:
    with pytest.raises(SchemaError, match="template"):
        UriTemplate(template)


def test_a_uri_of_many_separators_is_read_in_no_time_and_a_longer_one_not_at_all() -> None:
    pattern = UriTemplate("x://{a}-{b}-{c}--{d}-{e}.{f}/{+g}/end")
    assert pattern.match("x://" + "-" * 8000) is None
    assert pattern.match("x://" + "a-." * 2500) is None
    assert UriTemplate("x://{+a}").match("x://" + "a" * 1_000_000) is None


# Subscriptions


async def test_subscribers_and_nobody_else_hear_that_a_resource_changed() -> None:
    server = Server("demo")
    async with visiting(server) as one, visiting(server) as two:
        assert await one.ask("resources/subscribe", uri="a:b") == {}
        await two.ask("resources/subscribe", uri="a:c")
        server.notify_resource_updated("a:b")
        await one.settle()
        await two.settle()
        assert one.heard("notifications/resources/updated") == [{"uri": "a:b"}]
        assert two.heard("notifications/resources/updated") == []
        assert await one.ask("resources/unsubscribe", uri="a:b") == {}
        server.notify_resource_updated("a:b")
        await one.settle()
        assert len(one.told) == 1


async def test_a_change_can_be_told_from_another_thread() -> None:
    server = Server("demo")
    async with visiting(server) as visitor:
        await visitor.ask("resources/subscribe", uri="a:b")
        threading.Thread(target=server.notify_resource_updated, args=["a:b"]).start()
        await until(lambda: visitor.heard("notifications/resources/updated"))


async def test_unsubscribing_from_nothing_is_no_error() -> None:
    async with visiting(Server("demo")) as visitor:
        assert await visitor.ask("resources/unsubscribe", uri="a:b") == {}


async def test_there_are_no_more_subscriptions_than_the_limit() -> None:
    async with visiting(Server("demo", limits=Limits(subscriptions=2))) as visitor:
        for uri in ("a:1", "a:2", "a:2"):
            await visitor.ask("resources/subscribe", uri=uri)
        error = await visitor.refused("resources/subscribe", uri="a:3")
        assert error.code == INVALID_PARAMS
        assert "More than 2 subscriptions" in error.message
