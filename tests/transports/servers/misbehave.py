"""Servers that behave in one way each, named by the first argument. Standard library only, so that they start fast.

`python -I -S misbehave.py WAY [ARGUMENT ...]`
"""

import json
import os
import signal
import subprocess
import sys
import time

stdin, stdout = sys.stdin.buffer, sys.stdout.buffer


def say(line: bytes) -> None:
    stdout.write(line + b"\n")
    stdout.flush()


def notify(method: str, **params: object) -> None:
    say(json.dumps({"jsonrpc": "2.0", "method": method, "params": params}).encode())


def answer(line: bytes) -> None:
    """Say a request's params back."""
    message = json.loads(line)
    say(json.dumps({"jsonrpc": "2.0", "id": message["id"], "result": message.get("params")}).encode())


def echo() -> None:
    for line in stdin:
        answer(line)


def environment() -> None:
    notify("environment", cwd=os.getcwd(), pid=os.getpid(), session=os.getsid(0), **os.environ)
    echo()


def die_at_start() -> None:
    raise RuntimeError("no configuration was found")


def die_on_request(status: str = "3") -> None:
    stdin.readline()
    os._exit(int(status))


def be_killed() -> None:
    stdin.readline()
    os.kill(os.getpid(), signal.SIGKILL)


def die_mid_message() -> None:
    stdin.readline()
    stdout.write(b'{"jsonrpc":"2.0","id":1,"result":{"text":"half of')
    stdout.flush()
    os._exit(3)


def answer_then_die() -> None:
    """The last words come in the same moment as the end."""
    answer(stdin.readline())
    sys.stderr.write("last words\n")
    sys.stderr.flush()
    os._exit(4)


def close_stdout() -> None:
    stdin.readline()
    os.close(1)
    time.sleep(60)


def close_stdin() -> None:
    os.close(0)
    time.sleep(60)


def never_read() -> None:
    notify("ready")
    time.sleep(60)


def stubborn() -> None:
    """Ignores the end of stdin and SIGTERM, and so does what it has started."""
    grandchild = subprocess.Popen([sys.executable, "-I", "-S", __file__, "ignore"], stdin=0, stdout=1)
    ignore(grandchild=grandchild.pid)


def ignore(**params: object) -> None:
    signal.signal(signal.SIGTERM, signal.SIG_IGN)
    notify("ready", pid=os.getpid(), **params)
    while True:
        time.sleep(60)


def leave_grandchild() -> None:
    """Ends well itself, and leaves a process that keeps its pipes open."""
    grandchild = subprocess.Popen([sys.executable, "-I", "-S", __file__, "ignore"], stdin=subprocess.DEVNULL)
    notify("left", pid=grandchild.pid)
    echo()


def leave_polite_grandchild(path: str) -> None:
    """Ends well itself, and leaves a process that says goodbye in a file when it is asked to end."""
    subprocess.Popen([sys.executable, "-I", "-S", __file__, "be_polite", path], stdin=subprocess.DEVNULL)
    echo()


def be_polite(path: str) -> None:
    def say_goodbye(*_: object) -> None:
        with open(path, "w") as file:
            file.write("goodbye")
        os._exit(0)

    signal.signal(signal.SIGTERM, say_goodbye)
    notify("ready")
    time.sleep(60)


def escape() -> None:
    """Leaves a process in a session of its own that keeps stdin and never reads it."""
    command = [sys.executable, "-I", "-S", "-c", "import time; time.sleep(60)"]
    escaped = subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, start_new_session=True)
    notify("ready", pid=escaped.pid)
    time.sleep(60)


def flood_stderr(megabytes: str = "4") -> None:
    block = b"x" * 1023 + b"\n"
    for line in stdin:
        for _ in range(int(megabytes) * 1024):
            os.write(2, block)
        os.write(2, b"the end\n")
        answer(line)


def rubbish(*lines: str) -> None:
    """Say these lines (as latin-1 bytes, with escapes), then echo."""
    for line in lines:
        say(line.encode("latin-1").decode("unicode_escape").encode("latin-1"))
    echo()


def large(size: str) -> None:
    """Answer with a text of so many bytes."""
    for line in stdin:
        id = json.loads(line)["id"]
        say(b'{"jsonrpc":"2.0","id":%s,"result":{"text":"%s"}}' % (json.dumps(id).encode(), b"x" * int(size)))


def slow_reader() -> None:
    """Read nothing until a signal comes, then all of it."""
    signal.signal(signal.SIGUSR1, lambda *_: None)
    notify("ready")
    signal.pause()
    echo()


def talk_after_eof() -> None:
    echo()
    notify("too_late")


def chatter() -> None:
    """Never stop talking."""
    while True:
        notify("chatter")


if __name__ == "__main__":
    globals()[sys.argv[1]](*sys.argv[2:])
