"""RFC 6570 templates read backwards: which values of its variables make this URI?

Levels 1 to 3 as far as that can be done: `{name}`, `{+path}`, `{#part}`, `{/a,b}`, `{.x}`, `{?q,limit}`, `{&more}`.
"""

from __future__ import annotations

import re
from urllib.parse import parse_qsl, unquote

from ..errors import SchemaError

_EXPRESSION = re.compile(r"\{([+#./;?&]?)([^{}]*)\}")
_NAME = re.compile(r"[A-Za-z_][A-Za-z0-9_.]*\*?$")
_PART = {"": "[^/?#&]+", "+": ".+", "#": ".+", ".": "[^./?#]+", "/": "[^/?#]+", ";": "[^;/?#]*"}
_LEAD = {"": "", "+": "", "#": "#", ".": r"\.", "/": "/", ";": ";"}


class UriTemplate:
    """One template.

    Raises:
        SchemaError: it is no template that can be read back.
    """

    def __init__(self, template: str) -> None:
        self.template = template
        self.variables: list[str] = []
        self._query: list[str] = []
        pattern, position = "", 0
        for found in _EXPRESSION.finditer(template):
            pattern += re.escape(template[position : found.start()])
            pattern += self._expression(found.group(1), found.group(2))
            position = found.end()
        rest = template[position:]
        if "{" in rest or "}" in rest or "{" in pattern.replace(r"\{", ""):
            raise SchemaError(f"The URI template {template!r} has a brace without its partner.")
        self._pattern = re.compile(pattern + re.escape(rest) + ("(?P<_q>[?&].*)?" if self._query else ""))

    def match(self, uri: str) -> dict[str, str] | None:
        """The variables' values where this is a URI of the template, decoded; else None."""
        found = self._pattern.fullmatch(uri)
        if found is None:
            return None
        groups = [(name, found.group(f"v{index}")) for index, name in enumerate(self.variables[: self._in_path])]
        values = {name: unquote(value) for name, value in groups if value is not None}
        if self._query:
            given = dict(parse_qsl((found.group("_q") or "").lstrip("?&"), keep_blank_values=True))
            values.update({name: given[name] for name in self._query if name in given})
        return values

    @property
    def _in_path(self) -> int:
        return len(self.variables) - len(self._query)

    def _expression(self, operator: str, names: str) -> str:
        parts = ""
        for position, name in enumerate(names.split(",")):
            if not _NAME.match(name):
                raise SchemaError(f"{name!r} is no variable of a URI template (in {self.template!r}).")
            name = name.removesuffix("*")
            if name in self.variables:
                raise SchemaError(f"The variable {name!r} stands twice in the URI template {self.template!r}.")
            self.variables.append(name)
            if operator in ("?", "&"):
                self._query.append(name)
                continue
            if self._query:
                raise SchemaError(f"The query must come last in the URI template {self.template!r}.")
            lead = _LEAD[operator] if position == 0 or operator in (".", "/", ";") else ","
            key = f"{re.escape(name)}=" if operator == ";" else ""
            parts += f"{lead}{key}(?P<v{len(self.variables) - 1}>{_PART[operator]})"
        return parts
