"""The sessions of one endpoint: found by id, bounded in number, forgotten when they were idle for long."""

from __future__ import annotations

import time
from collections import OrderedDict

from ...limits import Limits
from .channels import SessionChannel


class Sessions:
    """The sessions, in the order in which they were last used."""

    def __init__(self, limits: Limits) -> None:
        self._limits = limits
        self._kept: OrderedDict[str, SessionChannel] = OrderedDict()

    def find(self, id: str, principal: str | None) -> SessionChannel | None:
        """The session of that id; None where it is over, or somebody else's."""
        session = self._kept.get(id)
        return None if session is None or session.ended or session.principal != principal else session

    def touch(self, session: SessionChannel) -> None:
        """It is used right now."""
        session.used = time.monotonic()
        if session.id in self._kept:
            self._kept.move_to_end(session.id)

    def add(self, session: SessionChannel) -> list[SessionChannel] | None:
        """Take one in: those that give way to it. None where there is no room: all others are in use."""
        latest = time.monotonic() - self._limits.session_idle
        surplus = len(self._kept) + 1 - self._limits.sessions
        leaving = []
        for one in self._kept.values():
            if surplus <= 0 and one.used >= latest:
                break
            if not one.streaming:
                leaving.append(one)
                surplus -= 1
        if surplus > 0:
            return None
        for one in leaving:
            del self._kept[one.id]
        self._kept[session.id] = session
        self.touch(session)
        return leaving

    def remove(self, session: SessionChannel) -> None:
        """Forget one."""
        self._kept.pop(session.id, None)

    def clear(self) -> list[SessionChannel]:
        """Forget all: those there were."""
        all = list(self._kept.values())
        self._kept.clear()
        return all
