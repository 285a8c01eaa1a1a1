"""The body of a `%%mcp call` cell: a tool's arguments as JSON or YAML."""

from __future__ import annotations

import json
import re
from typing import Any

import yaml

from ..protocol.json_schema import coerce_text, properties_of
from ..render.letters import one_line
from ..types import Tool
from .brief import CommandError


class _Loader(yaml.SafeLoader):
    """YAML of which plain words are read as JSON would: `no` and dates are text (YAML 1.2's core schema)."""

    yaml_implicit_resolvers: dict[str, list[tuple[str, re.Pattern[str]]]] = {}


for _kind, _pattern, _first in (
    ("null", r"(?:null|~|)", ["n", "~", ""]),
    ("bool", r"(?:true|false)", ["t", "f"]),
    ("int", r"-?(?:0|[1-9]\d*)", list("-0123456789")),
    ("float", r"-?(?:0|[1-9]\d*)(?:\.\d+)?(?:[eE][-+]?\d+)?", list("-0123456789")),
    ("merge", "<<", ["<"]),
):
    _Loader.add_implicit_resolver(f"tag:yaml.org,2002:{_kind}", re.compile(rf"^{_pattern}$"), _first)


def read_body(body: str, tool: Tool) -> dict[str, Any]:
    """The arguments in a cell's body. Plain words of YAML are read by the tool's schema, as those of a line are.

    Raises:
        CommandError: it is neither, or no object.
    """
    if not body.strip():
        return {}
    try:
        value = json.loads(body)
    except (ValueError, RecursionError) as not_json:
        try:
            value = _yaml(body, tool)
        except (yaml.YAMLError, RecursionError) as not_yaml:
            why = not_json if body.lstrip().startswith("{") else not_yaml
            raise CommandError(f"The cell's body is neither JSON nor YAML: {one_line(str(why))}.") from None
    if not isinstance(value, dict):
        raise CommandError(
            f"The cell holds {type(value).__name__} data; {tool.name} takes named arguments. Write one a line, such as "
            f"{next(iter(properties_of(tool.input_schema)), 'name')}: value, or a JSON object."
        )
    return value


def _yaml(body: str, tool: Tool) -> Any:
    loader = _Loader(body)
    try:
        root = loader.get_single_node()
        if not isinstance(root, yaml.MappingNode):
            return {} if root is None else loader.construct_document(root)
        loader.flatten_mapping(root)
        properties = properties_of(tool.input_schema)
        return dict(_argument(loader, key, value, properties) for key, value in root.value)
    finally:
        loader.dispose()


def _argument(loader: _Loader, key: yaml.Node, value: yaml.Node, properties: dict[str, Any]) -> tuple[str, Any]:
    name = str(key.value)
    if isinstance(value, yaml.ScalarNode) and value.style is None and name in properties:
        try:
            return name, coerce_text(properties[name], value.value)
        except ValueError as error:
            raise CommandError(f"{name}: {error} (line {value.start_mark.line + 1} of the cell's body).") from None
    return name, loader.construct_object(value, deep=True)
