"""Resources and resource templates."""

from __future__ import annotations

from pydantic import model_validator

from .base import Annotations, Cacheable, Forgiving, Named, PaginatedResult, WithMeta


class Resource(Named):
    """Something a server lets its clients read, under a URI. `size` is in bytes."""

    uri: str
    description: str | None = None
    mime_type: str | None = None
    annotations: Annotations | None = None
    size: int | None = None


class ResourceTemplate(Named):
    """A family of resources: an RFC 6570 template of their URIs."""

    uri_template: str
    description: str | None = None
    mime_type: str | None = None
    annotations: Annotations | None = None


class ResourceContents(WithMeta):
    """What a resource holds: `text`, or `blob` (bytes as base64)."""

    uri: str
    mime_type: str | None = None
    text: str | None = None
    blob: str | None = None

    @model_validator(mode="after")
    def _holds_something(self) -> ResourceContents:
        if self.text is None and self.blob is None:
            raise ValueError("resource contents need 'text' or 'blob'")
        return self


class ListResourcesResult(PaginatedResult):
    """One page of `resources/list`."""

    resources: Forgiving[Resource]


class ListResourceTemplatesResult(PaginatedResult):
    """One page of `resources/templates/list`."""

    resource_templates: Forgiving[ResourceTemplate]


class ReadResourceResult(Cacheable):
    """The answer to `resources/read`."""

    contents: list[ResourceContents]
