"""JSON Schema: checking schemas and values, saying what is wrong in words, reading schemas for forms and completion.

Schemas without `$schema` are 2020-12; 2019-09 and draft-07, draft-06 and draft-04 are known too (JSC-1). Nothing is
ever fetched, and work is bounded: where a schema is recursive or huge, what cannot be checked counts as accepted, for
that field only (JSC-4). The library `jsonschema` is imported at the first check, not before.

`check_schema` and `Validator` judge; `properties_of`, `required_of`, `allowed_values`, `inlined`, `describe` and
`coerce_text` read a schema as well as can be done, and never fail over a broken one.

Source: SEP-1613; "JSON Schema Usage" of each revision (basic/index).
"""

from __future__ import annotations

from .checking import Validator, check_schema
from .problems import Problem
from .reading import allowed_values, inlined, properties_of, required_of
from .text import coerce_text
from .words import describe

__all__ = [
    "Problem",
    "Validator",
    "allowed_values",
    "check_schema",
    "coerce_text",
    "describe",
    "inlined",
    "properties_of",
    "required_of",
]
