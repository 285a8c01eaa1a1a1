"""What all the models share."""

from __future__ import annotations

import functools
from collections import defaultdict
from collections.abc import Iterator
from typing import Annotated, Any, Literal, TypeAlias, TypeVar

from pydantic import (
    BaseModel,
    ConfigDict,
    Field,
    ValidationError,
    ValidationInfo,
    ValidatorFunctionWrapHandler,
    WrapValidator,
)
from pydantic.alias_generators import to_camel

Cursor: TypeAlias = str
ProgressToken: TypeAlias = str | int
Role: TypeAlias = Literal["user", "assistant"]

REPR_TEXT = 200
"""How many characters of a text stand in a repr."""


class Model(BaseModel):
    """A thing of the protocol: snake_case here, camelCase on the wire; fields we do not know are kept."""

    model_config = ConfigDict(
        extra="allow",
        alias_generator=to_camel,
        validate_by_name=True,
        validate_by_alias=True,
        serialize_by_alias=True,
        ser_json_inf_nan="null",
        protected_namespaces=(),
        defer_build=True,
    )

    def __repr_args__(self) -> Iterator[tuple[str | None, Any]]:
        """What there is, long text cut short: a repr is read by people."""
        for name, value in super().__repr_args__():
            if isinstance(value, str) and len(value) > REPR_TEXT:
                value = f"{value[:REPR_TEXT]}… ({len(value):,} characters)"
            if value is not None:
                yield name, value

    def wire(self) -> dict[str, Any]:
        """As JSON data, without what was left out."""
        return self.model_dump(mode="json", by_alias=True, exclude_none=True)

    def shallow(self) -> dict[str, Any]:
        """Its fields by their names on the wire, without what was left out; what they hold is not JSON data yet."""
        names = _wire_names(type(self))
        fields = {**self.__dict__, **(self.__pydantic_extra__ or {})}
        return {names.get(name, name): value for name, value in fields.items() if value is not None}


@functools.cache
def _wire_names(model: type[Model]) -> dict[str, str]:
    return {name: field.serialization_alias or name for name, field in model.model_fields.items()}


class WithMeta(Model):
    """Something that can carry `_meta`."""

    meta: dict[str, Any] | None = Field(default=None, validation_alias="_meta", serialization_alias="_meta")


class Result(WithMeta):
    """What a request is answered with; alone, an empty result.

    `result_type` is what the modern revisions say of each result; it is absent before, which means "complete".
    """

    result_type: str | None = Field(default=None, repr=False)


class Cacheable(Result):
    """A result that may be kept for `ttl_ms` milliseconds, by whom `cache_scope` says ("public" or "private")."""

    ttl_ms: int | None = Field(default=None, repr=False)
    cache_scope: str | None = Field(default=None, repr=False)


class PaginatedResult(Cacheable):
    """A page of a list; `next_cursor` leads to the next one."""

    next_cursor: Cursor | None = None


class Icon(Model):
    """A picture for a thing. Never fetched by this library."""

    src: str
    mime_type: str | None = None
    sizes: list[str] | None = None
    theme: str | None = None


FORGIVING = object()
"""The context to validate with what the other side sent: broken optional fields are left out."""


def without_what_is_broken(value: Any, handler: ValidatorFunctionWrapHandler, info: ValidationInfo) -> Any:
    """Validate things that are still of use without their optional fields, where these are broken.

    Args:
        value: the data: a list of such things, or one of several kinds of them. Where a problem is, is told by the
            number in the list or the kind, and then by the field.
        handler: validates it.
        info: of the validation; it forgives only in the context `FORGIVING`.
    """
    try:
        return handler(value)
    except ValidationError as error:
        if info.context is not FORGIVING:
            raise
        broken: defaultdict[tuple[int | str, ...], set[int | str]] = defaultdict(set)
        for problem in error.errors(include_url=False, include_input=False):
            broken[problem["loc"][:1]].update(problem["loc"][1:2])
        if isinstance(value, list):
            return handler([_without(one, broken[number,]) for number, one in enumerate(value)])
        return handler(_without(value, set().union(*broken.values())))


def _without(value: Any, fields: set[int | str]) -> Any:
    return {key: one for key, one in value.items() if key not in fields} if isinstance(value, dict) else value


Item = TypeVar("Item")
Forgiving: TypeAlias = Annotated[list[Item], WrapValidator(without_what_is_broken)]
"""A list of things that are still of use without their optional fields."""


class Named(WithMeta):
    """A thing with a name for programs, a title for people, and pictures."""

    name: str
    title: str | None = None
    icons: list[Icon] | None = None

    @property
    def label(self) -> str:
        """What to call it before people."""
        return self.title or self.name


class Annotations(Model):
    """Hints about a content block or resource: for whom, how important (0 to 1), last modified (ISO 8601)."""

    audience: list[Role] | None = None
    priority: float | None = None
    last_modified: str | None = None
