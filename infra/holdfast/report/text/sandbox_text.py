"""A sandbox's status as text for people and as JSON for programs."""

from collections.abc import Sequence
from typing import Any

import click

from holdfast.report.documents.json_text import json_text
from holdfast.report.text.table import table
from holdfast.sandbox.health import ProgramStatus, SandboxStatus
from holdfast.sandbox.paths import USERS

SCHEMA_VERSION = "holdfast.dev/sandbox/v1"
_MEGABYTE = 1000**2


def status_json(status: SandboxStatus) -> str:
    """One sandbox as JSON."""
    return _encode(_document(status))


def list_json(statuses: Sequence[SandboxStatus]) -> str:
    """All sandboxes as JSON."""
    return _encode({"sandboxes": [_document(status) for status in statuses]})


def status_text(status: SandboxStatus) -> str:
    """One sandbox: where it is and how its programs are."""
    place = status.place
    lines = [f"sandbox {place.name}: {click.style(status.state, fg=_colour(status))}"]
    if status.programs:
        facts = {
            "API server": status.api_server,
            "context": place.context,
            "kubeconfig": str(place.kubeconfig()),
            "audit log": str(place.audit_log),
            "memory": f"{_megabytes(status.resident_bytes)} resident",
        }
        lines += [f"  {name:<12}{value}" for name, value in facts.items()]
        rows = map(_program_cells, status.programs)
        lines += ["", *table(("PROGRAM", "PID", "MEMORY", "STATE"), rows, "  ")]
    return "\n".join(lines)


def list_text(statuses: Sequence[SandboxStatus]) -> str:
    """All sandboxes, a line each."""
    rows = (
        (each.place.name, str(each.state), _megabytes(each.resident_bytes), each.api_server)
        for each in statuses
    )
    return "\n".join(table(("NAME", "STATE", "MEMORY", "API SERVER"), rows))


def list_wide_text(statuses: Sequence[SandboxStatus]) -> str:
    """The same with context and kubeconfig."""
    rows = (
        (
            each.place.name,
            str(each.state),
            _megabytes(each.resident_bytes),
            each.api_server,
            each.place.context,
            str(each.place.kubeconfig()),
        )
        for each in statuses
    )
    head = ("NAME", "STATE", "MEMORY", "API SERVER", "CONTEXT", "KUBECONFIG")
    return "\n".join(table(head, rows))


def up_text(status: SandboxStatus, outcome: str, seconds: float) -> str:
    """What `up` did and what to do next."""
    place = status.place
    option = "" if place.name == "default" else f" --name {place.name}"
    return (
        f"sandbox {place.name}: {outcome} ({seconds:.1f} s, {_megabytes(status.resident_bytes)}), "
        f"API server {status.api_server}, context {place.context}\n"
        f"  use it:    export KUBECONFIG=$(holdfast sandbox kubeconfig{option})\n"
        f"  as alice:  export KUBECONFIG=$(holdfast sandbox kubeconfig{option} --user alice)\n"
        f"  end it:    holdfast sandbox down{option}"
    )


def _document(status: SandboxStatus) -> dict[str, Any]:
    place = status.place
    document: dict[str, Any] = {
        "name": place.name,
        "state": str(status.state),
        "healthy": status.is_healthy,
        "reason": status.reason,
    }
    if status.programs:
        document |= {
            "apiServer": status.api_server,
            "context": place.context,
            "directory": str(place.directory),
            "kubeconfigs": {user: str(place.kubeconfig(user)) for user in USERS},
            "auditLog": str(place.audit_log),
            "residentBytes": status.resident_bytes,
            "programs": [
                {
                    "name": program.program,
                    "pid": program.pid,
                    "running": program.is_running,
                    "residentBytes": program.resident_bytes,
                }
                for program in status.programs
            ],
        }
    return document


def _encode(document: dict[str, Any]) -> str:
    versioned = {"schemaVersion": SCHEMA_VERSION} | document
    return json_text(versioned).rstrip("\n")


def _program_cells(program: ProgramStatus) -> tuple[str, ...]:
    state = "running" if program.is_running else click.style("ended", fg="red")
    memory = _megabytes(program.resident_bytes)
    return program.program, str(program.pid or "-"), memory, state


def _colour(status: SandboxStatus) -> str:
    return "green" if status.is_healthy else "yellow"


def _megabytes(count: int) -> str:
    return f"{count / _MEGABYTE:.0f} MB"
