"""The tools of MCP servers: locked when they are reviewed, compared with the lock from then on."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from holdfast.manifest.fleet.loader import load_fleet
from holdfast.manifest.fleet.tool_contracts import ToolChange, compare_contracts
from holdfast.manifest.fleet.tool_lock import (
    LOCK_FILE,
    ToolLock,
    read_tool_lock,
    tool_lock_text,
    write_tool_lock,
)
from holdfast.manifest.fleet.tool_servers import DeclaredToolServer, tool_servers_of
from holdfast.operations.scan.probing.endpoints import Answer, ask, chosen_servers
from holdfast.operations.scan.request import HostHeaders


@dataclass(frozen=True)
class ToolReviewRequest:
    """Which tool servers are asked, and how.

    Attributes:
        servers: Names; none for all.
        stack: Whose overrides hold; empty for none.
        addresses: Of servers that are reached at another address from here.
        headers: By the host that they are for; their values are never shown.
    """

    servers: tuple[str, ...]
    stack: str
    addresses: Mapping[str, str]
    headers: HostHeaders
    timeout_seconds: float

    def answers(self, known: Sequence[DeclaredToolServer]) -> Iterator[Answer]:
        """What each of them says.

        Raises:
            InputError: a name means no server or several.
        """
        chosen = chosen_servers(known, self.servers, self.addresses)
        return ask(chosen, self.headers, self.timeout_seconds, frozenset(self.addresses.values()))


@dataclass(frozen=True)
class LockedTools:
    """What came of a lock.

    Attributes:
        answers: Of every server that was asked.
        lock: The lock file's content now.
        is_written: Whether the file has changed.
    """

    answers: tuple[Answer, ...]
    lock: ToolLock
    is_written: bool

    @property
    def is_complete(self) -> bool:
        """Whether every server has answered."""
        return all(each.contract is not None for each in self.answers)


@dataclass(frozen=True, slots=True)
class CheckedServer:
    """One tool server, asked or not.

    Attributes:
        server: What it is called in the lock.
        url: Address that was asked.
        digest: Digest over its tools as they are now; empty when it could not be asked.
        is_locked: Whether its tools were ever reviewed.
        changes: What differs from what was reviewed.
        error: Why it could not be asked; empty when it could.
    """

    server: str
    url: str
    digest: str = ""
    is_locked: bool = True
    changes: tuple[ToolChange, ...] = ()
    error: str = ""

    @property
    def is_changed(self) -> bool:
        """Whether its tools are others than those that were reviewed, or none were."""
        return bool(self.changes) or not self.is_locked


def lock_tools(root: Path, request: ToolReviewRequest) -> LockedTools:
    """Ask servers for their tools, and write them to the lock file of a project.

    The entries of servers that do not answer stay; those of servers that are no longer declared
    are removed.

    Raises:
        InputError: a name means no server or several.
        InvalidFilesError: the manifests are not valid.
    """
    known = tool_servers_of(load_fleet(root, request.stack or None, is_lock_read=False))
    answers = tuple(request.answers(known))
    before = read_tool_lock(root)
    after = before.only(frozenset(each.key for each in known))
    for each in answers:
        if each.contract is not None:
            after = after.with_server(each.server.key, each.contract)
    is_changed = tool_lock_text(after) != tool_lock_text(before)
    is_written = is_changed or not (root / LOCK_FILE).exists()
    if is_written:
        write_tool_lock(root, after)
    return LockedTools(answers, after, is_written)


def check_tools(root: Path, request: ToolReviewRequest) -> list[CheckedServer]:
    """Ask servers for their tools, and compare them with the lock file of a project.

    Raises:
        InputError: a name means no server or several.
        InvalidFilesError: the manifests, or the lock file, are not valid.
    """
    fleet = load_fleet(root, request.stack or None)
    answers = request.answers(tool_servers_of(fleet))
    return [_compared(each, fleet.tool_lock) for each in answers]


def _compared(answer: Answer, locked: ToolLock) -> CheckedServer:
    key, url = answer.server.key, answer.server.url
    known = locked.servers.get(key)
    if answer.contract is None:
        return CheckedServer(key, url, is_locked=known is not None, error=answer.error)
    changes = compare_contracts(known, answer.contract) if known else ()
    digest = answer.contract.digest
    return CheckedServer(key, url, digest, is_locked=known is not None, changes=changes)
