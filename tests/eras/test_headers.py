"""What HTTP headers say beside the body in 2026-07-28, and that it is checked."""

from __future__ import annotations

import base64
from typing import Annotated, Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from pydantic import Field

from mcp_notebook import ProtocolError, SchemaError, Server, connect
from mcp_notebook.protocol.headers import annotated, decoded, encoded

from ..transports.http.asgi import Asking, headers_of
from ..transports.http.loopback import DISCOVERED, TEXT, Asked, Puppet, listening, modern, reply, result
from .far import call

pytestmark = pytest.mark.anyio

EXAMPLES = [
    ("us-west1", "us-west1"),
    ("Hello, 世界", "=?base64?SGVsbG8sIOS4lueVjA==?="),
    (" padded ", "=?base64?IHBhZGRlZCA=?="),
    ("line1\nline2", "=?base64?bGluZTEKbGluZTI=?="),
    ("=?base64?literal?=", "=?base64?PT9iYXNlNjQ/bGl0ZXJhbD89?="),
]
"""The specification's own ("Value Encoding")."""


# Encoding


@pytest.mark.parametrize(("value", "header"), EXAMPLES)
def test_the_examples_of_the_specification_byte_for_byte(value: str, header: str) -> None:
    assert encoded(value) == header
    assert decoded(header) == value


@pytest.mark.parametrize(
    ("value", "header"),
    [
        (True, "true"),
        (False, "false"),
        (42, "42"),
        (-7, "-7"),
        (0, "0"),
        (2**53 - 1, "9007199254740991"),
        ("", ""),
        ("a b", "a b"),
        ("a\tb", "a\tb"),
        ("=?base64?", "=?base64?"),
        ("=?BASE64?x?=", "=?BASE64?x?="),
        ("x=?base64?x?=", "x=?base64?x?="),
        ("a\x7fb", "=?base64?YX9i?="),
        ("a\0b", "=?base64?YQBi?="),
        ("\t", "=?base64?CQ==?="),
    ],
)
def test_values_are_plain_where_that_is_safe(value: str | int | bool, header: str) -> None:
    assert encoded(value) == header


@given(st.text(st.characters(blacklist_categories=("Cs",))))
def test_any_text_survives_and_is_safe_in_a_header(text: str) -> None:
    header = encoded(text)
    assert decoded(header) == text
    assert all(0x20 <= ord(letter) <= 0x7E or letter == "\t" for letter in header)
    assert header == header.strip()


@pytest.mark.parametrize("number", [2**53, -(2**53), 10**30])
def test_a_number_that_not_every_reader_can_hold_is_refused(number: int) -> None:
    with pytest.raises(ValueError, match=r"2\*\*53"):
        encoded(number)


@pytest.mark.parametrize(
    "header", ["ä", "a\nb", "a\0", "=?base64?*?=", "=?base64?YQ?=", "=?base64?/w==?=", "=?base64?YQ==YQ==?=", "\x7f"]
)
def test_a_header_that_cannot_be_read_is_an_error(header: str) -> None:
    with pytest.raises(ValueError, match=r"invalid characters|broken"):
        decoded(header)


# Which arguments are to be said

STRING = {"type": "string"}


def schema(**properties: Any) -> dict[str, Any]:
    return {"type": "object", "properties": properties}


def named(name: Any, type: Any = "string", **more: Any) -> dict[str, Any]:
    return {"type": type, "x-mcp-header": name, **more}


def test_annotated_arguments_are_found_at_any_depth_of_properties() -> None:
    inner = schema(c=named("Deep", "boolean"))
    assert annotated(schema(a=named("Region"), b=inner, n=named("Number", "integer"), x=STRING)) == {
        "mcp-param-region": ("a",),
        "mcp-param-deep": ("b", "c"),
        "mcp-param-number": ("n",),
    }


def test_a_property_that_is_called_so_is_no_annotation() -> None:
    assert annotated(schema(**{"x-mcp-header": STRING})) == {}
    assert annotated(schema(a={"type": "object", "properties": {"x-mcp-header": named("A")}})) == {
        "mcp-param-a": ("a", "x-mcp-header")
    }
    assert annotated({"$defs": {"x-mcp-header": STRING}, **schema(a=STRING)}) == {}


def test_what_stands_in_values_is_no_annotation() -> None:
    value = {"x-mcp-header": "Region"}
    for key in ("default", "const", "examples", "enum"):
        given = [value] if key in ("examples", "enum") else value
        assert annotated(schema(a={"type": "object", key: given})) == {}


