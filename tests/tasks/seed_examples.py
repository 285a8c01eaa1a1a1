"""The messages that SEP-1686 gives as examples, as bytes."""

from __future__ import annotations

import json
from typing import Any

ID = "786512e2-9e0d-44bd-8f29-789f320fe840"
SECOND = "abc123-def456-ghi789"
_RELATED = '"_meta":{"modelcontextprotocol.io/related-task":{"taskId":"786512e2-9e0d-44bd-8f29-789f320fe840"}}'

CREATE = (
    b'{"jsonrpc":"2.0","id":1,"method":"some_method","params":{"_meta":{"modelcontextprotocol.io/task":'
    b'{"taskId":"786512e2-9e0d-44bd-8f29-789f320fe840","keepAlive":60000}}}}'
)
CREATED = ('{"jsonrpc":"2.0","method":"notifications/tasks/created","params":{' + _RELATED + "}}").encode()
GET = (
    '{"jsonrpc":"2.0","id":3,"method":"tasks/get","params":{"taskId":"786512e2-9e0d-44bd-8f29-789f320fe840",'
    + _RELATED
    + "}}"
).encode()
GOT = (
    '{"jsonrpc":"2.0","id":3,"result":{"taskId":"786512e2-9e0d-44bd-8f29-789f320fe840","keepAlive":30000,'
    '"pollFrequency":5000,"status":"submitted",' + _RELATED + "}}"
).encode()
RESULT = (
    '{"jsonrpc":"2.0","id":4,"method":"tasks/result","params":{"taskId":"786512e2-9e0d-44bd-8f29-789f320fe840",'
    + _RELATED
    + "}}"
).encode()
WEATHER = "Current weather in New York:\nTemperature: 72°F\nConditions: Partly cloudy"
RESULTED = (
    '{"jsonrpc":"2.0","id":4,"result":{"content":[{"type":"text","text":'
    + json.dumps(WEATHER, ensure_ascii=False)
    + '}],"isError":false,'
    + _RELATED
    + "}}"
).encode()
LIST = b'{"jsonrpc":"2.0","id":5,"method":"tasks/list","params":{"cursor":"optional-cursor-value"}}'
LISTED = (
    b'{"jsonrpc":"2.0","id":5,"result":{"tasks":[{"taskId":"786512e2-9e0d-44bd-8f29-789f320fe840","status":"working",'
    b'"keepAlive":30000,"pollFrequency":5000},{"taskId":"abc123-def456-ghi789","status":"completed",'
    b'"keepAlive":60000}],"nextCursor":"next-page-cursor"}}'
)
DELETE = (
    '{"jsonrpc":"2.0","id":6,"method":"tasks/delete","params":{"taskId":"786512e2-9e0d-44bd-8f29-789f320fe840",'
    + _RELATED
    + "}}"
).encode()
DELETED = ('{"jsonrpc":"2.0","id":6,"result":{' + _RELATED + "}}").encode()
NOT_FOUND = b'{"jsonrpc":"2.0","id":70,"error":{"code":-32602,"message":"Failed to retrieve task: Task not found"}}'
EXPIRED = b'{"jsonrpc":"2.0","id":71,"error":{"code":-32602,"message":"Failed to retrieve task: Task has expired"}}'
INCOMPLETE = (
    b'{"jsonrpc":"2.0","id":72,"error":{"code":-32602,'
    b"\"message\":\"Cannot retrieve result: Task status is 'working', not 'completed'\"}}"
)
DUPLICATE = (
    b'{"jsonrpc":"2.0","id":73,"error":{"code":-32602,'
    b'"message":"Task ID already exists: 786512e2-9e0d-44bd-8f29-789f320fe840"}}'
)
FAILED = (
    b'{"jsonrpc":"2.0","id":4,"result":{"taskId":"786512e2-9e0d-44bd-8f29-789f320fe840","status":"failed",'
    b'"keepAlive":30000,"error":"Tool execution failed: API rate limit exceeded"}}'
)


def with_id(data: bytes, id: Any) -> bytes:
    """The same answer to another request."""
    message = json.loads(data)
    return json.dumps({**message, "id": id}, separators=(",", ":"), ensure_ascii=False).encode()


def said(data: bytes) -> Any:
    """What a message says, in whatever order it says it."""
    return json.loads(data)


def unmarked(data: bytes) -> Any:
    """What a message says, without what our own peers add in `_meta` for each other, and without a progress token."""
    message = json.loads(data)
    inside = message.get("params") or message.get("result") or {}
    if "_meta" in inside:
        own = ("mcp-notebook/message", "mcp-notebook/messages", "progressToken")
        inside["_meta"] = {key: value for key, value in inside["_meta"].items() if key not in own}
    return message
