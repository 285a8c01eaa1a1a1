"""Servers whose every word is hostile, for kernels to connect to."""

from __future__ import annotations

import asyncio
import json
from typing import Any

from mcp_notebook.errors import ProtocolError
from mcp_notebook.jsonrpc import Request

from ..render.page import say
from ..render.test_hostile import answers, offers
from ..scripted import EVERYTHING, Scripted

URL = "https://example.invalid/?q="
"""An address that may be asked for; what follows it may be anything that can be seen."""


class Hostile(Scripted):
    """A server that says one text wherever it can say something.

    Args:
        text: the text.

    Attributes:
        released: set when what works shall end.
    """

    def __init__(self, text: str) -> None:
        tasks = {"list": {}, "cancel": {}, "requests": {"tools": {"call": {}}}}
        super().__init__(capabilities=EVERYTHING | {"tasks": tasks})
        tool, resource, template, prompt = (offer.wire() for offer in offers(text))
        plain = [
            {"name": name, "inputSchema": {"type": "object"}, "execution": {"taskSupport": "optional"}}
            for name in ("answer", "work", "fail", "visit", "release")
        ]
        self.text = text
        self.released = asyncio.Event()
        self.answers["initialize"] |= {
            "serverInfo": {"name": text, "version": text, "title": text},
            "instructions": text,
        }
        self.answers |= {
            "tools/list": {"tools": [tool, *plain]},
            "tools/call": self._called,
            "resources/list": {"resources": [resource]},
            "resources/templates/list": {"resourceTemplates": [template]},
            "resources/read": {"contents": [{"uri": text, "mimeType": text, "text": text}]},
            "prompts/list": {"prompts": [prompt, {"name": "plain"}]},
            "prompts/get": {"description": text, "messages": [{"role": "user", "content": say(text)}]},
            "completion/complete": {"completion": {"values": [text]}},
            "tasks/get": lambda _: self._task(),
            "tasks/result": self._task_ended,
            "tasks/cancel": self._cancelled,
            "logging/setLevel": {},
        }

    def _task(self) -> dict[str, Any]:
        now = "2026-01-01T00:00:00Z"
        status = "cancelled" if self.released.is_set() else "working"
        told = {"taskId": self.text, "status": status, "statusMessage": self.text, "ttl": None, "pollInterval": 100}
        return told | {"createdAt": now, "lastUpdatedAt": now}

    async def _task_ended(self, _: Request) -> Any:
        await self.released.wait()
        raise ProtocolError(-32600, self.text)

    def _cancelled(self, _: Request) -> Any:
        self.released.set()
        return self._task()

    async def _called(self, request: Request) -> Any:
        params = request.params or {}
        if "task" in params:
            self.released.clear()
            return {"task": self._task()}
        arguments = params.get("arguments") or {}
        match params["name"]:
            case "answer":
                return answers(self.text)[arguments["kind"]].wire()
            case "fail":
                raise ProtocolError(-32000, self.text, {self.text: self.text})
            case "release":
                self.released.set()
            case "visit":
                asked = {"mode": "url", "message": self.text, "elicitationId": self.text, "url": arguments["url"]}
                answer = await self.ask("elicitation/create", asked)
                return {"content": [say(json.dumps(answer))]}
            case _:
                self.released.clear()
                await self._say(request)
                await self.released.wait()
        return {"content": [say(self.text)]}

    async def _say(self, request: Request) -> None:
        await self.progress(request, 1, total=2, message=self.text)
        for data in (self.text, {self.text: self.text}):
            await self.tell("notifications/message", {"level": "warning", "logger": self.text, "data": data})


class Vast(Scripted):
    """A server that says 10 MB, or 100,000 things, wherever it can."""

    def __init__(self) -> None:
        super().__init__(name="vast")
        long = "x" * 10_000_000
        many = [f"city {n:06}" for n in range(100_000)]
        cities = {
            "type": "object",
            "properties": {"city": {"enum": many}, "other": {"oneOf": [{"const": n} for n in many]}},
        }
        wide = {"type": "object", "properties": {name: {"type": "string"} for name in many}}
        self.answers["initialize"] |= {
            "serverInfo": {"name": "vast", "version": long, "title": long},
            "instructions": long,
        }
        self.answers |= {
            "tools/list": {
                "tools": [
                    {"name": long, "inputSchema": {"type": "object"}},
                    {"name": "described", "description": long, "inputSchema": {"type": "object"}},
                    {"name": "travel", "inputSchema": cities},
                    {"name": "wide", "inputSchema": wide},
                    *(
                        {"name": name, "inputSchema": {"type": "object"}}
                        for name in ("fail", "work", "visit", "answer")
                    ),
                ]
            },
            "tools/call": self._called,
            "resources/list": {
                "resources": [{"uri": long, "name": long}, {"uri": "a:b", "name": "b", "description": long}]
            },
            "resources/templates/list": {"resourceTemplates": [{"uriTemplate": long, "name": long}]},
            "resources/read": {"contents": [{"uri": "a:b", "mimeType": long, "text": long}]},
            "prompts/list": {"prompts": [{"name": long, "title": long}, {"name": "plain", "description": long}]},
            "prompts/get": {"description": long, "messages": [{"role": "user", "content": say(long)}]},
            "completion/complete": {"completion": {"values": many}},
            "logging/setLevel": {},
        }
        self._answers = {
            "text": {"content": [say(long)]},
            "error": {"content": [say(long)], "isError": True},
            "data": {"content": [], "structuredContent": {"long": long, "many": many}},
            "keys": {"content": [], "structuredContent": dict.fromkeys(many, 1)},
            "rows": {"content": [], "structuredContent": {"result": [{"city": one, "n": 1} for one in many]}},
            "blocks": {"content": [say(one) for one in many]},
            "link": {"content": [{"type": "resource_link", "uri": long, "name": long}]},
            "resource": {"content": [{"type": "resource", "resource": {"uri": long, "text": long}}]},
            "image": {"content": [{"type": "image", "data": long, "mimeType": "image/png"}]},
            "unknown": {"content": [{"type": long, "x": long}]},
        }
        self._long = long

    async def _called(self, request: Request) -> Any:
        params = request.params or {}
        arguments = params.get("arguments") or {}
        match params["name"]:
            case "answer":
                return self._answers[arguments["kind"]]
            case "fail":
                raise ProtocolError(-32000, self._long, {"long": self._long})
            case "visit":
                asked = {
                    "mode": "url",
                    "message": self._long,
                    "elicitationId": "1",
                    "url": arguments["url"],
                }
                await self.ask("elicitation/create", asked)
            case "work":
                await self.progress(request, 1, total=2, message=self._long)
                await self.tell("notifications/message", {"level": "warning", "logger": "vast", "data": self._long})
                await self.tell(
                    "notifications/message", {"level": "warning", "logger": self._long, "data": {"a": self._long}}
                )
                await asyncio.sleep(3)
        return {"content": []}