@pytest.mark.parametrize(
    "broken",
    [
        schema(a=named("")),
        schema(a=named("two words")),
        schema(a=named("a:b")),
        schema(a=named("ä")),
        schema(a=named("a\r\nb")),
        schema(a=named("a\n")),
        schema(a=named(7)),
        schema(a=named(None)),
        schema(a=named("A", "number")),
        schema(a=named("A", "object")),
        schema(a=named("A", "array")),
        schema(a=named("A", ["string", "null"])),
        schema(a={"x-mcp-header": "A"}),
        schema(a=named("Same"), b=named("sAME")),
        schema(a={"type": "array", "items": named("A")}),
        schema(a={"anyOf": [named("A"), {"type": "null"}]}),
        schema(a={"oneOf": [named("A")]}),
        schema(a={"allOf": [schema(b=named("A"))]}),
        schema(a={"not": named("A")}),
        schema(a={"type": "object", "additionalProperties": named("A")}),
        schema(a={"type": "object", "patternProperties": {"x": named("A")}}),
        {**schema(a={"$ref": "#/$defs/x"}), "$defs": {"x": named("A")}},
        {**schema(a=STRING), "if": schema(a=named("A"))},
        {**schema(a=STRING), "then": schema(a=named("A"))},
        {**schema(a=STRING), "dependentSchemas": {"a": schema(b=named("A"))}},
        {**schema(a=STRING), "x-mcp-header": "A"},
    ],
)
def test_annotations_where_none_may_be_are_errors(broken: dict[str, Any]) -> None:
    with pytest.raises(SchemaError, match="x-mcp-header"):
        annotated(broken)


# Serving


def a_server() -> Server:
    server = Server("demo")

    @server.tool
    async def query(
        sql: str,
        region: Annotated[str | None, Field(json_schema_extra={"x-mcp-header": "Region", "type": "string"})] = None,
    ) -> str:
        return f"{region}: {sql}"

    nested = {
        "type": "object",
        "properties": {
            "place": {"type": "object", "properties": {"zone": named("Zone", "integer")}},
            "dry": named("Dry", "boolean"),
        },
    }

    @server.tool(input_schema=nested)
    async def move(**arguments: Any) -> str:
        return str(arguments)

    @server.resource("file:///{name}")
    def file(name: str) -> str:
        return name

    return server


async def said(message: dict[str, Any], **headers: str | None) -> tuple[int, Any]:
    """The status, and the error's code and text or the result."""
    app = a_server().asgi_app()
    asking = Asking(app, body=message, headers=headers_of(message, **headers))
    answer = (await asking.messages())[-1]
    await app.close()
    error = answer.get("error")
    return asking.status, (error["code"], error["message"]) if error else answer["result"]


@pytest.mark.parametrize(
    ("left_out", "title"),
    [("mcp_protocol_version", "MCP-Protocol-Version"), ("mcp_method", "Mcp-Method"), ("mcp_name", "Mcp-Name")],
)
async def test_a_missing_standard_header_is_a_mismatch(left_out: str, title: str) -> None:
    message = call(1, "move", {})
    message["params"]["_meta"].pop("progressToken")
    status, (code, text) = await said(message, **{left_out: None})
    assert (status, code) == (400, -32020)
    assert f"{title} is missing" in text


@pytest.mark.parametrize(
    ("headers", "title"),
    [
        ({"mcp_protocol_version": "2025-11-25"}, "MCP-Protocol-Version"),
        ({"mcp_method": "tools/list"}, "Mcp-Method"),
        ({"mcp_method": "TOOLS/CALL"}, "Mcp-Method"),
        ({"mcp_name": "Move"}, "Mcp-Name"),
        ({"mcp_name": "other"}, "Mcp-Name"),
        ({"mcp_name": "=?base64?b3RoZXI=?="}, "Mcp-Name"),
        ({"mcp_name": "=?base64?*?="}, "Mcp-Name"),
        ({"mcp_name": "move\x01"}, "Mcp-Name"),
    ],
)
async def test_a_header_that_says_something_else_is_a_mismatch(headers: dict[str, str], title: str) -> None:
    status, (code, text) = await said(call(1, "move", {}), **headers)
    assert (status, code) == (400, -32020)
    assert title in text


async def test_a_name_may_be_encoded_whether_it_need_be_or_not() -> None:
    for name in ("move", "=?base64?bW92ZQ==?="):
        status, _ = await said(call(1, "move", {}), mcp_name=name)
        assert status == 200


