"""The verbs of `holdfast mcp`: tools of servers, reviewed once and compared from then on."""

from collections.abc import Sequence
from typing import Final

import click

from holdfast.cli.options.addresses import addresses, host_headers
from holdfast.cli.options.groups import Group, receives
from holdfast.cli.options.output import OUTPUT
from holdfast.cli.options.stack import stack_option
from holdfast.cli.options.words import SERVER
from holdfast.errors import ExitCode
from holdfast.operations.scan.tool_review import ToolReviewRequest, check_tools, lock_tools
from holdfast.operations.stack.project import find_project_root
from holdfast.report.text.tool_report import lock_text, tool_json, tool_summary, tool_text


def _asked(
    servers: tuple[str, ...],
    stack: str,
    addresses_named: Sequence[str],
    headers: Sequence[str],
    timeout_seconds: float,
) -> ToolReviewRequest:
    named = addresses("--address", addresses_named, "SERVER=URL")
    return ToolReviewRequest(
        servers, stack, named, host_headers("--header", headers), timeout_seconds
    )


_OPTIONS = (
    click.argument("servers", type=SERVER, nargs=-1),
    stack_option("Stack whose overrides hold; default none.", required=False),
    click.option(
        "--address",
        "addresses_named",
        multiple=True,
        metavar="SERVER=URL",
        help="Where a server is reached from here, such as a forwarded port; repeatable.",
    ),
    click.option(
        "--header",
        "headers",
        multiple=True,
        metavar="HOST/NAME=VARIABLE",
        help="Header for one host, its value in an environment variable; repeatable.",
    ),
    click.option(
        "--timeout",
        "timeout_seconds",
        type=click.FloatRange(min=0.1, max=3600),
        default=30,
        show_default=True,
        help="Seconds to wait for one server.",
    ),
)


_SERVERS: Final[Group] = (_asked, _OPTIONS)


@click.command()
@receives(_SERVERS)
def lock(asked: ToolReviewRequest) -> ExitCode:
    """Ask SERVERS (default all) for their tools and write them to agents/tools.lock.

    SERVERS are names of MCPServers, or addresses that agents name. Read the difference before you
    commit it. Servers that are no longer declared are removed.

    \b
    Examples:
      holdfast mcp lock
      holdfast mcp lock k8s-tools --address k8s-tools=http://localhost:8000/mcp
      holdfast mcp lock --header tools.example/Authorization=MCP_AUTHORIZATION

    \b
    Exit codes: 0 written
      1 a server cannot be asked (what others say is written)   2 bad input
    """
    locked = lock_tools(find_project_root(), asked)
    click.echo(lock_text(locked), nl=False, err=True)
    return ExitCode.OK if locked.is_complete else ExitCode.ERROR


@click.command()
@receives(_SERVERS)
@OUTPUT
def check(asked: ToolReviewRequest, *, output: str) -> ExitCode:
    """Ask SERVERS (default all) for their tools and compare them with agents/tools.lock.

    Shows old and new side of every tool that changed, and of changed instructions of a server.

    \b
    Examples:
      holdfast mcp check -s prod
      holdfast mcp check k8s-tools -o json

    \b
    Exit codes: 0 as reviewed   7 changed, or never reviewed
      1 a server cannot be asked
    """
    checked = check_tools(find_project_root(), asked)
    click.echo(tool_json(checked) if output == "json" else tool_text(checked), nl=False)
    if output == "text":
        click.echo(tool_summary(checked), err=True)
    if any(each.error for each in checked):
        return ExitCode.ERROR
    return ExitCode.DRIFT if any(each.is_changed for each in checked) else ExitCode.OK
