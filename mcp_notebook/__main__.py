"""The command line: `python -m mcp_notebook`."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Sequence

from .cli import relay, tour

__all__ = ["main"]

COMMANDS = {"relay": relay, "tour": tour}


def main(arguments: Sequence[str] | None = None) -> int:
    """Run one command.

    Args:
        arguments: what stands after `python -m mcp_notebook`; None for what was typed there.

    Returns:
        The exit status.
    """
    parser = argparse.ArgumentParser("python -m mcp_notebook", description="The Model Context Protocol in Jupyter.")
    parsers = parser.add_subparsers(metavar="COMMAND", required=True)
    for name, command in COMMANDS.items():
        about = (command.__doc__ or "").splitlines()[0]
        own = parsers.add_parser(name, help=about, description=about)
        command.add_arguments(own)
        own.set_defaults(run=command.run)
    options = parser.parse_args(arguments)
    return options.run(options)


if __name__ == "__main__":
    sys.exit(main())
