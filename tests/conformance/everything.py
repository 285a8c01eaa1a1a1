"""The server under test of the official conformance suite (TIER-1), with SEP-1730's simple tools (TIER-3).

python tests/conformance/everything.py --port 3000
"""

from __future__ import annotations

import argparse
import asyncio
import base64
import struct
import zlib
from typing import Annotated, Any

import uvicorn
from pydantic import Field

from mcp_notebook import Context, ProtocolError, Server, ToolError
from mcp_notebook.jsonrpc import INTERNAL_ERROR
from mcp_notebook.types import (
    AudioContent,
    EmbeddedResource,
    ImageContent,
    PromptMessage,
    ResourceContents,
    TextContent,
)

server = Server("everything", version="1.0", title="Everything", instructions="Something of everything, for tests.")


def png() -> bytes:
    """A picture of one red pixel."""

    def chunk(kind: bytes, data: bytes) -> bytes:
        return struct.pack(">I", len(data)) + kind + data + struct.pack(">I", zlib.crc32(kind + data))

    header = struct.pack(">IIBBBBB", 1, 1, 8, 2, 0, 0, 0)
    return (
        b"\x89PNG\r\n\x1a\n"
        + chunk(b"IHDR", header)
        + chunk(b"IDAT", zlib.compress(b"\x00\xff\x00\x00"))
        + chunk(b"IEND", b"")
    )


def wav() -> bytes:
    """A sound of eight silent samples."""
    form = struct.pack("<4sIHHIIHH", b"fmt ", 16, 1, 1, 8000, 8000, 1, 8)
    return (
        b"RIFF"
        + struct.pack("<I", 4 + len(form) + 8 + 8)
        + b"WAVE"
        + form
        + struct.pack("<4sI", b"data", 8)
        + b"\x80" * 8
    )


PNG, WAV = base64.b64encode(png()).decode(), base64.b64encode(wav()).decode()


# Content


@server.tool
def test_simple_text() -> str:
    """One text."""
    return "This is a simple text response for testing."


@server.tool(structured=False)
def test_image_content() -> ImageContent:
    """One picture."""
    return ImageContent(data=PNG, mime_type="image/png")


@server.tool(structured=False)
def test_audio_content() -> AudioContent:
    """One sound."""
    return AudioContent(data=WAV, mime_type="audio/wav")


def embedded(uri: str = "test://embedded-resource", text: str = "This is an embedded resource.") -> EmbeddedResource:
    """A resource inside a result."""
    return EmbeddedResource(resource=ResourceContents(uri=uri, mime_type="text/plain", text=text))


@server.tool(structured=False)
def test_embedded_resource() -> EmbeddedResource:
    """One embedded resource."""
    return embedded()


@server.tool(structured=False)
def test_multiple_content_types() -> list[Any]:
    """Text, a picture and a resource."""
    return [
        TextContent(text="Multiple content types:"),
        ImageContent(data=PNG, mime_type="image/png"),
        embedded("test://mixed-content-resource"),
    ]


@server.tool
def test_error_handling() -> str:
    """Always fails."""
    raise ToolError("This tool intentionally returns an error for testing")


# What is told meanwhile


@server.tool
async def test_tool_with_logging(ctx: Context) -> str:
    """Three log lines."""
    for text in ("Tool execution started", "Tool processing data", "Tool execution completed"):
        await ctx.info(text)
        await asyncio.sleep(0.05)
    return "Logged three lines."


@server.tool
async def test_reconnection(ctx: Context) -> str:
    """Closes the stream in the middle of its work."""
    await ctx.close_stream(retry=0.5)
    await asyncio.sleep(0.2)
    return "Here again."


@server.tool
async def test_logging_tool(ctx: Context) -> str:
    """One log line."""
    await ctx.info("A line for the log")
    return "Logged."


@server.tool
async def test_tool_with_progress(ctx: Context) -> str:
    """Three steps of progress."""
    for step in (0, 50, 100):
        await ctx.progress(step, 100, f"{step} of 100")
        await asyncio.sleep(0.05)
    return str(ctx.meta.get("progressToken", "no token"))


# What is asked meanwhile


@server.tool
async def test_sampling(prompt: str, ctx: Context) -> str:
    """Asks the client's model."""
    result = await ctx.sample(prompt, max_tokens=100)
    content = result.content
    return f"LLM response: {content.text if isinstance(content, TextContent) else content}"


