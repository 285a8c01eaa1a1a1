"""What a tool can be given, in words. A schema that cannot be read gives fewer words, never an error."""

from __future__ import annotations

import json
from dataclasses import dataclass
from typing import Any

from ..protocol.json_schema import describe, properties_of, required_of
from ..protocol.json_schema.reading import variants
from ..protocol.json_schema.words import either


@dataclass(frozen=True, slots=True)
class Argument:
    """One argument of a tool; its words are found when they are asked for.

    Args:
        name: its name.
        required: whether it must be given.
        schema: its schema, which stands alone.
    """

    name: str
    required: bool
    schema: dict[str, Any]

    @property
    def marked(self) -> str:
        """The name, with a star if it must be given."""
        return f"{self.name}*" if self.required else self.name

    @property
    def brief(self) -> str:
        """The marked name and the JSON type: `city* string`."""
        kinds = [part.get("type") for part in (self.schema, *variants(self.schema))]
        names = [name for kind in kinds for name in (kind if isinstance(kind, list) else [kind])]
        return f"{self.marked} {either([name for name in names if isinstance(name, str)])}".rstrip()

    @property
    def expected(self) -> str:
        """What it may be: `a whole number from 1 to 10`."""
        return describe(self.schema)

    @property
    def default(self) -> str:
        """What it is where it is not given, as it would be typed; "" without a default."""
        if "default" not in self.schema:
            return ""
        value = self.schema["default"]
        return value if value and isinstance(value, str) else json.dumps(value, ensure_ascii=False, default=str)

    @property
    def description(self) -> str:
        """What the server says of it."""
        description = self.schema.get("description")
        return description if isinstance(description, str) else ""


def arguments(schema: Any) -> list[Argument]:
    """The arguments that an input schema names, those that must be given first."""
    needed = set(required_of(schema))
    found = [Argument(name, name in needed, part) for name, part in properties_of(schema).items()]
    return sorted(found, key=lambda argument: not argument.required)
