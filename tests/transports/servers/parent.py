"""A program with a connection to a server in a background thread, like a kernel. Says what it has started, then waits.

`python parent.py WAY [fork | leave]`: WAY is a way of `misbehave.py`; with `fork`, a copy of this process goes on
living; with `leave`, it ends at once. Prints a JSON line {"child", "watchdog", "copy", "told": {…}}; after an
interrupt, asks the server and prints its answer.
"""

import asyncio
import json
import os
import sys
import threading
import time

from mcp_notebook.jsonrpc import Request
from mcp_notebook.limits import Limits
from mcp_notebook.transports.stdio import StdioChannel
from mcp_notebook.transports.watchdog import WATCHDOG
from tests.transports.stdio_helpers import BOUND, Remembering, misbehaving


def main(way: str, *options: str) -> None:
    loop = asyncio.new_event_loop()
    threading.Thread(target=loop.run_forever, daemon=True).start()

    def run(coroutine):
        return asyncio.run_coroutine_threadsafe(coroutine, loop).result(BOUND)

    channel, receiver = StdioChannel(misbehaving(way), Limits(shutdown=0.5)), Remembering()
    run(channel.open(receiver))
    told = run(receiver.params("ready")) if way != "echo" else {}
    copy = os.fork() if "fork" in options else 0
    if "fork" in options and copy == 0:
        time.sleep(60)
        os._exit(0)
    pids = {"child": channel.pid, "watchdog": WATCHDOG.pid, "copy": copy, "told": told}
    print(json.dumps(pids), flush=True)
    try:
        time.sleep(0 if "leave" in options else 60)
    except KeyboardInterrupt:
        run(channel.send(Request(1, "ask", {"still": "here"})))
        print(json.dumps(run(receiver.result())), flush=True)


main(*sys.argv[1:])