@server.tool
async def test_missing_capability(ctx: Context) -> str:
    """Needs a client that can sample."""
    await ctx.sample("Say hello", max_tokens=10)
    return "The client can sample."


def form(properties: dict[str, Any], *required: str) -> dict[str, Any]:
    """A schema to ask for."""
    return {"type": "object", "properties": properties, "required": list(required)}


USER = form(
    {
        "username": {"type": "string", "description": "User's response"},
        "email": {"type": "string", "description": "User's email address"},
    },
    "username",
    "email",
)


async def told(ctx: Context, message: str, schema: dict[str, Any], key: str | None = None) -> str:
    """What the person did, as text."""
    answer = await ctx.elicit(message, schema, key=key)
    return f"User response: action={answer.action}, content={answer.data}"


@server.tool
async def test_elicitation(message: str, ctx: Context) -> str:
    """Asks for a name and an address."""
    return await told(ctx, message, USER)


@server.tool
async def test_streaming_elicitation(ctx: Context) -> str:
    """Tells something, then asks."""
    await ctx.progress(1, 2, "about to ask")
    return await told(ctx, "Who are you?", USER)


@server.tool
async def test_elicitation_sep1034_defaults(ctx: Context) -> str:
    """Asks with defaults (SEP-1034)."""
    schema = form(
        {
            "name": {"type": "string", "default": "John Doe"},
            "age": {"type": "integer", "default": 30},
            "score": {"type": "number", "default": 95.5},
            "status": {"type": "string", "enum": ["active", "inactive", "pending"], "default": "active"},
            "verified": {"type": "boolean", "default": True},
        }
    )
    return await told(ctx, "Please review and update the form fields with defaults", schema)


def titled(*names: str) -> list[dict[str, str]]:
    """Choices with titles."""
    return [{"const": f"value{number}", "title": name} for number, name in enumerate(names, start=1)]


@server.tool
async def test_elicitation_sep1330_enums(ctx: Context) -> str:
    """Asks for choices in the five shapes (SEP-1330)."""
    options = ["option1", "option2", "option3"]
    schema = form(
        {
            "untitledSingle": {"type": "string", "enum": options},
            "titledSingle": {"type": "string", "oneOf": titled("First Option", "Second Option", "Third Option")},
            "legacyEnum": {
                "type": "string",
                "enum": ["opt1", "opt2", "opt3"],
                "enumNames": ["Option One", "Option Two", "Option Three"],
            },
            "untitledMulti": {"type": "array", "items": {"type": "string", "enum": options}},
            "titledMulti": {
                "type": "array",
                "items": {"anyOf": titled("First Choice", "Second Choice", "Third Choice")},
            },
        }
    )
    return await told(ctx, "Please select options from the enum fields", schema)


# Round trips (2026-07-28)

NAME = form({"name": {"type": "string"}}, "name")
CONFIRM = form({"ok": {"type": "boolean"}}, "ok")


@server.tool
async def test_input_required_result_elicitation(ctx: Context) -> str:
    """Asks for a name."""
    answer = await ctx.elicit("What is your name?", NAME, key="user_name")
    return f"Hello, {(answer.data or {}).get('name', 'nobody')}!"


@server.tool
async def test_input_required_result_sampling(ctx: Context) -> str:
    """Asks the client's model for a capital."""
    result = await ctx.sample("What is the capital of France?", max_tokens=100, key="capital_question")
    content = result.content
    return content.text if isinstance(content, TextContent) else str(content)


@server.tool
async def test_input_required_result_list_roots(ctx: Context) -> str:
    """Asks for the client's roots."""
    roots = await ctx.list_roots(key="client_roots")
    return "Roots: " + ", ".join(root.uri for root in roots)


@server.tool
async def test_input_required_result_request_state(ctx: Context) -> str:
    """Asks, with a state to give back."""
    await ctx.elicit("Please confirm", CONFIRM, key="confirm")
    return "state-ok"


@server.tool
async def test_input_required_result_tampered_state(ctx: Context) -> str:
    """Asks, with a state that must not be changed."""
    await ctx.elicit("Please confirm", CONFIRM, key="confirm")
    return "state-ok"


@server.tool
async def test_input_required_result_multiple_inputs(ctx: Context) -> str:
    """Asks three things at once."""
    name, greeting, roots = await asyncio.gather(
        ctx.elicit("What is your name?", NAME, key="user_name"),
        ctx.sample("Generate a greeting", max_tokens=50, key="greeting"),
        ctx.list_roots(key="client_roots"),
    )
    return f"{name.data} {greeting.content} {len(roots)} roots"


