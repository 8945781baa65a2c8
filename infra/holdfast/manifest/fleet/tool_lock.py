"""`agents/tools.lock`: the reviewed tools of every server, in full and with their digest.

A digest alone cannot be reviewed. The file is JSON, written by `holdfast mcp lock`; what no
reviewer could see in it (control and direction marks in a description) is written as an escape.
"""

import json
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from types import MappingProxyType
from typing import Any, Final

import msgspec

from holdfast.errors import InputError, ManifestError, SourceLocation
from holdfast.manifest.fleet.tool_contracts import ToolContract, tools_digest
from holdfast.manifest.text.source_text import read_text

LOCK_FILE: Final = "agents/tools.lock"
VERSION: Final = 1
_REMEDY = "review what the servers say and run 'holdfast mcp lock'"


@dataclass(frozen=True, slots=True)
class LockedServer:
    """The reviewed tools of one server.

    Attributes:
        tools: Sorted by name.
        digest: Digest over them.
    """

    tools: tuple[ToolContract, ...]
    digest: str


@dataclass(frozen=True, slots=True)
class ToolLock:
    """All reviewed tools.

    Attributes:
        servers: `<namespace>/<name>` of an MCPServer, or the address of a server that is not
            declared, to its tools.
    """

    servers: Mapping[str, LockedServer] = field(default_factory=lambda: MappingProxyType({}))

    def with_server(self, server: str, tools: tuple[ToolContract, ...]) -> "ToolLock":
        """The lock with the tools of one server as they are now."""
        listed = tuple(sorted(tools, key=lambda tool: tool.name))
        return ToolLock({**self.servers, server: LockedServer(listed, tools_digest(listed))})

    def only(self, servers: frozenset[str]) -> "ToolLock":
        """The lock without what is declared no more."""
        return ToolLock({name: each for name, each in self.servers.items() if name in servers})


class _Tool(msgspec.Struct, forbid_unknown_fields=True, rename="camel"):
    name: str
    description: str
    input_schema: dict[str, Any]


class _Server(msgspec.Struct, forbid_unknown_fields=True):
    digest: str
    tools: list[_Tool]


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
    return tool_lock_of(read_text(path, LOCK_FILE))


def tool_lock_of(text: str) -> ToolLock:
    """The lock that a file's text is.

    Raises:
        ManifestError: it is no lock, or was changed by hand.
    """
    try:
        content = msgspec.json.decode(text, type=_File)
    except (msgspec.DecodeError, RecursionError) as error:
        raise _fault("expected a lock of tools", found=str(error)) from error
    if content.version != VERSION:
        expected = f"expected version {VERSION}"
        raise _fault(expected, found=str(content.version), remedy="upgrade Holdfast")
    return ToolLock({name: _locked(name, each) for name, each in sorted(content.servers.items())})


def tool_lock_text(lock: ToolLock) -> str:
    """The file's content; equal locks give equal bytes.

    Law: reading it gives the lock again.
    """
    content = {
        "version": VERSION,
        "servers": {
            name: {"digest": each.digest, "tools": [tool.as_json() for tool in each.tools]}
            for name, each in sorted(lock.servers.items())
        },
    }
    text = json.dumps(content, indent=2, ensure_ascii=False)
    return "".join(_visible(character) for character in text) + "\n"


def write_tool_lock(project_root: Path, lock: ToolLock) -> None:
    """Write the lock of a project.

    Raises:
        InputError: the file cannot be written.
    """
    try:
        (project_root / LOCK_FILE).write_text(tool_lock_text(lock), encoding="utf-8")
    except OSError as error:
        raise InputError(f"{LOCK_FILE}: {error.strerror or error}") from error


def _locked(name: str, server: _Server) -> LockedServer:
    tools = tuple(
        ToolContract(each.name, each.description, each.input_schema) for each in server.tools
    )
    digest = tools_digest(tools)
    if digest != server.digest:
        expected = f"expected digest {digest} for the tools of {name}"
        raise _fault(expected, found=server.digest, remedy=_REMEDY)
    return LockedServer(tools, digest)


def _visible(character: str) -> str:
    """The character, or its JSON escape when nobody would see it; line ends are the file's own."""
    if character == "\n" or character.isprintable():
        return character
    return json.dumps(character)[1:-1]


def _fault(expected: str, *, found: str, remedy: str = _REMEDY) -> ManifestError:
    return ManifestError(
        SourceLocation(LOCK_FILE), "", expected=expected, found=found, remedy=remedy
    )
