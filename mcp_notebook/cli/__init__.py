"""What `python -m mcp_notebook` can do: one file for each of its commands."""
