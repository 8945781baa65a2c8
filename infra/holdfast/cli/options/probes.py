"""Options of `holdfast drift --probes`."""

from collections.abc import Sequence
from typing import Final

import click

from holdfast.cli.options.addresses import addresses, host_headers
from holdfast.cli.options.groups import Group, Option
from holdfast.errors import InputError
from holdfast.operations.scan.request import ProbeRequest

_OPTIONS: tuple[Option, ...] = (
    click.option(
        "--probes",
        is_flag=True,
        help="Also ask nodes, models, tool servers and agents: see docs/drift.md.",
    ),
    click.option(
        "--probe-commands",
        is_flag=True,
        help="With --probes: also run commands of the manifests here, without this environment.",
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
        addresses(
            "--probe-address",
            probe_addresses,
            "NAME=URL",
            "support-rag=http://localhost:8080",
        ),
        host_headers("--probe-header", probe_headers),
    )


PROBES: Final[Group] = (_probing, _OPTIONS)
