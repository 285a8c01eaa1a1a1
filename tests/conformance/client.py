"""The client under test of the official conformance suite (TIER-1).

    python tests/conformance/client.py URL

What to do stands in the environment: MCP_CONFORMANCE_SCENARIO, MCP_CONFORMANCE_PROTOCOL_VERSION and, for some, data in
MCP_CONFORMANCE_CONTEXT.
"""

from __future__ import annotations

import asyncio
import json
import os
import sys
from collections.abc import Awaitable, Callable
from typing import Any

from mcp_notebook import Client, connect
from mcp_notebook.notebook.widgets.question_card import QuestionCard
from mcp_notebook.protocol.revisions import ALL
from mcp_notebook.types import CreateMessageParams, ElicitParams, ElicitResult

Scenario = Callable[[Client, dict[str, Any]], Awaitable[None]]


async def by_form(params: ElicitParams) -> ElicitResult:
    """Answer in the form that a notebook shows: yes wherever it is asked for, and the defaults else."""
    card = QuestionCard("suite", params)
    for field in card.view.form.fields:
        if field.type == "boolean":
            card.view.form.root.find((field.name,)).put(True)
    card.view.refresh()
    card.buttons["accept"].click()
    try:
        return await asyncio.wrap_future(card.answer)
    finally:
        card.close()


def model(params: CreateMessageParams) -> str:
    """Stands for a language model."""
    return "This is a test response."


async def list_only(client: Client, context: dict[str, Any]) -> None:
    """List the tools."""
    await client.list_tools()


async def add(client: Client, context: dict[str, Any]) -> None:
    """List the tools, call `add_numbers`."""
    await client.list_tools()
    await client.call_tool("add_numbers", {"a": 5, "b": 3})


async def elicit_defaults(client: Client, context: dict[str, Any]) -> None:
    """Call the tool that asks with defaults."""
    await client.list_tools()
    await client.call_tool("test_client_elicitation_defaults", {})


async def echo_schema(client: Client, context: dict[str, Any]) -> None:
    """Send a tool's schema back as it came."""
    tools = await client.list_tools()
    for tool in tools:
        if tool.name != "json_schema_echo":
            await client.call_tool("json_schema_echo", {"schema": tool.input_schema})


async def call_all(client: Client, context: dict[str, Any]) -> None:
    """Call every tool that is shown with some arguments, and read and prompt what there is."""
    for tool in await client.list_tools():
        await client.call_tool(tool.name, arguments_for(tool.input_schema))
    for resource in await client.list_resources():
        await client.read_resource(resource.uri)
    for prompt in await client.list_prompts():
        await client.get_prompt(prompt.name, {one.name: "x" for one in prompt.arguments or []})


async def replay(client: Client, context: dict[str, Any]) -> None:
    """Make the calls that the context lists."""
    await client.list_tools()
    for call in context.get("toolCalls", []):
        await client.call_tool(call["name"], call.get("arguments", {}))


async def reconnection(client: Client, context: dict[str, Any]) -> None:
    """Call the tool whose stream is closed meanwhile."""
    await client.list_tools()
    await client.call_tool("test_reconnection", {})


async def round_trips(client: Client, context: dict[str, Any]) -> None:
    """Call the tools that ask."""
    for tool in await client.list_tools():
        await client.call_tool(tool.name, arguments_for(tool.input_schema))


async def fetch(client: Client, context: dict[str, Any]) -> None:
    """List, and call the tool behind the login."""
    await client.list_tools()
    await client.call_tool("test-tool", {})


SCENARIOS: dict[str, Scenario] = {
    "initialize": list_only,
    "tools_call": add,
    "request-metadata": call_all,
    "elicitation-sep1034-client-defaults": elicit_defaults,
    "sse-retry": reconnection,
    "json-schema-ref-no-deref": list_only,
    "json-schema-2020-12-preservation": echo_schema,
    "http-standard-headers": call_all,
    "http-custom-headers": replay,
    "http-invalid-tool-headers": call_all,
    "sep-2322-client-request-state": round_trips,
}

EXAMPLES: dict[str, Any] = {"string": "x", "integer": 1, "number": 1, "boolean": True, "array": [], "object": {}}


def arguments_for(schema: Any) -> dict[str, Any]:
    """Arguments that would do."""
    properties = schema.get("properties", {}) if isinstance(schema, dict) else {}
    return {name: EXAMPLES.get(part.get("type"), "x") for name, part in properties.items()}


async def main() -> None:
    """Play the scenario."""
    scenario = os.environ.get("MCP_CONFORMANCE_SCENARIO", "initialize")
    version = os.environ.get("MCP_CONFORMANCE_PROTOCOL_VERSION", "")
    context = json.loads(os.environ.get("MCP_CONFORMANCE_CONTEXT") or "{}")
    play = fetch if scenario.startswith("auth/") else SCENARIOS.get(scenario, list_only)
    client = connect(
        sys.argv[1],
        revision=version if version in ALL else None,
        elicitation=by_form,
        sampling=model,
        roots=["."],
        timeout=20,
    )
    async with client as connected:
        await play(connected, context)


if __name__ == "__main__":
    asyncio.run(main())
