"""`agents/tools.lock`: the reviewed tools of every server, in full and with their digest.

A digest alone cannot be reviewed. The file is JSON, written by `holdfast mcp lock`; what no
reviewer could see in it (control and direction marks in a description) is written as an escape.
"""

import json
from collections.abc import Collection, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from types import MappingProxyType
from typing import Any, Final

import msgspec

from holdfast.errors import InputError, ManifestError, SourceLocation
from holdfast.manifest.fleet.tool_contracts import ServerContract, ToolContract
from holdfast.manifest.text.source_text import MAX_FILE_BYTES, read_text

LOCK_FILE: Final = "agents/tools.lock"
VERSION: Final = 2
_READABLE: Final = frozenset({1, VERSION})
"""Version 1 knew neither instructions nor title, output schema and annotations."""
_REMEDY = "review what the servers say and run 'holdfast mcp lock'"


@dataclass(frozen=True, slots=True)
class ToolLock:
    """All reviewed tools.

    Attributes:
        servers: `<namespace>/<name>` of an MCPServer, or the address of a server that is not
            declared, to what it promises.
    """

    servers: Mapping[str, ServerContract] = field(default_factory=lambda: MappingProxyType({}))

    def with_server(self, server: str, contract: ServerContract) -> "ToolLock":
        """The lock with what one server says now."""
        return ToolLock({**self.servers, server: contract})

    def only(self, servers: Collection[str]) -> "ToolLock":
        """The lock without what is declared no more."""
        return ToolLock({name: each for name, each in self.servers.items() if name in servers})


class _Tool(msgspec.Struct, forbid_unknown_fields=True, rename="camel"):
    name: str
    description: str
    input_schema: dict[str, Any]
    title: str = ""
    output_schema: dict[str, Any] | None = None
    annotations: dict[str, Any] = {}


class _Server(msgspec.Struct, forbid_unknown_fields=True):
    digest: str
    tools: list[_Tool]
    instructions: str = ""


class _File(msgspec.Struct, forbid_unknown_fields=True):
    version: int
    servers: dict[str, _Server]


def read_tool_lock(project_root: Path) -> ToolLock:
    """The lock of a project; an empty one when there is no file.

    Raises:
        ManifestError: the file is no lock, or was changed by hand.
    """
    path = project_root / LOCK_FILE
    if not path.exists():
        return ToolLock()
    return tool_lock_of(read_text(path, LOCK_FILE, inside=project_root))


def tool_lock_of(text: str) -> ToolLock:
    """The lock that a file's text is.

    Raises:
        ManifestError: it is no lock, or was changed by hand.
    """
    try:
        content = msgspec.json.decode(text, type=_File)
    except (msgspec.DecodeError, RecursionError) as error:
        raise _fault("expected a lock of tools", found=str(error)) from error
    if content.version not in _READABLE:
        expected = f"expected version {VERSION}"
        raise _fault(expected, found=str(content.version), remedy="upgrade Holdfast")
    return ToolLock({name: _locked(name, each) for name, each in sorted(content.servers.items())})


def tool_lock_text(lock: ToolLock) -> str:
    """The file's content; equal locks give equal bytes.

    Law: reading it gives the lock again.
    """
    content = {
        "version": VERSION,
        "servers": {name: _as_json(each) for name, each in sorted(lock.servers.items())},
    }
    text = json.dumps(content, indent=2, ensure_ascii=False)
    return "".join(_visible(character) for character in text) + "\n"


def write_tool_lock(project_root: Path, lock: ToolLock) -> None:
    """Write the lock of a project.

    Raises:
        InputError: it would be larger than a lock that is read, or the file cannot be written.
    """
    text = tool_lock_text(lock)
    file = project_root / LOCK_FILE
    if not file.resolve().is_relative_to(project_root.resolve()):
        raise InputError(f"{LOCK_FILE} is a link that leads outside of the project")
    if len(text.encode()) > MAX_FILE_BYTES:
        largest = max(lock.servers, key=lambda name: len(tool_lock_text(lock.only({name}))))
        raise InputError(
            f"{LOCK_FILE} would have more than {MAX_FILE_BYTES} bytes, most of them of {largest}",
            remedy=f"do not trust {largest} before you have read what it says",
        )
    try:
        file.write_text(text, encoding="utf-8")
    except OSError as error:
        raise InputError(f"{LOCK_FILE}: {error.strerror or error}") from error


def _as_json(server: ServerContract) -> dict[str, Any]:
    said: dict[str, Any] = {"digest": server.digest}
    if server.instructions:
        said["instructions"] = server.instructions
    return said | {"tools": [tool.as_json() for tool in server.tools]}


def _locked(name: str, server: _Server) -> ServerContract:
    tools = (
        ToolContract(
            each.name,
            each.description,
            each.input_schema,
            each.title,
            each.output_schema,
            each.annotations,
        )
        for each in server.tools
    )
    contract = ServerContract.of(tools, server.instructions)
    if contract.digest != server.digest:
        expected = f"expected digest {contract.digest} for the tools of {name}"
        raise _fault(expected, found=server.digest, remedy=_REMEDY)
    return contract


def _visible(character: str) -> str:
    """The character, or its JSON escape when nobody would see it; line ends are the file's own."""
    if character == "\n" or character.isprintable():
        return character
    return json.dumps(character)[1:-1]


def _fault(expected: str, *, found: str, remedy: str = _REMEDY) -> ManifestError:
    return ManifestError(
        SourceLocation(LOCK_FILE), "", expected=expected, found=found, remedy=remedy
    )
