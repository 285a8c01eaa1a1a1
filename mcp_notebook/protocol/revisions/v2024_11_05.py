"""Revision 2024-11-05: what old servers still speak. Source: docs/specification/2024-11-05 and its schema."""

from ..revision import Revision


def each(key: str, *fields: str) -> dict[str, dict[str, set[str]]]:
    """Leave these fields out of every item of a list."""
    return {key: {"__all__": set(fields)}}


NAMED = ("title", "icons")
TASK_METHODS = frozenset({"tasks/get", "tasks/result", "tasks/list", "tasks/delete"})
"""Of the seed's tasks, which any handshake revision carries."""

REVISION = Revision(
    name="2024-11-05",
    era="handshake",
    client_requests=frozenset(
        {
            "initialize",
            "ping",
            "tools/list",
            "tools/call",
            "resources/list",
            "resources/templates/list",
            "resources/read",
            "resources/subscribe",
            "resources/unsubscribe",
            "prompts/list",
            "prompts/get",
            "completion/complete",
            "logging/setLevel",
            # The drafts for going on after a drop, where the client opts in.
            "requests/resume",
            "requests/getStatus",
            "stream/resume",
            "stream/poll",
            *TASK_METHODS,
        }
    ),
    server_requests=frozenset({"ping", "roots/list", "sampling/createMessage", *TASK_METHODS}),
    client_capabilities=frozenset({"experimental", "roots", "sampling", "resumable_requests", "streams"}),
    server_capabilities=frozenset({"experimental", "logging", "prompts", "resources", "tools"}),
    needs={
        "tools/list": ("tools",),
        "tools/call": ("tools",),
        "resources/list": ("resources",),
        "resources/templates/list": ("resources",),
        "resources/read": ("resources",),
        "resources/subscribe": ("resources", "subscribe"),
        "resources/unsubscribe": ("resources", "subscribe"),
        "prompts/list": ("prompts",),
        "prompts/get": ("prompts",),
        "logging/setLevel": ("logging",),
        "roots/list": ("roots",),
        "sampling/createMessage": ("sampling",),
    },
    content_types=frozenset({"text", "image", "resource"}),
    omit={
        "initialize": {"server_info": {"title", "icons", "description", "website_url"}},
        "tools/list": each("tools", *NAMED, "output_schema", "annotations", "execution"),
        "tools/call": {"structured_content": True},
        "resources/list": each("resources", *NAMED),
        "resources/templates/list": each("resource_templates", *NAMED),
        "prompts/list": {"prompts": {"__all__": {"title": True, "icons": True, **each("arguments", *NAMED)}}},
    },
    structured_output=False,
    tasks=("requestor",),
)
