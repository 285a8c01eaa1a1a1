"""Clients: connections to servers, calls of their tools, and what they answer."""

from .calls import CallHandle
from .client import Client
from .connect import connect
from .results import PromptResult, ReadResult, ToolResult

__all__ = ["CallHandle", "Client", "PromptResult", "ReadResult", "ToolResult", "connect"]
