"""The other side of `watchdog`: ends process groups when whoever named them is gone.

Run as a script by an interpreter with nothing but the standard library. Reads `+GROUP SECONDS` and `-GROUP` lines from
stdin; when that ends, sends each group left SIGTERM, and SIGKILL to what still lives after its SECONDS.
"""

import os
import signal
import sys
import time

POLL = 0.05


def main() -> None:
    for number in (signal.SIGHUP, signal.SIGINT, signal.SIGTERM):
        signal.signal(number, signal.SIG_IGN)
    groups: dict[int, float] = {}
    for line in sys.stdin:
        group, *grace = line[1:].split()
        if grace:
            groups[int(group)] = float(grace[0])
        else:
            groups.pop(int(group), None)
    end(groups)


def end(groups: dict[int, float]) -> None:
    start = time.monotonic()
    left = {group: start + grace for group, grace in groups.items() if reach(group, signal.SIGTERM)}
    while left:
        time.sleep(POLL)
        now = time.monotonic()
        due = [group for group, until in left.items() if until <= now]
        for group in due:
            reach(group, signal.SIGKILL)
        left = {group: until for group, until in left.items() if until > now and reach(group, 0)}


def reach(group: int, number: int) -> bool:
    """Send a signal; whether there was anything left to send it to."""
    try:
        os.killpg(group, number)
    except OSError:
        return False
    return True


if __name__ == "__main__":
    main()