@server.tool
async def test_input_required_result_multi_round(ctx: Context) -> str:
    """Asks twice, one after the other."""
    first = await ctx.elicit("Step 1: What is your name?", NAME, key="step1")
    colour = form({"color": {"type": "string"}}, "color")
    second = await ctx.elicit("Step 2: What is your favorite color?", colour, key="step2")
    return f"complete: {first.data} {second.data}"


@server.tool
async def test_input_required_result_capabilities(ctx: Context) -> str:
    """Asks only what the client declared it can answer."""
    heard = []
    if ctx.profile.client_has("elicitation/create"):
        heard.append(str((await ctx.elicit("What is your name?", NAME, key="user_name")).data))
    if ctx.profile.client_has("sampling/createMessage"):
        heard.append(str((await ctx.sample("Say hello", max_tokens=50, key="greeting")).content))
    return ", ".join(heard) or "nothing could be asked"


@server.prompt
async def test_input_required_result_prompt(ctx: Context) -> str:
    """A prompt that asks for its context."""
    schema = form({"context": {"type": "string"}}, "context")
    answer = await ctx.elicit("What context should the prompt use?", schema, key="user_context")
    return f"Use this context: {(answer.data or {}).get('context')}"


# Tasks (the extension `io.modelcontextprotocol/tasks`)


@server.tool
def greet(name: str) -> str:
    """Greets somebody at once."""
    return f"Hello, {name}!"


@server.tool(task="optional")
async def slow_compute(seconds: float, label: str = "") -> str:
    """Takes its time."""
    await asyncio.sleep(seconds)
    return f"Computed {label} for {seconds:g} s."


@server.tool(task="required")
async def failing_job() -> str:
    """Fails, as a tool does."""
    await asyncio.sleep(0.1)
    raise ToolError("This job intentionally fails.")


@server.tool(task="optional")
async def protocol_error_job() -> str:
    """Fails with an error of the protocol's."""
    await asyncio.sleep(0.1)
    raise ProtocolError(INTERNAL_ERROR, "This job intentionally breaks.")


@server.tool(task="optional")
async def confirm_delete(filename: str, ctx: Context) -> str:
    """Asks before it deletes."""
    answer = await ctx.elicit(f"Delete {filename}?", form({"confirm": {"type": "boolean"}}, "confirm"), key="confirm")
    return f"Deleted {filename}." if (answer.data or {}).get("confirm") else f"Kept {filename}."


@server.tool(task="optional")
async def multi_input(ctx: Context) -> str:
    """Asks two things at once."""
    first, second = await asyncio.gather(
        ctx.elicit("What is your name?", NAME, key="first"), ctx.elicit("And the other name?", NAME, key="second")
    )
    return f"{first.data} {second.data}"


@server.tool(task="required", late_task=True)
async def test_tool_with_task(ctx: Context) -> str:
    """Asks for a name, then goes on as a task."""
    answer = await ctx.elicit("What is your name?", NAME, key="user_name")
    await ctx.become_task()
    await asyncio.sleep(0.1)
    return f"Hello, {(answer.data or {}).get('name', 'nobody')}!"


# Schemas and headers


@server.tool(
    input_schema={
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "type": "object",
        "$defs": {
            "address": {
                "$anchor": "addressDef",
                "type": "object",
                "properties": {"street": {"type": "string"}, "city": {"type": "string"}},
            }
        },
        "properties": {
            "name": {"type": "string"},
            "address": {"$ref": "#/$defs/address"},
            "contactMethod": {"type": "string", "enum": ["phone", "email"]},
            "phone": {"type": "string"},
            "email": {"type": "string"},
        },
        "allOf": [{"anyOf": [{"required": ["phone"]}, {"required": ["email"]}]}],
        "if": {"properties": {"contactMethod": {"const": "phone"}}, "required": ["contactMethod"]},
        "then": {"required": ["phone"]},
        "else": {"required": ["email"]},
        "additionalProperties": False,
    }
)
def json_schema_2020_12_tool(**arguments: Any) -> str:
    """Has a schema with the words of JSON Schema 2020-12."""
    return f"Called with {sorted(arguments)}"


@server.tool
def test_custom_headers(region: Annotated[str, Field(json_schema_extra={"x-mcp-header": "Region"})]) -> str:
    """Has an argument that HTTP headers repeat."""
    return f"Here is {region}."


