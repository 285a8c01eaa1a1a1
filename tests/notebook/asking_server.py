"""A server that asks for something of each kind, or takes it as arguments, for terminals to connect to."""

from __future__ import annotations

import json
from typing import Any

from mcp_notebook.jsonrpc import Request

from ..scripted import Scripted

TRIP: dict[str, Any] = {
    "type": "object",
    "properties": {
        "cabin": {
            "type": "string",
            "title": "Cabin",
            "oneOf": [{"const": "e", "title": "Economy"}, {"const": "b", "title": "Business"}],
            "default": "e",
        },
        "seats": {"type": "array", "items": {"enum": ["window", "aisle", "exit"]}, "uniqueItems": True},
        "ages": {"type": "array", "items": {"type": "integer", "minimum": 0}},
        "home": {"type": "object", "properties": {"city": {"type": "string"}}, "required": ["city"]},
        "day": {"type": "string", "format": "date"},
        "notes": {"type": "string", "default": "none"},
    },
    "required": ["day", "home"],
}


class Travel(Scripted):
    """The server: `ask` asks the person, `plan` takes the same as arguments; both say what they got."""

    def __init__(self) -> None:
        super().__init__(name="travel")
        tools = [{"name": "ask", "inputSchema": {"type": "object"}}, {"name": "plan", "inputSchema": TRIP}]
        self.answers |= {"tools/list": {"tools": tools}, "tools/call": self._called, "logging/setLevel": {}}

    async def _called(self, request: Request) -> Any:
        params = request.params or {}
        said = params.get("arguments")
        if params["name"] == "ask":
            said = await self.ask("elicitation/create", {"message": "Which trip?", "requestedSchema": TRIP})
        return {"content": [{"type": "text", "text": f"got {json.dumps(said)}"}]}
