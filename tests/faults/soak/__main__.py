"""`python -m tests.faults.soak`: make the calls, and print the table. Status 1 if anything must not be."""

from __future__ import annotations

import argparse
import asyncio
import sys
import time

from . import MECHANISMS, soaked


def main() -> int:
    parser = argparse.ArgumentParser(prog="python -m tests.faults.soak", description=__doc__)
    parser.add_argument("mechanisms", nargs="*", help=f"{', '.join(MECHANISMS)} (default: all)")
    parser.add_argument("--seeds", nargs="+", type=int, default=[1], help="what the faults come from (default: 1)")
    parser.add_argument("--calls", type=int, default=1000, help="for each mechanism (default: 1000)")
    options = parser.parse_args()
    status = 0
    for name in options.mechanisms or MECHANISMS:
        for seed in options.seeds:
            began = time.monotonic()
            share = asyncio.run(soaked(name, MECHANISMS[name], seed, options.calls))
            print(f"\n{name}, seed {seed}, {time.monotonic() - began:.0f} s")
            print(share.ledger.table())
            print(f"{'calls dropped':<24}{len(share.dropped):>8}\n{'drops':<24}{share.drops:>8}")
            print(f"faults: {dict(share.record.counts)}", flush=True)
            try:
                share.check()
            except AssertionError as error:
                status = 1
                print(error, file=sys.stderr)
    return status


if __name__ == "__main__":
    sys.exit(main())
