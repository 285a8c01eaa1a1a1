"""What the modern revisions add: discovery, round trips, subscriptions."""

from __future__ import annotations

from typing import Any

from .base import Cacheable, Model, Result, WithMeta
from .initialize import ServerCapabilities


class DiscoverResult(Cacheable):
    """The answer to `server/discover`."""

    supported_versions: list[str]
    capabilities: ServerCapabilities
    instructions: str | None = None


class InputRequest(Model):
    """One question of a server's, inside a result."""

    method: str
    params: dict[str, Any] | None = None


class InputRequiredResult(Result):
    """Not yet an answer: what the server needs to know first, and what to give back to it unread."""

    result_type: str | None = "input_required"
    input_requests: dict[str, InputRequest] | None = None
    request_state: str | None = None


class SubscriptionFilter(Model):
    """Which changes a client wants to hear of; `resource_subscriptions` are URIs, `task_ids` the extension's."""

    tools_list_changed: bool | None = None
    prompts_list_changed: bool | None = None
    resources_list_changed: bool | None = None
    resource_subscriptions: list[str] | None = None
    task_ids: list[str] | None = None


class ListenParams(WithMeta):
    """`subscriptions/listen`."""

    notifications: SubscriptionFilter
