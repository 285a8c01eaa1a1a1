"""Content blocks, and the results that are made of them."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from pydantic_core import from_json

from .. import types
from ..limits import DISPLAY_LIMITS
from .data import data
from .letters import excerpt, size
from .media import is_svg, media
from .parts import Card, Part, Text, text
from .rows import unwrap

_SAVE = "result.save(path) keeps it"


def call_result(result: types.CallToolResult) -> list[Part]:
    """What a tool answered: its blocks in order, then its data, unless one of them merely repeats the other."""
    blocks = list(enumerate(result.content))
    structured = result.structured_content
    if structured is not None and _repeats(result.content, unwrap(structured)):
        if isinstance(unwrap(structured), (dict, list)):
            blocks = [(i, block) for i, block in blocks if not isinstance(block, types.TextContent)]
        else:
            structured = None
    shown = _blocks([(f"result.content[{i}]", block) for i, block in blocks], "result.content")
    if structured is not None:
        shown += data(unwrap(structured), "result.structured")
    if not shown:
        shown.append(Text("(no content)", "note"))
    return [Card("fail", "the tool reports an error", shown)] if result.is_error else shown


def read_result(result: types.ReadResourceResult) -> list[Part]:
    """What a resource holds."""
    shown: list[Part] = []
    for i, contents in enumerate(result.contents[: DISPLAY_LIMITS.blocks]):
        shown += _resource(contents, f"result.contents[{i}]", _SAVE)
    shown += _left_out(result.contents, "result.contents")
    return shown or [Text("(no content)", "note")]


def prompt_result(result: types.GetPromptResult) -> list[Part]:
    """The messages of a prompt, each under its role."""
    shown: list[Part] = text(result.description, "result.description", "prose") if result.description else []
    for i, message in enumerate(result.messages[: DISPLAY_LIMITS.blocks]):
        shown.append(_label(message.role))
        place = f"result.messages[{i}].content"
        shown += _block(message.content, place, f"{place} holds it")
    shown += _left_out(result.messages, "result.messages")
    return shown or [Text("(no messages)", "note")]


def _blocks(blocks: Sequence[tuple[str, types.ContentBlock]], whole: str) -> list[Part]:
    shown: list[Part] = []
    for place, block in blocks[: DISPLAY_LIMITS.blocks]:
        shown += _block(block, place, _SAVE)
    return [*shown, *_left_out(blocks, whole)]


def _left_out(things: Sequence[Any], whole: str) -> list[Part]:
    more = len(things) - DISPLAY_LIMITS.blocks
    return [Text(f"… {more:,} more of {len(things):,}; all are in {whole}", "note")] if more > 0 else []


def _block(block: types.ContentBlock, place: str, keep: str) -> list[Part]:
    """One block, under what its annotations say.

    `place` is the Python expression that gives it, `keep` says how to get at bytes that are not shown.
    """
    hints = _hints(getattr(block, "annotations", None))
    match block:
        case types.TextContent():
            shown = text(block.text, f"{place}.text")
        case types.ImageContent() | types.AudioContent():
            shown: list[Part] = [media(block.data, block.mime_type, keep)]
        case types.ResourceLink():
            shown = _link(block, place)
        case types.EmbeddedResource():
            shown = _resource(block.resource, f"{place}.resource", keep)
        case _:
            shown = [_label(f"a block of type {block.type}"), *data(block.wire(), place)]
    return [_label(hints), *shown] if hints else shown


def _hints(annotations: types.Annotations | None) -> str:
    if annotations is None:
        return ""
    said = [f"for {' and '.join(annotations.audience)}"] if annotations.audience else []
    said += [f"priority {annotations.priority:g}"] if annotations.priority is not None else []
    return " · ".join(said)


def _link(link: types.ResourceLink, place: str) -> list[Part]:
    """A resource that can be read: its address is text, not a link."""
    about = _label("resource", link.label, link.mime_type, size(link.size) if link.size is not None else None)
    described = text(link.description, f"{place}.description", "prose") if link.description else []
    return [about, *text(link.uri, f"{place}.uri"), *described]


def _resource(contents: types.ResourceContents, place: str, keep: str) -> list[Part]:
    if contents.text is None:
        return [_label(contents.uri), media(contents.blob or "", contents.mime_type, keep)]
    if is_svg(contents.mime_type):
        blob = types.encode_base64(contents.text.encode("utf-8", "replace"))
        return [_label(contents.uri), media(blob, contents.mime_type, keep)]
    return [_label(contents.uri, contents.mime_type), *text(contents.text, f"{place}.text")]


def _label(*facts: str | None) -> Part:
    return Text(" · ".join(excerpt(fact) for fact in facts if fact), "label")


def _repeats(blocks: Sequence[types.ContentBlock], value: Any) -> bool:
    """Whether the text blocks say the same as the data: all of it in one, or one item in each."""
    texts = [block.text for block in blocks if isinstance(block, types.TextContent)]
    if len(texts) == 1 and _says(texts[0], value):
        return True
    return bool(texts) and isinstance(value, list) and len(value) == len(texts) and all(map(_says, texts, value))


def _says(said: str, value: Any) -> bool:
    if isinstance(value, str) and said == value:
        return True
    try:
        parsed = from_json(said)
        return parsed == value or unwrap(parsed) == value
    except ValueError:
        return False
