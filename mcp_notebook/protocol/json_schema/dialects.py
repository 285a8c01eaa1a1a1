"""The dialects of JSON Schema that are known, and which of them a schema is written in."""

from __future__ import annotations

from typing import Any

from ...errors import SchemaError
from ...visible import quote

DIALECTS = {
    "json-schema.org/draft/2020-12/schema": "Draft202012Validator",
    "json-schema.org/draft/2019-09/schema": "Draft201909Validator",
    "json-schema.org/draft-07/schema": "Draft7Validator",
    "json-schema.org/draft-06/schema": "Draft6Validator",
    "json-schema.org/draft-04/schema": "Draft4Validator",
}
"""The dialects that `$schema` may name (with http or https, with or without a final #), and their validators."""
DEFAULT_DIALECT = "json-schema.org/draft/2020-12/schema"


def dialect_of(schema: Any) -> str:
    """The dialect a schema is written in, as a key of DIALECTS (JSC-1).

    Raises:
        SchemaError: it declares another one.
    """
    declared = schema.get("$schema", DEFAULT_DIALECT) if isinstance(schema, dict) else DEFAULT_DIALECT
    name = declared.rstrip("#").removeprefix("https://").removeprefix("http://") if isinstance(declared, str) else ""
    if name not in DIALECTS:
        known = ", ".join(key.removeprefix("json-schema.org/").removesuffix("/schema") for key in DIALECTS)
        raise SchemaError(
            f"The JSON Schema dialect {quote(str(declared))} is not supported. Supported are {known}; "
            "without '$schema' it is draft/2020-12.",
            path="/$schema",
        )
    return name
