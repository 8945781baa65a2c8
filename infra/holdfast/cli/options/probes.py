"""Options of `holdfast drift --probes`, and what they mean. Wiring."""

import os
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import wraps
from typing import Any
from urllib.parse import urlsplit

import click

from holdfast.errors import InputError

Command = Callable[..., int]


@dataclass(frozen=True)
class ProbeRequest:
    """Which probes are wanted, and how things are reached from here.

    Attributes:
        is_on: Any at all.
        commands: Also those that run commands.
        contents: Also the Secrets and ConfigMaps that pods mount.
        addresses: Address by agent (name, or namespace and name) or tool server.
        headers: Headers by the host they are for; their values are never shown.
    """

    is_on: bool = False
    commands: bool = False
    contents: bool = False
    addresses: Mapping[str, str] = field(default_factory=dict)
    headers: Mapping[str, Mapping[str, str]] = field(default_factory=dict, repr=False)

    def headers_for(self, url: str) -> Mapping[str, str]:
        """Headers for one address: those of its host (with its port) and of no other."""
        return self.headers.get(urlsplit(url).netloc, {})


_OPTIONS: tuple[Callable[[Command], Command], ...] = (
    click.option(
        "--probes",
        is_flag=True,
        help="Also ask nodes, models, tool servers and agents: see docs/drift.md.",
    ),
    click.option(
        "--probe-commands",
        is_flag=True,
        help="With --probes: also run the commands that manifests name, here.",
    ),
    click.option(
        "--probe-contents",
        is_flag=True,
        help="With --probes: also read the Secrets that pods mount, to compare a digest of them.",
    ),
    click.option(
        "--probe-address",
        "probe_addresses",
        multiple=True,
        metavar="NAME=URL",
        help="Where an agent or tool server is reached from here; repeatable.",
    ),
    click.option(
        "--probe-header",
        "probe_headers",
        multiple=True,
        metavar="HOST/NAME=VARIABLE",
        help="Header for one host, its value in an environment variable; repeatable.",
    ),
)


def probe_options(command: Command) -> Command:
    """Options of a scan that probes; the command receives them as `probing`."""

    @wraps(command)
    def with_request(
        *arguments: Any,  # noqa: ANN401  (the command's own)
        probes: bool,
        probe_commands: bool,
        probe_contents: bool,
        probe_addresses: Sequence[str],
        probe_headers: Sequence[str],
        **others: Any,  # noqa: ANN401  (as above)
    ) -> int:
        said = (probe_commands, probe_contents, probe_addresses, probe_headers)
        if not probes and any(said):
            raise InputError("the options --probe-... need --probes", remedy="add it")
        request = ProbeRequest(
            probes,
            probe_commands,
            probe_contents,
            _addresses(probe_addresses),
            _headers(probe_headers),
        )
        return command(*arguments, probing=request, **others)

    decorated: Command = with_request
    for option in reversed(_OPTIONS):
        decorated = option(decorated)
    return decorated


def _addresses(entries: Sequence[str]) -> dict[str, str]:
    addresses: dict[str, str] = {}
    for entry in entries:
        name, _, url = entry.partition("=")
        if not name or not url.startswith(("http://", "https://")):
            raise InputError(
                f"--probe-address {entry!r}: expected NAME=URL, with http or https",
                remedy="such as support-rag=http://localhost:8080",
            )
        addresses[name] = url
    return addresses


def _headers(entries: Sequence[str]) -> dict[str, dict[str, str]]:
    headers: dict[str, dict[str, str]] = {}
    for entry in entries:
        host, slash, rest = entry.partition("/")
        name, equals, variable = rest.partition("=")
        if not (host and slash and name and equals and variable):
            raise InputError(
                f"--probe-header {entry!r}: expected HOST/NAME=VARIABLE",
                remedy="such as api.anthropic.com/x-api-key=ANTHROPIC_API_KEY",
            )
        value = os.environ.get(variable)
        if not value:
            raise InputError(
                f"--probe-header {host}/{name}: the environment variable {variable} is not set",
                remedy="set it to the header's value",
            )
        headers.setdefault(host, {})[name] = value
    return headers
