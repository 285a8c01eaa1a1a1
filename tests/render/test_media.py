"""Pictures and sounds: of known types, checked, of a fair size."""

from __future__ import annotations

import base64
import random

import pytest

from mcp_notebook import types
from mcp_notebook.limits import DISPLAY_LIMITS

from .page import answer, show

BYTES = {
    "image/png": b"\x89PNG\r\n\x1a\n....",
    "image/jpeg": b"\xff\xd8\xff\xe0....",
    "image/gif": b"GIF89a....",
    "image/webp": b"RIFF....WEBPVP8 ",
    "image/svg+xml": b"\xef\xbb\xbf<?xml version='1.0'?>\n<svg xmlns='http://www.w3.org/2000/svg'><script/></svg>",
    "audio/wav": b"RIFF....WAVEfmt ",
    "audio/mpeg": b"ID3.....",
    "audio/ogg": b"OggS....",
    "audio/webm": b"\x1a\x45\xdf\xa3....",
    "audio/flac": b"fLaC....",
    "audio/mp4": b"....ftypM4A ",
    "audio/aac": b"\xff\xf1....",
}


def encoded(data: bytes) -> str:
    return base64.b64encode(data).decode()


def block(mime_type: str, data: bytes | str) -> dict[str, str]:
    kind = "audio" if mime_type.startswith("audio") else "image"
    return {"type": kind, "mimeType": mime_type, "data": data if isinstance(data, str) else encoded(data)}


@pytest.mark.parametrize("mime_type", BYTES)
def test_a_known_type_is_shown_from_its_checked_bytes(mime_type: str) -> None:
    page, plain = show(answer(block(mime_type, BYTES[mime_type])))
    assert page.sources == [f"data:{mime_type};base64,{encoded(BYTES[mime_type])}"]
    size = len(BYTES[mime_type])
    assert plain == f"[{mime_type}, {size} bytes; result.save(path) keeps it]"


def test_a_picture_has_words_and_a_sound_has_controls() -> None:
    page, _ = show(answer(block("image/png", BYTES["image/png"]), block("audio/wav", BYTES["audio/wav"])))
    attributes = dict(page.elements)
    assert attributes["img"]["alt"] == "image/png, 12 bytes; result.save(path) keeps it"
    assert "controls" in attributes["audio"]


def test_other_names_and_parameters_of_a_type_are_understood() -> None:
    page, _ = show(answer(block("Image/JPG; q=1", BYTES["image/jpeg"]), block("audio/x-wav", BYTES["audio/wav"])))
    assert [source.split(";")[0] for source in page.sources] == ["data:image/jpeg", "data:audio/wav"]


def test_line_breaks_in_the_data_are_tolerated_and_do_not_reach_the_page() -> None:
    data = encoded(BYTES["image/png"])
    page, _ = show(answer(block("image/png", data[:4] + "\r\n" + data[4:])))
    assert page.sources == [f"data:image/png;base64,{data}"]


@pytest.mark.parametrize("mime_type", BYTES)
def test_bytes_that_are_not_what_they_are_called_are_not_shown(mime_type: str) -> None:
    page, plain = show(answer(block(mime_type, b"<script>alert(1)</script>")))
    assert page.sources == []
    assert page.text == plain == f"{mime_type} that is not one, 25 bytes; result.save(path) keeps it"


def test_data_that_is_not_base64_is_said_to_be_none() -> None:
    page, plain = show(answer(block("image/png", "not base64!")))
    assert page.sources == []
    assert plain == "image/png whose data is not base64, 11 characters"


@pytest.mark.parametrize("mime_type", ["image/tiff", "audio/midi", "image/svg", "text/html", 'image/png" onerror="x'])
def test_other_types_are_named_with_their_size_and_not_shown(mime_type: str) -> None:
    page, plain = show(answer(block(mime_type, b"12345")))
    assert page.sources == []
    assert plain == f"{mime_type}, 5 bytes; result.save(path) keeps it"


def test_a_picture_beyond_the_limit_is_named_with_its_size_and_a_way_to_keep_it() -> None:
    data = BYTES["image/png"] + random.Random(1).randbytes(DISPLAY_LIMITS.media)
    page, plain = show(answer(block("image/png", data)))
    assert page.sources == []
    assert plain == "image/png, 5.2 MB: too large to show here (more than 5.2 MB); result.save(path) keeps it"


def test_bytes_in_resources_are_shown_or_named_the_same_way() -> None:
    contents = [
        {"uri": "demo://1", "mimeType": "image/png", "blob": encoded(BYTES["image/png"])},
        {"uri": "demo://2", "mimeType": "application/zip", "blob": encoded(b"PK")},
        {"uri": "demo://3", "blob": encoded(b"..")},
        {"uri": "demo://4", "mimeType": "image/svg+xml", "text": "<svg onload=alert(1)></svg>"},
    ]
    page, plain = show(types.ReadResourceResult.model_validate({"contents": contents}))
    assert [source.split(";")[0] for source in page.sources] == ["data:image/png", "data:image/svg+xml"]
    assert "application/zip, 2 bytes; result.save(path) keeps it" in plain
    assert "bytes of no stated type, 2 bytes" in plain
    page, _ = show(answer({"type": "resource", "resource": contents[0]}))
    assert len(page.sources) == 1


def test_a_prompt_says_where_its_bytes_are() -> None:
    messages = [{"role": "user", "content": block("image/tiff", b"12345")}]
    _, plain = show(types.GetPromptResult.model_validate({"messages": messages}))
    assert "image/tiff, 5 bytes; result.messages[0].content holds it" in plain