async def test_names_that_are_not_plain_are_compared_decoded() -> None:
    from ..transports.http.asgi import modern as request

    message = request(1, "resources/read", uri="file:///größe")
    status, answer = await said(message, mcp_name="=?base64?ZmlsZTovLy9ncsO2w59l?=")
    assert status == 200, answer
    status, _ = await said(message, mcp_name="=?base64?ZmlsZTovLy9ncsO2w59m?=")
    assert status == 400


@pytest.mark.parametrize(
    ("arguments", "headers"),
    [
        ({"sql": "x", "region": "us-west1"}, {"mcp_param_region": "us-west1"}),
        ({"sql": "x", "region": "us-west1"}, {"mcp_param_region": "=?base64?dXMtd2VzdDE=?="}),
        ({"sql": "x", "region": " padded "}, {"mcp_param_region": "=?base64?IHBhZGRlZCA=?="}),
        ({"sql": "x"}, {}),
        ({"sql": "x"}, {"mcp_param_other": "ignored"}),
    ],
)
async def test_a_parameter_said_as_it_is_is_taken(arguments: dict[str, Any], headers: dict[str, str]) -> None:
    status, answer = await said(call(1, "query", arguments), **headers)
    assert status == 200, answer


@pytest.mark.parametrize(
    ("arguments", "headers"),
    [
        ({"sql": "x", "region": "us-west1"}, {}),
        ({"sql": "x", "region": "us-west1"}, {"mcp_param_region": "us-east1"}),
        ({"sql": "x", "region": "us-west1"}, {"mcp_param_region": "US-WEST1"}),
        ({"sql": "x", "region": "us-west1"}, {"mcp_param_region": "us-west1\x01"}),
        ({"sql": "x", "region": "us-west1"}, {"mcp_param_region": "=?base64?!!?="}),
        ({"sql": "x"}, {"mcp_param_region": "us-west1"}),
        ({"sql": "x", "region": None}, {"mcp_param_region": "us-west1"}),
    ],
)
async def test_a_parameter_said_otherwise_is_a_mismatch(arguments: dict[str, Any], headers: dict[str, str]) -> None:
    status, (code, text) = await said(call(1, "query", arguments), **headers)
    assert (status, code) == (400, -32020)
    assert "Mcp-Param-Region" in text


@pytest.mark.parametrize(
    ("header", "same"),
    [("42", True), ("42.0", True), ("4.2e1", True), ("43", False), ("42.5", False), ("x", False), ("nan", False),
     ("inf", False), ("", False)],
)  # fmt: skip
async def test_numbers_are_compared_as_numbers(header: str, same: bool) -> None:
    status, _ = await said(call(1, "move", {"place": {"zone": 42}}), mcp_param_zone=header)
    assert status == (200 if same else 400)


async def test_booleans_are_said_in_lower_case() -> None:
    assert (await said(call(1, "move", {"dry": True}), mcp_param_dry="true"))[0] == 200
    assert (await said(call(1, "move", {"dry": False}), mcp_param_dry="false"))[0] == 200
    assert (await said(call(1, "move", {"dry": True}), mcp_param_dry="True"))[0] == 400
    assert (await said(call(1, "move", {"dry": True}), mcp_param_dry="1"))[0] == 400


async def test_names_of_headers_are_of_any_case() -> None:
    message = call(1, "query", {"sql": "x", "region": "r"})
    app = a_server().asgi_app()
    headers = {name.upper(): value for name, value in headers_of(message, mcp_param_region="r").items()}
    assert await Asking(app, body=message, headers=headers).head() == 200
    await app.close()


async def test_a_tool_that_annotates_wrongly_cannot_be_offered() -> None:
    server = Server("demo")
    with pytest.raises(SchemaError, match="x-mcp-header"):
        server.tool(input_schema=schema(a=named("two words")))(lambda a: a)


# Calling


TOOLS = [
    {"name": "query", "inputSchema": schema(region=named("Region"), sql=STRING, n=named("N", "integer"),
                                            b=named("B", "boolean"), deep=schema(x=named("Deep")))},
    {"name": "plain", "inputSchema": schema(a=STRING)},
    {"name": "broken", "inputSchema": schema(a=named("two words"))},
    {"name": "float", "inputSchema": schema(a=named("A", "number"))},
]  # fmt: skip


def listed(asked: Asked, tools: Any = TOOLS) -> bytes:
    return reply(200, result(asked, {"resultType": "complete", "tools": tools, "ttlMs": 0, "cacheScope": "private"}))


