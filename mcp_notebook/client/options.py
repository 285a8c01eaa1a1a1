"""How a client behaves."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field

from ..jsonrpc import Notification
from ..limits import DEFAULT_LIMITS, Limits
from ..types import Implementation
from .answering import Answering
from .calls import CallHandle


@dataclass(frozen=True, slots=True, kw_only=True)
class ClientOptions:
    """How a client behaves; `connect` documents each."""

    answering: Answering = field(default_factory=Answering)
    timeout: float | None = None
    revision: str | None = None
    limits: Limits = DEFAULT_LIMITS
    info: Implementation | None = None
    on_notification: Callable[[Notification], None] | None = None
    trust: bool = False
    remember_arguments: bool = False
    left: Sequence[CallHandle] = ()

    def waits(self, timeout: float | None) -> tuple[float, float]:
        """Seconds of silence that are borne in a request, and seconds in all.

        Args:
            timeout: the former, where the caller has an opinion.
        """
        silence = timeout if timeout is not None else self.timeout
        if silence is None:
            silence = self.limits.request
        return silence, max(self.limits.request_total, silence)


def default_info() -> Implementation:
    """How this client introduces itself."""
    return Implementation(name="mcp_notebook", title="mcp_notebook", version=package_version())


def package_version() -> str:
    """The version of this package; "0" where it runs from a folder."""
    from importlib.metadata import PackageNotFoundError, version

    try:
        return version("mcp_notebook")
    except PackageNotFoundError:
        return "0"