# Lists that change


@server.tool
def test_trigger_tool_change() -> str:
    """Changes the list of tools."""

    def test_dynamic_tool() -> str:
        """Here for a moment."""
        return "dynamic"

    server.tool(test_dynamic_tool)
    server.remove_tool("test_dynamic_tool")
    return "The list of tools changed."


@server.tool
def test_trigger_prompt_change() -> str:
    """Changes the list of prompts."""

    def test_dynamic_prompt() -> str:
        """Here for a moment."""
        return "dynamic"

    server.prompt(test_dynamic_prompt)
    server.remove_prompt("test_dynamic_prompt")
    return "The list of prompts changed."


# Resources and prompts


@server.resource("test://static-text", mime_type="text/plain")
def static_text() -> str:
    """A static text."""
    return "This is the content of the static text resource."


@server.resource("test://static-binary", mime_type="image/png")
def static_binary() -> bytes:
    """A static picture."""
    return png()


@server.resource("test://template/{id}/data", mime_type="application/json")
def template(id: str) -> dict[str, Any]:
    """Data by id."""
    return {"id": id, "templateTest": True, "data": f"Data for ID: {id}"}


@server.resource("test://watched-resource", mime_type="text/plain")
def watched() -> str:
    """A resource to subscribe to."""
    return "Watch me."


@server.prompt
def test_simple_prompt() -> str:
    """A prompt without arguments."""
    return "This is a simple prompt for testing."


@server.prompt
def test_prompt_with_arguments(arg1: str, arg2: str) -> str:
    """A prompt with two arguments.

    Args:
        arg1: First test argument
        arg2: Second test argument
    """
    return f"Prompt with arguments: arg1='{arg1}', arg2='{arg2}'"


@server.completion("test_prompt_with_arguments", "arg1")
def arg1_values(value: str) -> list[str]:
    """Suggestions for the first argument."""
    return [word for word in ("paris", "park", "party") if word.startswith(value)]


@server.prompt
def test_prompt_with_embedded_resource(resourceUri: str) -> list[PromptMessage]:
    """A prompt with a resource inside.

    Args:
        resourceUri: URI of the resource to embed
    """
    return [
        PromptMessage(role="user", content=embedded(resourceUri, "Embedded resource content for testing.")),
        PromptMessage(role="user", content=TextContent(text="Please process the embedded resource above.")),
    ]


@server.prompt
def test_prompt_with_image() -> list[PromptMessage]:
    """A prompt with a picture inside."""
    return [
        PromptMessage(role="user", content=ImageContent(data=PNG, mime_type="image/png")),
        PromptMessage(role="user", content=TextContent(text="Please analyze the image above.")),
    ]


# SEP-1730's simple tools (TIER-3)


@server.tool
def say_hello(name: str = "world") -> str:
    """Says hello."""
    return f"Hello, {name}!"


@server.tool(structured=False)
def show_image() -> ImageContent:
    """Shows a picture."""
    return ImageContent(data=PNG, mime_type="image/png")


@server.tool
async def tool_with_logging(ctx: Context) -> str:
    """Logs a line at four levels."""
    await ctx.debug("debug")
    await ctx.info("info")
    await ctx.warning("warning")
    await ctx.error("error")
    return "Logged."


@server.tool
async def tool_with_notifications(ctx: Context, steps: int = 3) -> str:
    """Tells its progress."""
    for step in range(1, steps + 1):
        await ctx.progress(step, steps)
    return f"{steps} steps."


@server.prompt
def simple_prompt(topic: str) -> str:
    """A prompt about something."""
    return f"Tell me about {topic}."


@server.completion("simple_prompt", "topic")
def topics(value: str) -> list[str]:
    """Suggestions for the topic."""
    return [topic for topic in ("bread", "bridges", "birds") if topic.startswith(value)]


@server.resource("greeting://{name}")
def greeting(name: str) -> str:
    """A greeting by name."""
    return f"Hello, {name}!"


def main() -> None:
    """Serve on loopback."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--port", type=int, default=3000)
    parser.add_argument("--stream", action="store_true", help="answer every request by SSE")
    arguments = parser.parse_args()
    uvicorn.run(server.asgi_app(stream=arguments.stream), host="127.0.0.1", port=arguments.port, log_level="warning")


if __name__ == "__main__":
    main()
