"""A server on stdio whose list of tools is a file, as it is at the moment; it may be what no server of ours would list.

`python -m tests.browser.changing_server FILE`
"""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import Any


def answer(method: str, tools: Path) -> dict[str, Any] | None:
    match method:
        case "initialize":
            info = {"name": "changing", "version": "1"}
            return {"protocolVersion": "2025-11-25", "capabilities": {"tools": {}}, "serverInfo": info}
        case "tools/list":
            return {"tools": json.loads(tools.read_text("utf-8"))}
        case "tools/call":
            return {"content": [{"type": "text", "text": "called"}]}
        case "ping":
            return {}
        case _:
            return None


for line in sys.stdin:
    message = json.loads(line)
    if "id" in message and "method" in message:
        result = answer(message["method"], Path(sys.argv[1]))
        refusal = {"code": -32601, "message": "Method not found"}
        outcome = {"error": refusal} if result is None else {"result": result}
        print(json.dumps({"jsonrpc": "2.0", "id": message["id"], **outcome}), flush=True)
