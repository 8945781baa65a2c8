"""A real MCP server in a thread, as tests of tool contracts need it."""

import socket
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass

import uvicorn
from mcp.server.fastmcp import FastMCP
from mcp.types import ToolAnnotations


@dataclass
class RunningServer:
    """A server that listens on loopback; `tools` may be changed while it runs."""

    mcp: FastMCP
    port: int

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.port}/mcp"

    def offer(
        self,
        name: str,
        description: str,
        *,
        is_limited: bool = False,
        annotations: ToolAnnotations | None = None,
    ) -> None:
        """Offer a tool, or offer it in another way."""

        def anything(namespace: str) -> str:
            return namespace

        def limited(namespace: str, limit: int = 10) -> str:
            return f"{namespace}{limit}"

        if name in {tool.name for tool in self.mcp._tool_manager.list_tools()}:
            self.mcp.remove_tool(name)
        function = limited if is_limited else anything
        self.mcp.add_tool(function, name=name, description=description, annotations=annotations)

    def instruct(self, text: str) -> None:
        """Tell every model the same about the server."""
        self.mcp._mcp_server.instructions = text

    def withdraw(self, name: str) -> None:
        self.mcp.remove_tool(name)


@contextmanager
def running_mcp_server(*, is_sse: bool = False) -> Iterator[RunningServer]:
    """Serve on a free port until the block ends."""
    mcp = FastMCP("tools", log_level="CRITICAL")
    application = mcp.sse_app() if is_sse else mcp.streamable_http_app()
    listening = socket.socket()
    listening.bind(("127.0.0.1", 0))
    listening.listen()
    server = uvicorn.Server(uvicorn.Config(application, log_level="critical", lifespan="on"))
    thread = threading.Thread(target=server.run, kwargs={"sockets": [listening]}, daemon=True)
    thread.start()
    try:
        yield RunningServer(mcp, listening.getsockname()[1])
    finally:
        server.should_exit = server.force_exit = True
        thread.join()
        listening.close()
