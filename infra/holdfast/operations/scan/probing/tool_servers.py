"""Which tool servers a verb means, and what each of them says: the wiring of `holdfast tools`."""

import os
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace

from holdfast.adapters.mcp.mcp_server import ServerAddress, ToolServerError, list_tools
from holdfast.errors import InputError
from holdfast.manifest.fleet.tool_contracts import ToolContract
from holdfast.manifest.fleet.tool_servers import ToolServer
from holdfast.manifest.types.validation import suggestion


@dataclass(frozen=True, slots=True)
class Answer:
    """What a server said, or why it said nothing.

    Attributes:
        tools: Its tools; None when it could not be asked.
        error: Why; empty when it answered.
    """

    server: ToolServer
    tools: tuple[ToolContract, ...] | None
    error: str = ""


def chosen_servers(
    known: Sequence[ToolServer], names: Sequence[str], addresses: Sequence[str]
) -> tuple[ToolServer, ...]:
    """The servers that are meant, at the addresses that are to be asked.

    Args:
        known: Every server of the fleet.
        names: Keys, or bare names that only one server has; none for all.
        addresses: `SERVER=URL` of servers that are reached at another address from here.

    Raises:
        InputError: a name means no server or several, or an address is not of that form.
    """
    elsewhere: dict[str, str] = {}
    for entry in addresses:
        name, separator, url = entry.partition("=")
        if not separator or not url.startswith(("http://", "https://")):
            raise InputError(f"--address {entry!r}: expected SERVER=URL, with http or https")
        elsewhere[_named(name, known).key] = url
    chosen = [_named(name, known) for name in names] or list(known)
    return tuple(replace(each, url=elsewhere.get(each.key, each.url)) for each in chosen)


def headers_from_environment(entries: Sequence[str]) -> dict[str, str]:
    """Headers of `NAME=VARIABLE`: their values come from the environment, not from arguments.

    Raises:
        InputError: an entry is not of that form, or its variable is not set.
    """
    headers: dict[str, str] = {}
    for entry in entries:
        name, separator, variable = entry.partition("=")
        if not separator or not name or not variable:
            raise InputError(f"--header {entry!r}: expected NAME=VARIABLE")
        value = os.environ.get(variable)
        if not value:
            raise InputError(
                f"--header {name}: the environment variable {variable} is not set",
                remedy="set it to the header's value",
            )
        headers[name] = value
    return headers


def ask(
    servers: Sequence[ToolServer], headers: Mapping[str, str], timeout_seconds: float
) -> Iterator[Answer]:
    """Ask each server which tools it offers."""
    for server in servers:
        if server.transport == "stdio":
            yield Answer(server, None, "it is spoken to over stdio, by its own agent only")
            continue
        address = ServerAddress(server.url, server.transport, headers)
        try:
            yield Answer(server, list_tools(address, timeout_seconds=timeout_seconds))
        except ToolServerError as error:
            yield Answer(server, None, str(error))


def _named(name: str, known: Sequence[ToolServer]) -> ToolServer:
    found = [each for each in known if name == each.key or each.key.endswith(f"/{name}")]
    exact = [each for each in found if each.key == name]
    if len(exact or found) == 1:
        return (exact or found)[0]
    keys = [each.key for each in known]
    if found:
        among = ", ".join(each.key for each in found)
        raise InputError(f"{name!r} means several tool servers", remedy=f"say which: {among}")
    raise InputError(f"no tool server {name!r}", remedy=suggestion(name, keys))
