"""What servers answer, as Python values that show themselves in a notebook."""

from __future__ import annotations

import mimetypes
from collections.abc import Iterable
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, TypeVar

from pydantic import BeforeValidator, SerializerFunctionWrapHandler, ValidationError, model_serializer
from pydantic_core import from_json

from ..errors import InvalidResult, ToolError
from ..types import (
    AudioContent,
    CallToolResult,
    EmbeddedResource,
    GetPromptResult,
    ImageContent,
    Model,
    ReadResourceResult,
    ResourceContents,
    TextContent,
    decode_base64,
    text_of,
)
from ..types.base import FORGIVING
from ..types.problems import first_problem

if TYPE_CHECKING:
    import pandas

T = TypeVar("T")
M = TypeVar("M", bound=Model)


class Shown:
    """Something that shows itself, as HTML where there is a page and as text elsewhere."""

    def _repr_mimebundle_(self, include: Any = None, exclude: Any = None) -> dict[str, Any]:
        from ..render import mimebundle  # not before there is something to show

        return mimebundle(self)


class Listing(Shown, list[T]):
    """A list of what a server offers, shown as a table."""


def _said(value: Any) -> Any:
    return False if value is None else value


class ToolResult(Shown, CallToolResult):
    """What a tool answered.

    Attributes:
        content: the content blocks.
        structured: the data, where the tool gives any (as JSON data); else None.
        data: the most useful of it: the data (without the wrapper of a single "result"), else JSON that stands in the
            only text block, else the text.
        text: all text together.
        is_error: whether the tool says that it failed.
    """

    is_error: Annotated[bool, BeforeValidator(_said)] = False  # pyright: ignore[reportIncompatibleVariableOverride]

    @model_serializer(mode="wrap")
    def _serialized(self, serialize: SerializerFunctionWrapHandler) -> dict[str, Any]:
        return self._as_said(serialize(self))

    def shallow(self) -> dict[str, Any]:
        return self._as_said(super().shallow())

    def _as_said(self, fields: dict[str, Any]) -> dict[str, Any]:
        """Without what the server did not say: a result that is passed on is as it came."""
        if "is_error" not in self.model_fields_set:
            fields.pop("isError", None)
            fields.pop("is_error", None)
        return fields

    @property
    def structured(self) -> Any:
        """The structured content, as JSON data."""
        return self.structured_content

    @property
    def text(self) -> str:
        """All text blocks, one after the other."""
        return text_of(self.content)

    @property
    def data(self) -> Any:
        """The most useful form of the answer, for programs."""
        structured = self.structured_content
        if structured is not None:
            return (
                structured["result"] if isinstance(structured, dict) and set(structured) == {"result"} else structured
            )
        text = self.text
        if text[:1] in ("{", "["):
            try:
                return from_json(text)
            except ValueError:
                pass
        return text

    def raise_for_error(self) -> ToolResult:
        """Itself; or raise ToolError where the tool says that it failed."""
        if self.is_error:
            raise ToolError(self.text or "The tool reports an error and says nothing more.")
        return self

    def to_pandas(self) -> pandas.DataFrame:
        """The data as a DataFrame: a list of objects gives a row each, a flat object one row, one of lists columns.

        Raises:
            ToolError: the tool says that it failed.
            ValueError: the data is no table.
            ImportError: pandas is not installed.
        """
        try:
            import pandas
        except ImportError:
            raise ImportError("to_pandas() needs pandas: pip install pandas") from None

        from ..render.rows import to_rows

        self.raise_for_error()
        table = to_rows(self.data)
        if table is not None:
            columns, rows = table
            return pandas.DataFrame(rows, columns=list(columns))
        if isinstance(self.data, dict) and not any(isinstance(value, (dict, list)) for value in self.data.values()):
            return pandas.DataFrame([self.data])
        if isinstance(self.data, (dict, list)):
            try:
                return pandas.DataFrame(self.data)
            except ValueError as error:
                raise ValueError(f"The tool's data is no table: {error}. Its raw form is in .data.") from None
        raise ValueError("The tool's answer is text, not a table. It is in .text.")

    def save(self, path: str | Path) -> list[Path]:
        """Write the answer to files.

        Args:
            path: a file for a single block; for several, a number is added before the ending. A path without an
                ending gets the one that fits.

        Returns:
            The files written.

        Raises:
            ValueError: there is nothing to write.
        """
        blocks = [_bytes_of(block) for block in self.content]
        return _write([block for block in blocks if block is not None], path)


class ReadResult(Shown, ReadResourceResult):
    """What a resource holds."""

    @property
    def text(self) -> str:
        """All text of it."""
        return "\n".join(one.text for one in self.contents if one.text is not None)

    @property
    def data(self) -> Any:
        """JSON as data, text as text, anything else as bytes; a list where there are several contents."""
        values = [_value_of(one) for one in self.contents]
        return values[0] if len(values) == 1 else values

    def save(self, path: str | Path) -> list[Path]:
        """Write it to files, as `ToolResult.save` does."""
        return _write([_contents_bytes(one) for one in self.contents], path)


class PromptResult(Shown, GetPromptResult):
    """Messages that a server had ready."""

    @property
    def text(self) -> str:
        """All text of the messages."""
        return text_of([message.content for message in self.messages])


def parsed(form: type[M], raw: Any, what: str) -> M:
    """What a server answered, in the form that the protocol gives it.

    Raises:
        InvalidResult: it has not that form; `what` is in its text.
    """
    try:
        return form.model_validate(raw, context=FORGIVING)
    except ValidationError as error:
        raise InvalidResult(f"The server's answer to {what} is broken: {first_problem(error)}.") from None


def _value_of(contents: ResourceContents) -> Any:
    if contents.text is None:
        return decode_base64(contents.blob or "")
    if contents.mime_type is not None and contents.mime_type.split(";")[0].endswith("json"):
        try:
            return from_json(contents.text)
        except ValueError:
            pass
    return contents.text


def _bytes_of(block: Any) -> tuple[bytes, str | None] | None:
    match block:
        case TextContent():
            return block.text.encode(), "text/plain"
        case ImageContent() | AudioContent():
            return block.to_bytes(), block.mime_type
        case EmbeddedResource():
            return _contents_bytes(block.resource)
    return None


def _contents_bytes(contents: ResourceContents) -> tuple[bytes, str | None]:
    if contents.text is not None:
        return contents.text.encode(), contents.mime_type or "text/plain"
    return decode_base64(contents.blob or ""), contents.mime_type


def _write(parts: list[tuple[bytes, str | None]], path: str | Path) -> list[Path]:
    if not parts:
        raise ValueError("There is nothing in this answer that could be written to a file.")
    files = list(_names(Path(path), [mime_type for _, mime_type in parts]))
    for file, (data, _) in zip(files, parts, strict=True):
        file.write_bytes(data)
    return files


def _names(path: Path, mime_types: list[str | None]) -> Iterable[Path]:
    for number, mime_type in enumerate(mime_types, start=1):
        ending = path.suffix or mimetypes.guess_extension(mime_type or "") or ".bin"
        stem = path.stem if len(mime_types) == 1 else f"{path.stem}-{number}"
        yield path.with_name(stem + ending)
