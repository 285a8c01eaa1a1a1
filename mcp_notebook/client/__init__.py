"""Clients: connections to servers, calls of their tools, and what they answer."""

from .calls import CallHandle
from .client import Client
from .connect import connect
from .mapping import CallMap
from .results import PromptResult, ReadResult, ToolResult

__all__ = ["CallHandle", "CallMap", "Client", "PromptResult", "ReadResult", "ToolResult", "connect"]
