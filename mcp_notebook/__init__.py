"""The Model Context Protocol in Jupyter."""
