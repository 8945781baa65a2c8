"""Which tool servers are meant, and which tools each of them offers."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace

from holdfast.adapters.mcp.mcp_server import ServerAddress, ToolServerError, list_tools
from holdfast.errors import InputError
from holdfast.manifest.fleet.tool_contracts import ToolContract
from holdfast.manifest.fleet.tool_servers import DeclaredToolServer
from holdfast.manifest.types.validation import suggestion


@dataclass(frozen=True, slots=True)
class Answer:
    """What a server said, or why it said nothing.

    Attributes:
        tools: Its tools; None when it could not be asked.
        error: Why; empty when it answered.
    """

    server: DeclaredToolServer
    tools: tuple[ToolContract, ...] | None
    error: str = ""


def chosen_servers(
    known: Sequence[DeclaredToolServer], names: Sequence[str], addresses: Mapping[str, str]
) -> tuple[DeclaredToolServer, ...]:
    """The servers that are meant, at the addresses that are to be asked.

    Args:
        known: Every server of the fleet.
        names: Keys, or bare names that only one server has; none for all.
        addresses: Address by name, of servers that are reached at another one from here.

    Raises:
        InputError: a name means no server or several.
    """
    elsewhere = {_named(name, known).key: url for name, url in addresses.items()}
    chosen = [_named(name, known) for name in names] or list(known)
    return tuple(replace(each, url=elsewhere.get(each.key, each.url)) for each in chosen)


def ask(
    servers: Sequence[DeclaredToolServer], headers: Mapping[str, str], timeout_seconds: float
) -> Iterator[Answer]:
    """Ask each server which tools it offers."""
    for server in servers:
        address = ServerAddress(server.url, server.transport, headers)
        try:
            yield Answer(server, list_tools(address, timeout_seconds=timeout_seconds))
        except ToolServerError as error:
            yield Answer(server, None, str(error))


def _named(name: str, known: Sequence[DeclaredToolServer]) -> DeclaredToolServer:
    found = [each for each in known if name == each.key or each.key.endswith(f"/{name}")]
    exact = [each for each in found if each.key == name]
    if len(exact or found) == 1:
        return (exact or found)[0]
    keys = [each.key for each in known]
    if found:
        among = ", ".join(each.key for each in found)
        raise InputError(f"{name!r} means several tool servers", remedy=f"say which: {among}")
    raise InputError(f"no tool server {name!r}", remedy=suggestion(name, keys))
