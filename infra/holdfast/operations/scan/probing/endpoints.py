"""What probes ask outside of the API server: agents, providers, tool servers, local commands."""

import os
import signal
import subprocess
import threading
from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, Final

from holdfast.adapters.http.http_answer import UnansweredError, get_json, place_of
from holdfast.adapters.http.peers import metadata_address
from holdfast.adapters.mcp.mcp_server import ServerAddress, ToolServerError, read_contract
from holdfast.drift.probes.answers import (
    CARD_PATH,
    CommandCheck,
    ExpectedModel,
    judge_card,
    judge_model,
    judge_output,
)
from holdfast.drift.probes.outcome import ProbeOutcome, Subject, unknown
from holdfast.errors import InputError
from holdfast.manifest.fleet.tool_contracts import ServerContract
from holdfast.manifest.fleet.tool_servers import DeclaredToolServer
from holdfast.manifest.types.validation import suggestion
from holdfast.operations.scan.request import HostHeaders


@dataclass(frozen=True, slots=True)
class Answer:
    """What a server said, or why it said nothing.

    Attributes:
        contract: Its tools and instructions; None when it could not be asked.
        error: Why; empty when it answered.
    """

    server: DeclaredToolServer
    contract: ServerContract | None
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
    servers: Sequence[DeclaredToolServer],
    headers: HostHeaders,
    timeout_seconds: float,
    given: frozenset[str] = frozenset(),
) -> Iterator[Answer]:
    """Ask each server which tools it offers.

    Args:
        servers: At the addresses that are to be asked.
        headers: Each for its host.
        timeout_seconds: For one server.
        given: Addresses that a person gave: they may lead anywhere.
    """
    for server in servers:
        if server.url not in given and (leads_to := metadata_address(server.url)):
            yield Answer(server, None, _refused(server.url, leads_to))
            continue
        address = ServerAddress(server.url, server.transport, headers.for_url(server.url))
        try:
            yield Answer(server, read_contract(address, timeout_seconds=timeout_seconds))
        except ToolServerError as error:
            yield Answer(server, None, str(error))


def _refused(url: str, leads_to: str) -> str:
    return f"{place_of(url)} leads to {leads_to}, which is asked only where an option names it"


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


def probe_card(
    subject: Subject, declared: Mapping[str, Any], address: str, headers: Mapping[str, str]
) -> ProbeOutcome:
    """Ask an agent for its card, and compare."""
    url = address.rstrip("/") + CARD_PATH
    try:
        served = get_json(url, headers)
    except UnansweredError as error:
        return unknown(subject, "agent card", str(error))
    if not isinstance(served, dict):
        return unknown(subject, "agent card", f"{url} answers no JSON object")
    return judge_card(subject, declared, served)


def probe_model(subject: Subject, model: ExpectedModel, headers: Mapping[str, str]) -> ProbeOutcome:
    """Ask what a name stands for, and compare."""
    what = f"model {model.name}"
    if not model.address:
        reason = f"no Models API is known of provider {model.provider}: declare its baseUrl"
        return unknown(subject, what, reason)
    if leads_to := metadata_address(model.address):
        return unknown(subject, what, _refused(model.address, leads_to))
    try:
        answer = get_json(model.address, headers)
    except UnansweredError as error:
        return unknown(subject, what, str(error))
    return judge_model(subject, model, answer)


LARGEST_OUTPUT_BYTES: Final = 1024 * 1024
_PASSED_ON: Final = ("HOME", "LANG", "LC_ALL", "PATH", "TMPDIR", "TZ", "USER")
"""Of the environment: a manifest's command gets no passphrase and no token of this process."""
_FOR_COMMANDS: Final = "HOLDFAST_PROBE_"
"""Begins the variables that a person gives to commands, under the name that follows."""


def probe_command(subject: Subject, probe: CommandCheck, folder: Path) -> ProbeOutcome:
    """Run a command in a folder, and compare.

    Its error output is not shown: it may hold what it was given, such as a connection string.
    """
    what = f"probe {probe.name}"
    try:
        output, code = _run_command(probe, folder)
    except FileNotFoundError:
        return unknown(subject, what, f"there is no program {probe.command[0]!r} here")
    except OSError as error:
        return unknown(subject, what, f"{probe.command[0]}: {error.strerror or error}")
    if output is None:
        return unknown(subject, what, f"no answer within {probe.timeout_seconds:g} s")
    if len(output) > LARGEST_OUTPUT_BYTES:
        return unknown(subject, what, f"it prints more than {LARGEST_OUTPUT_BYTES} bytes")
    if code:
        return unknown(subject, what, f"{probe.command[0]} ended with exit code {code}")
    return judge_output(subject, probe, output)


def _run_command(probe: CommandCheck, folder: Path) -> tuple[bytes | None, int]:
    """Output (None when it took too long) and exit code; ends everything that was started."""
    with subprocess.Popen(
        probe.command,
        cwd=folder,
        env=_command_environment(),
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
        start_new_session=True,
    ) as process:
        assert process.stdout is not None  # noqa: S101  (a pipe was asked for)
        is_late = threading.Event()

        def end() -> None:
            is_late.set()
            _kill_session(process.pid)

        timer = threading.Timer(probe.timeout_seconds, end)
        timer.start()
        try:
            # No more than is wanted: a command that never stops printing fills no memory.
            output = process.stdout.read(LARGEST_OUTPUT_BYTES + 1)
        finally:
            timer.cancel()
        if len(output) > LARGEST_OUTPUT_BYTES:
            _kill_session(process.pid)
        return (None if is_late.is_set() else output), process.wait()


def _command_environment() -> dict[str, str]:
    plain = {name: os.environ[name] for name in _PASSED_ON if name in os.environ}
    given = {
        name.removeprefix(_FOR_COMMANDS): value
        for name, value in os.environ.items()
        if name.startswith(_FOR_COMMANDS)
    }
    return plain | given


def _kill_session(pid: int) -> None:
    with suppress(ProcessLookupError):
        os.killpg(pid, signal.SIGKILL)
