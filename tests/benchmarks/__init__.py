"""What calls cost: mcp_notebook beside the official SDK, FastMCP and floors. `python -m tests.benchmarks --help`."""
