"""A server for the tests of relays. Standard library only, so that it starts fast. `python -I -S server.py`

Each request names by its method what to do; each answer comes when that is done.
"""

import json
import os
import subprocess
import sys
import threading
import time

stdin, stdout = sys.stdin.buffer, sys.stdout.buffer
speaking = threading.Lock()


def say(**message: object) -> None:
    line = json.dumps({"jsonrpc": "2.0", **message}).encode() + b"\n"
    with speaking:
        stdout.write(line)
        stdout.flush()


def wait_for(gate: str | None) -> None:
    while gate is not None and not os.path.exists(gate):
        time.sleep(0.01)


def pid() -> int:
    return os.getpid()


def echo(**params: object) -> object:
    return params


def environment(names: list[str]) -> object:
    return {"cwd": os.getcwd(), "session": os.getsid(0), **{name: os.environ.get(name) for name in names}}


def count(to: int, size: int = 0, gate: str | None = None) -> int:
    """Say numbers, once a file is there, from 1."""
    wait_for(gate)
    for number in range(1, to + 1):
        say(method="number", params={"number": number, "text": "x" * size})
    return to


def text(size: int) -> str:
    return "x" * size


def length(text: str) -> int:
    return len(text)


def complain(text: str, count: int = 1, gate: str | None = None) -> None:
    """Write to stderr, once a file is there; "{}" is the number of the time."""
    wait_for(gate)
    for number in range(count):
        os.write(2, text.replace("{}", str(number)).encode())


def end(status: int, gate: str | None = None) -> None:
    wait_for(gate)
    say(method="last words")
    os.write(2, b"the last complaint\n")
    os._exit(status)


def kill(number: int) -> None:
    os.kill(os.getpid(), number)


def have_child() -> int:
    """A process that outlives us, if nobody ends it."""
    return subprocess.Popen([sys.executable, "-I", "-S", "-c", "import time; time.sleep(60)"]).pid


def work(id: object, method: str, params: dict[str, object]) -> None:
    result = globals()[method](**params)
    if id is not None:
        say(id=id, result=result)


def main() -> None:
    for line in stdin:
        try:
            message = json.loads(line)
        except ValueError:
            say(method="spoilt", params={"line": line.decode(errors="replace")})
            continue
        if message["method"] == "be_deaf":  # read nothing more until a file is there
            wait_for(message["params"]["gate"])
            continue
        task = (message.get("id"), message["method"], message.get("params") or {})
        threading.Thread(target=work, args=task, daemon=True).start()


main()
