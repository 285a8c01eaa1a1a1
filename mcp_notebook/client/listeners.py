"""Telling functions that want to be told."""

from __future__ import annotations

import logging
from collections.abc import Callable, Iterable
from typing import Any

logger = logging.getLogger("mcp_notebook.client")


def tell(listeners: Iterable[Callable[..., Any]], *told: Any) -> None:
    """Call each of them; one that fails harms nothing but itself, and is logged."""
    for listener in tuple(listeners):
        try:
            listener(*told)
        except Exception:
            logger.exception("a listener failed: %r", listener)
