"""Options of `holdfast drift --probes`."""

import os
from collections.abc import Sequence
from typing import Final

import click

from holdfast.cli.options.groups import Group, Option
from holdfast.errors import InputError
from holdfast.operations.scan.probing.request import ProbeRequest

_OPTIONS: tuple[Option, ...] = (
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


def _probing(
    probe_addresses: Sequence[str],
    probe_headers: Sequence[str],
    *,
    probes: bool,
    probe_commands: bool,
    probe_contents: bool,
) -> ProbeRequest:
    said = (probe_commands, probe_contents, probe_addresses, probe_headers)
    if not probes and any(said):
        raise InputError("the options --probe-... need --probes", remedy="add it")
    return ProbeRequest(
        probes,
        probe_commands,
        probe_contents,
        _addresses(probe_addresses),
        _headers(probe_headers),
    )


PROBES: Final[Group] = (_probing, _OPTIONS)


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
