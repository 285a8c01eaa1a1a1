"""Servers: tools, resources and prompts made of Python functions."""

from .context import Answer, Context
from .server import Server

__all__ = ["Answer", "Context", "Server"]