async def heard(arguments: dict[str, Any], tool: str = "query") -> dict[str, str]:
    """The Mcp-Param headers of a call."""
    async with Puppet(modern({"tools/list": listed})) as puppet, connect(puppet.url) as client:
        await client.list_tools()
        await client.call_tool(tool, arguments)
        headers = puppet.requests("tools/call")[0].headers
    return {name: value for name, value in headers.items() if name.startswith("mcp-param-")}


@pytest.mark.parametrize(("value", "header"), EXAMPLES)
async def test_the_client_says_arguments_as_the_specification_does(value: str, header: str) -> None:
    assert await heard({"region": value}) == {"mcp-param-region": header}


async def test_the_client_says_each_kind_and_depth_and_nothing_that_is_not_there() -> None:
    assert await heard({"n": -7, "b": False, "deep": {"x": "y"}, "sql": "secret"}) == {
        "mcp-param-n": "-7",
        "mcp-param-b": "false",
        "mcp-param-deep": "y",
    }
    assert await heard({"region": None, "n": None, "deep": None}) == {}
    assert await heard({"region": ["a"], "deep": "x"}) == {}
    assert await heard({"a": "x"}, tool="plain") == {}


async def test_tools_that_annotate_wrongly_are_left_out_with_a_fault_each() -> None:
    async with Puppet(modern({"tools/list": listed})) as puppet, connect(puppet.url) as client:
        assert [tool.name for tool in await client.list_tools()] == ["query", "plain"]
        assert ["broken" in client.session.faults[0], "float" in client.session.faults[1]] == [True, True]


async def test_on_other_transports_such_tools_are_kept() -> None:
    from ..scripted import Scripted

    server = Scripted({
        "server/discover": {**DISCOVERED, "capabilities": {"tools": {}}},
        "tools/list": {"resultType": "complete", "tools": TOOLS, "ttlMs": 0, "cacheScope": "private"},
    })  # fmt: skip
    async with connect(server) as client:
        assert len(await client.list_tools()) == 4


async def test_in_the_handshake_era_such_tools_are_kept_and_nothing_is_said() -> None:
    from ..transports.http.loopback import handshake

    def tools(asked: Asked) -> bytes:
        return reply(200, result(asked, {"tools": TOOLS}))

    async with Puppet(handshake({"tools/list": tools})) as puppet, connect(puppet.url) as client:
        assert len(await client.list_tools()) == 4
        await client.call_tool("query", {"region": "r"})
        assert not any(name.startswith("mcp-param") for name in puppet.requests("tools/call")[0].headers)


async def test_a_number_that_no_header_can_say_is_an_error_before_anything_is_sent() -> None:
    async with Puppet(modern({"tools/list": listed})) as puppet, connect(puppet.url) as client:
        await client.list_tools()
        with pytest.raises(ValueError, match=r"2\*\*53"):
            await client.call_tool("query", {"n": 2**53})
        assert puppet.requests("tools/call") == []


async def test_a_mismatch_makes_the_client_look_at_the_tool_anew_and_try_once_more() -> None:
    def call(asked: Asked) -> bytes:
        if asked.headers.get("mcp-param-region") == "r":
            return reply(200, result(asked, {"resultType": "complete", **TEXT}))
        error = {"code": -32020, "message": "Header mismatch: the header Mcp-Param-Region is missing"}
        return reply(400, {"jsonrpc": "2.0", "id": asked.json["id"], "error": error})

    async with Puppet(modern({"tools/list": listed, "tools/call": call})) as puppet, connect(puppet.url) as client:
        assert (await client.call_tool("query", {"region": "r"})).text == "done"  # it was never listed
        assert [asked.says for asked in puppet.asked[1:]] == ["tools/call", "tools/list", "tools/call"]
        assert (await client.call_tool("query", {"region": "r"})).text == "done"
        with pytest.raises(ProtocolError, match="Header mismatch"):
            await client.call_tool("plain", {"a": "x"})
        assert len(puppet.requests("tools/call")) == 5


async def test_client_and_server_agree_on_every_value() -> None:
    async with listening(a_server()) as url, connect(url) as client:
        await client.list_tools()
        for region in [value for value, _ in EXAMPLES] + ["", "\t", "ä", "\r\n", "a" * 5000]:
            text = (await client.call_tool("query", {"sql": "x", "region": region})).text
            assert text == f"{region}: x"
        for number in (0, -1, 2**53 - 1):
            assert str(number) in (await client.call_tool("move", {"place": {"zone": number}})).text


def test_the_marks_are_of_one_case_only() -> None:
    packed = base64.b64encode(b"x").decode()
    assert decoded(f"=?BASE64?{packed}?=") == f"=?BASE64?{packed}?="
