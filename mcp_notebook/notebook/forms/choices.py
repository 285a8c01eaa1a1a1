"""Values to choose from: reading them out of a schema, and finding one among very many."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

from ...render.letters import line


@dataclass(frozen=True, slots=True)
class Choice:
    """One of the values to choose from, and what it is called."""

    value: Any
    title: str


class Choices(Sequence[Choice]):
    """The values to choose from, each under a label of its own.

    Args:
        choices: in their order.
    """

    def __init__(self, choices: Sequence[Choice]) -> None:
        self._choices = choices

    def __getitem__(self, index: Any) -> Any:
        return self._choices[index]

    def __len__(self) -> int:
        return len(self._choices)

    @cached_property
    def labels(self) -> list[str]:
        """What each is called, fit to be shown on one line; two that look the same have their values added."""
        shown = [line(choice.title) for choice in self._choices]
        times = Counter(shown)
        if len(times) == len(shown):
            return shown
        full = [
            f"{label} ({line(title_of(choice.value))})" if times[label] > 1 else label
            for label, choice in zip(shown, self._choices, strict=True)
        ]
        times = Counter[str]()
        for at, label in enumerate(full):
            times[label] += 1
            if times[label] > 1:
                full[at] = f"{label} #{times[label]}"
        return full

    def labelled(self, label: str) -> Choice | None:
        """The one that a label stands for, however it is capitalised."""
        index = self._by_label.get(label, self._by_lower_label.get(label.strip().lower()))
        return None if index is None else self._choices[index]

    def index(self, value: Any, start: int = 0, stop: int | None = None) -> int:
        """Where a value stands. Raises ValueError: it is none of these."""
        for index, choice in enumerate(self._choices[start:stop], start):
            if choice.value == value and _kind(choice.value) == _kind(value):
                return index
        raise ValueError(f"{value!r} is not among the choices")

    def search(self, text: str, limit: int) -> list[str]:
        """The labels that contain a text, at most `limit`: those that begin with it first."""
        wanted = text.strip().lower()
        first: list[str] = []
        more: list[str] = []
        for lower, label in zip(self._lower, self.labels, strict=True):
            if lower.startswith(wanted):
                first.append(label)
                if len(first) == limit:
                    return first
            elif len(more) < limit and wanted in lower:
                more.append(label)
        return [*first, *more][:limit]

    @cached_property
    def _by_label(self) -> dict[str, int]:
        return {label: index for index, label in enumerate(self.labels)}

    @cached_property
    def _by_lower_label(self) -> dict[str, int]:
        return {label: index for index, label in reversed(list(enumerate(self._lower)))}

    @cached_property
    def _lower(self) -> list[str]:
        return [label.lower() for label in self.labels]


def choices_in(schema: dict[str, Any]) -> Choices | None:
    """The choices of a schema: enums plain, titled, or titled by `enumNames`; constants; yes and no for booleans."""
    return Choices(list(_choices(schema))) if has_choices(schema) else None


def has_choices(schema: dict[str, Any]) -> bool:
    """Whether a schema has choices."""
    return next(_choices(schema), None) is not None


def _choices(schema: dict[str, Any]) -> Iterator[Choice]:
    values = schema.get("enum")
    if isinstance(values, list):
        names = schema.get("enumNames")
        titles = names if isinstance(names, list) and len(names) == len(values) else map(title_of, values)
        yield from (
            Choice(value, title if isinstance(title, str) else title_of(title))
            for value, title in zip(values, titles, strict=True)
        )
        return
    if "const" in schema:
        yield Choice(schema["const"], title_of(schema["const"]))
        return
    for members in (schema.get("oneOf"), schema.get("anyOf")):
        if isinstance(members, list) and members and all(isinstance(one, dict) and "const" in one for one in members):
            for one in members:
                title = one.get("title")
                yield Choice(one["const"], title if isinstance(title, str) and title else title_of(one["const"]))
            return
    if schema.get("type") == "boolean":
        yield from (Choice(True, "yes"), Choice(False, "no"))
    elif schema.get("type") == "null":
        yield Choice(None, "null")


def title_of(value: Any) -> str:
    """What a value without a title is called."""
    return value if isinstance(value, str) else json.dumps(value, ensure_ascii=False, default=str)


def _kind(value: Any) -> type:
    """1 and 1.0 are one value in JSON, 1 and true are not."""
    return float if isinstance(value, int) and not isinstance(value, bool) else type(value)
