"""Our own server, which speaks both eras."""

from mcp_notebook import Server


def make_server() -> Server:
    server = Server("dual")

    @server.tool
    def x() -> str:
        return "done"

    return server
