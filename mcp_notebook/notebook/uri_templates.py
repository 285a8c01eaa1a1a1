"""URI templates (RFC 6570): what has to be given for one, and the URI that comes of it."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any
from urllib.parse import quote

from .brief import CommandError
from .interpolation import Names

_VARIABLES = re.compile(r"\{([+#./;?&]?)([^{}]*)\}")
_FORMS = {
    "": ("", ",", False),
    "+": ("", ",", False),
    "#": ("#", ",", False),
    ".": (".", ".", False),
    "/": ("/", "/", False),
    ";": (";", ";", True),
    "?": ("?", "&", True),
    "&": ("&", "&", True),
}
"""Operator of RFC 6570 -> what stands first, what stands between, whether names are told."""
_RESERVED = ":/?#[]@!$&'()*+,;="


def variables_of(template: str) -> dict[str, bool]:
    """The variables of a template, and whether they have to be given."""
    return {
        name.rstrip("*"): operator not in ("?", "&")
        for operator, names in _VARIABLES.findall(template)
        for name in names.split(",")
    }


def expand(template: str, values: Mapping[str, Any], names: Names) -> str:
    """A URI of a template: its variables are the values given, or else the notebook's variables of those names.

    Raises:
        CommandError: one has no value, and stands where it cannot be left out.
    """

    def expression(found: re.Match[str]) -> str:
        operator, variables = found[1], [name.rstrip("*") for name in found[2].split(",")]
        first, between, named = _FORMS[operator]
        given = {name: values.get(name, names.get(name)) for name in variables}
        missing = [name for name, value in given.items() if value is None]
        if missing and operator not in ("?", "&"):
            raise CommandError(f"{template} needs a value for {missing[0]}: write {missing[0]}=… behind it.")
        kept = _RESERVED if operator in ("+", "#") else ""
        texts = {name: quote(str(value), safe=kept) for name, value in given.items() if value is not None}
        shown = [f"{name}={text}" if named else text for name, text in texts.items()]
        return first + between.join(shown) if shown else ""

    return _VARIABLES.sub(expression, template)
