"""The verbs of `holdfast mcp`: tools of servers, reviewed once and compared from then on."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Final

import click

from holdfast.cli.options.addresses import addresses, header_value
from holdfast.cli.options.groups import Group, receives
from holdfast.cli.options.output import OUTPUT
from holdfast.cli.options.stack import stack_option
from holdfast.errors import ExitCode, InputError
from holdfast.manifest.fleet.loader import load_fleet
from holdfast.manifest.fleet.tool_contracts import compare_tools, tools_digest
from holdfast.manifest.fleet.tool_lock import (
    LOCK_FILE,
    ToolLock,
    read_tool_lock,
    tool_lock_text,
    write_tool_lock,
)
from holdfast.manifest.fleet.tool_servers import DeclaredToolServer, tool_servers_of
from holdfast.operations.scan.probing.endpoints import Answer, ask, chosen_servers
from holdfast.operations.stack.project import find_project_root
from holdfast.report.text.tool_report import CheckedServer, tool_json, tool_text


@dataclass(frozen=True)
class ServersAsked:
    """Which tool servers are asked, and how.

    Attributes:
        servers: Names; none for all.
        stack: Whose overrides hold; empty for none.
        addresses: Of servers that are reached at another address from here.
        headers: Sent to each of them; their values are never shown.
    """

    servers: tuple[str, ...]
    stack: str
    addresses: Mapping[str, str]
    headers: Mapping[str, str]
    timeout_seconds: float

    def answers(self, known: Sequence[DeclaredToolServer]) -> Iterator[Answer]:
        """What each of them says.

        Raises:
            InputError: a name means no server or several.
        """
        chosen = chosen_servers(known, self.servers, self.addresses)
        return ask(chosen, self.headers, self.timeout_seconds)


def _asked(
    servers: tuple[str, ...],
    stack: str,
    addresses_named: Sequence[str],
    headers: Sequence[str],
    timeout_seconds: float,
) -> ServersAsked:
    named = addresses("--address", addresses_named, "SERVER=URL")
    return ServersAsked(servers, stack, named, dict(map(_header, headers)), timeout_seconds)


def _header(entry: str) -> tuple[str, str]:
    name, _, variable = entry.partition("=")
    if not name or not variable:
        raise InputError(f"--header {entry!r}: expected NAME=VARIABLE")
    return name, header_value("--header", name, variable)


_OPTIONS = (
    click.argument("servers", nargs=-1),
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
        metavar="NAME=VARIABLE",
        help="Header whose value is in an environment variable; repeatable.",
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
def lock(asked: ServersAsked) -> ExitCode:
    """Ask SERVERS (default all) for their tools and write them to agents/tools.lock.

    SERVERS are names of MCPServers, or addresses that agents name. Read the difference before you
    commit it. Servers that are declared no more leave the file.

    \b
    Examples:
      holdfast mcp lock
      holdfast mcp lock k8s-tools --address k8s-tools=http://localhost:8000/mcp
      holdfast mcp lock --header Authorization=MCP_AUTHORIZATION

    \b
    Exit codes: 0 written
      1 a server cannot be asked (what others say is written)   2 bad input
    """
    root = find_project_root()
    known = tool_servers_of(load_fleet(root, asked.stack or None, is_lock_read=False))
    answers = list(asked.answers(known))
    before = read_tool_lock(root)
    after = before.only(frozenset(each.key for each in known))
    for answer in answers:
        if answer.tools is None:
            click.echo(f"error: {answer.server.key}: {answer.error}", err=True)
            continue
        after = after.with_server(answer.server.key, answer.tools)
        _tell(answer, after)
    if tool_lock_text(after) != tool_lock_text(before) or not (root / LOCK_FILE).exists():
        write_tool_lock(root, after)
        click.echo(f"wrote {LOCK_FILE}: read it before you commit it", err=True)
    return ExitCode.OK if all(answer.tools is not None for answer in answers) else ExitCode.ERROR


@click.command()
@receives(_SERVERS)
@OUTPUT
def check(asked: ServersAsked, *, output: str) -> ExitCode:
    """Ask SERVERS (default all) for their tools and compare them with agents/tools.lock.

    Shows old and new description and schema of every tool that changed.

    \b
    Examples:
      holdfast mcp check -s prod
      holdfast mcp check k8s-tools -o json

    \b
    Exit codes: 0 as reviewed   7 changed, or never reviewed
      1 a server cannot be asked
    """
    root = find_project_root()
    fleet = load_fleet(root, asked.stack or None)
    checked = [
        _compared(answer, fleet.tool_lock) for answer in asked.answers(tool_servers_of(fleet))
    ]
    click.echo(tool_json(checked) if output == "json" else tool_text(checked), nl=False)
    failed = sum(bool(each.error) for each in checked)
    changed = sum(not each.error and each.is_changed for each in checked)
    if output == "text":
        click.echo(
            f"{len(checked)} tool servers: {len(checked) - failed - changed} as reviewed, "
            f"{changed} changed, {failed} not checked",
            err=True,
        )
    if failed:
        return ExitCode.ERROR
    return ExitCode.DRIFT if changed else ExitCode.OK


def _compared(answer: Answer, locked: ToolLock) -> CheckedServer:
    key, url = answer.server.key, answer.server.url
    known = locked.servers.get(key)
    if answer.tools is None:
        return CheckedServer(key, url, is_locked=known is not None, error=answer.error)
    changes = compare_tools(known.tools, answer.tools) if known else ()
    digest = tools_digest(answer.tools)
    return CheckedServer(key, url, digest, is_locked=known is not None, changes=changes)


def _tell(answer: Answer, lock: ToolLock) -> None:
    server = lock.servers[answer.server.key]
    click.echo(f"{answer.server.key}: {len(server.tools)} tools, {server.digest}", err=True)
    for place, digest in answer.server.digests:
        if digest != server.digest:
            click.echo(f"{place}: write this digest here, it says {digest}", err=True)
