"""Driving a real JupyterLab, or Notebook 7, in a real browser, on loopback only."""

from .browser import running_browser
from .notebook import App, Cell, Notebook
from .server import JupyterServer, running_server

__all__ = ["App", "Cell", "JupyterServer", "Notebook", "running_browser", "running_server"]
