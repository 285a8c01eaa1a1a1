"""Every limit of the toolkit: its name, its default, its unit. Nothing waits or grows without one of these."""

from __future__ import annotations

from dataclasses import dataclass

KiB = 1024
MiB = 1024 * KiB


@dataclass(frozen=True, slots=True, kw_only=True)
class Limits:
    """The bounds that one client or server keeps. Times are in seconds, sizes in bytes."""

    message: int = 32 * MiB
    """The largest single message that is read or sent."""
    request: float = 60.0
    """How long a request may stay silent; progress starts it again."""
    request_total: float = 3600.0
    """How long a request may take in all, however much progress it reports."""
    connect: float = 60.0
    """How long a server may take from its start to the end of the handshake."""
    question: float = 900.0
    """How long a person (or whatever answers for one) may take over a server's question."""
    shutdown: float = 2.0
    """How long a child process may take to end after each step: closed input, then SIGTERM."""
    incoming_requests: int = 1000
    """How many requests of one peer are worked on at once; more are refused with an error."""
    handler_threads: int = 64
    """How many synchronous handlers of one server run at once; more wait for their turn."""
    pages: int = 1000
    """How many pages of one list are followed."""
    stderr_tail: int = 64 * KiB
    """How much of the end of a child's stderr is kept, to be quoted in errors."""
    call_events: int = 1000
    """How many events of one call are kept; older log lines give way, with a marker."""
    send_buffer: int = 1 * MiB
    """How much may wait to be written to a pipe before senders are slowed down."""


DEFAULT_LIMITS = Limits()
