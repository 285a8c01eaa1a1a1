"""The contenders, by name. One more is a file here and a row below."""

from ..cases import Implementation
from .fast import FastMCP
from .floor import Floor
from .official import OfficialSDK
from .ours import Ours

IMPLEMENTATIONS: dict[str, Implementation] = {
    "mcp_notebook": Ours(),
    "official SDK": OfficialSDK(),
    "FastMCP": FastMCP(),
    "floor": Floor(),
}
OURS, BASE, FLOOR = "mcp_notebook", "official SDK", "floor"
"""Ratios are those of OURS (and the others) to BASE; FLOOR shows what is possible."""
