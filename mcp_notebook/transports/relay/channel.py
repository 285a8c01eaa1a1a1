"""The client's side of a relay: a channel like that of stdio, which can tell a lost way from a lost server."""

from __future__ import annotations

from ...errors import ConnectError, ConnectionLost, MCPError, ServerExited, TakenOver
from ..process import Child, last_words
from ..process_tree import ending_in_words
from ..stdio import StdioChannel
from . import KEEPER_ENDED, OVERTAKEN, PREFIX, SERVER_ENDED, TAKEN_OVER

__all__ = ["RelayChannel"]


class RelayChannel(StdioChannel):
    """A channel to a server behind a relay. Its child is the front: where that is lost, the server may still run."""

    def _why_lost(self, child: Child, cut_off: bool) -> MCPError:
        before, _, last = child.stderr.rstrip().rpartition("\n")
        if not last.startswith(PREFIX):
            if child.exit_status is not None and child.exit_status >= 0 and last:
                return child.loss(cut_off=cut_off)  # something is wrong with us
            return ConnectionLost(
                f"The way to the server was cut: the process between (pid {child.pid}) "
                f"{ending_in_words(child.exit_status)}. The server itself should still run; connect again to go on."
            )
        told = last.removeprefix(PREFIX)
        if child.exit_status == TAKEN_OVER and told == OVERTAKEN:
            return TakenOver(
                "Another client has connected to this server, and has it now: there can be only one at a time. The "
                "server runs on. Connect again to take it back, which ends the other's connection."
            )
        text = f"{told[:1].upper()}{told[1:]}"
        if not told.startswith((SERVER_ENDED, KEEPER_ENDED)):  # it was never let in
            return ConnectError(text)
        return ServerExited(f"{text} {last_words(before)}", exit_status=child.exit_status, stderr=before)
