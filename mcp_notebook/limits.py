"""Every limit of the toolkit: its name, its default, its unit. Nothing waits or grows without one of these."""

from __future__ import annotations

from dataclasses import dataclass

KiB = 1024
MiB = 1024 * KiB
GiB = 1024 * MiB


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
    probe: float = 5.0
    """How long a server of unknown era may be silent before it gets the handshake, too."""
    rounds: int = 20
    """How many times one request may be answered with a question."""
    question: float = 900.0
    """How long a person (or whatever answers for one) may take over a server's question."""
    shutdown: float = 2.0
    """How long a child process may take to end after each step: closed input, then SIGTERM."""
    kernel_shutdown: float = 2.0
    """How long everything in a kernel may take to close when the kernel ends; Jupyter kills it after 2.5 seconds."""
    linger: float = 0.3
    """How long a child's last words are waited for once it has ended, and its end once it has closed a pipe."""
    incoming_requests: int = 1000
    """How many requests of one peer are worked on at once, beside its tasks; more are refused with an error."""
    sessions: int = 1000
    """How many sessions of one HTTP endpoint are kept; the one idle longest gives way to a new one."""
    session_idle: float = 1800.0
    """How long a session without open streams is kept."""
    streams: int = 2000
    """How many requests of one HTTP endpoint are open at once; more are refused."""
    outbox: int = 1000
    """How many messages that belong to no request wait for a client to fetch them; the oldest give way."""
    replay: float = 120.0
    """How long a message sent on an SSE stream is kept for a client that may not have got it, and the stream after its
    end."""
    replay_messages: int = 1000
    """How many messages of one SSE stream are kept; the oldest of those sent, and of notifications, give way."""
    replay_buffer: int = 16 * MiB
    """How much of one SSE stream is kept, likewise."""
    replay_streams: int = 1000
    """How many SSE streams of one session are kept after their end."""
    keep_alive: float = 15.0
    """How long a stream may be silent before a comment shows that it is alive."""
    connections: int = 2000
    """How many connections one HTTP listener holds; more are cut."""
    idle: float = 30.0
    """How long a connection to an HTTP listener may stand idle, or take over the head of its next request."""
    head: int = 64 * KiB
    """The largest head of an HTTP request."""
    stall: float = 60.0
    """How long an HTTP client may read nothing of what waits for it before its connection is cut."""
    body: float = 30.0
    """How long the body of an HTTP request may take to come."""
    handler_threads: int = 64
    """How many synchronous handlers of one server run at once; more wait for their turn."""
    pages: int = 1000
    """How many pages of one list are followed."""
    stderr_tail: int = 64 * KiB
    """How much of the end of a child's stderr is kept, to be quoted in errors."""
    call_events: int = 1000
    """How many events of one call are kept; older log lines give way, with a marker."""
    resumes: int = 8
    """How often a dropped call is resumed without hearing anything in between."""
    kept: float = 3600.0
    """How long a resumable call is kept for a client that is away, where its tool says nothing of it."""
    kept_calls: int = 20_000
    """How many resumable calls of one server are kept at once; the oldest whose outcome was sent gives way."""
    tasks: int = 20_000
    """How many tasks of one requestor are at work at once."""
    task_keep: float = 3600.0
    """How long a task is kept where its requestor does not say."""
    task_keep_most: float = 24 * 3600.0
    """How long a task is kept at most, whatever its requestor wishes."""
    task_poll: float = 1.0
    """The longest that a requestor is told to wait before it asks about a task again; young tasks may be asked about
    sooner, and those of a requestor that has very many, later."""
    task_rate: float = 10_000.0
    """How many requests about tasks one requestor may make in a second, on average over ten."""
    parked_calls: int = 1000
    """How many handlers of one server wait for clients to come back with answers (round trips)."""
    store: int = 1 * GiB
    """How large a file may become in which calls are remembered; then nothing is added to it."""
    store_busy: float = 5.0
    """How long another process may keep such a file for itself before what waits for it fails."""
    url: int = 16_384
    """Characters of a URL that a server may ask a person to visit, since all of it is shown."""
    visits: int = 20
    """How many URLs one server may ask one client's person to visit at once."""
    journal: float = 7 * 24 * 3600.0
    """How long a notebook remembers a call that was under way when its kernel ended."""
    subscriptions: int = 10_000
    """How many resources one client may subscribe to."""
    send_buffer: int = 1 * MiB
    """How much may wait to be written to a pipe before senders are slowed down."""
    relay_buffer: int = 64 * MiB
    """How much of what a server says a relay keeps while nobody reads it; then the server has to wait."""
    relay_keep: float = 3600.0
    """How long a relay keeps a server to which nobody is attached."""


@dataclass(frozen=True, slots=True, kw_only=True)
class DisplayLimits:
    """How much of a value is shown. The value itself stays whole, and the display says where to find it."""

    text: int = 20_000
    """Characters of one text."""
    blocks: int = 50
    """Content blocks, messages or contents of one result."""
    rows: int = 200
    """Rows of a table, or entries at one place of a tree."""
    columns: int = 30
    """Columns of a table."""
    line: int = 2_000
    """Characters of one log line."""
    cell: int = 300
    """Characters of one cell of a table, or of one value in a tree."""
    nodes: int = 2_000
    """Values of a tree or a table."""
    depth: int = 20
    """Levels of a tree."""
    media: int = 5 * MiB
    """Bytes of one picture or sound that is put into the notebook."""
    choices: int = 100
    """Values of a drop-down list in a form; where there are more, one searches."""
    boxes: int = 12
    """Check boxes for several of some values; where there are more, they are added one by one."""
    fields: int = 200
    """Fields of one object in a form; the rest of them are given in its JSON."""
    levels: int = 6
    """Levels of a form; what lies deeper is given as JSON."""


DEFAULT_LIMITS = Limits()
DISPLAY_LIMITS = DisplayLimits()
