"""`holdfast history`: the updates of a stack or an agent, its scans, its gates, its commits."""

from dataclasses import dataclass
from pathlib import Path
from typing import Final

import click

from holdfast.cli.options.groups import Group, receives
from holdfast.cli.options.output import LIST_OUTPUT, wants_colour
from holdfast.cli.options.recording import threshold_option
from holdfast.cli.options.stack import stack_option
from holdfast.cli.options.timestamps import Rfc3339
from holdfast.cli.options.words import Word
from holdfast.errors import ExitCode, InputError
from holdfast.operations.deploy.object_provenance import MOST_COMMITS, commit_of_object
from holdfast.operations.describe.history import (
    gate_journal,
    scan_history,
    stack_and_agent,
    updates_of,
)
from holdfast.operations.scan.recording import damage_note, default_history_file
from holdfast.operations.scan.request import DEFAULT_ALERT_THRESHOLD
from holdfast.operations.stack.context import StackContext
from holdfast.operations.stack.project import find_project_root
from holdfast.report.documents.history import history_json
from holdfast.report.documents.json_text import json_text
from holdfast.report.documents.updates import updates_json
from holdfast.report.text.finding_text import finding_name
from holdfast.report.text.gate_report import gate_document, gates_text, read_gate
from holdfast.report.text.history_text import (
    history_text,
    object_provenance_json,
    object_provenance_text,
    updates_text,
)
from holdfast.report.text.listed import listed


@dataclass(frozen=True)
class _Subject:
    """Which history is wanted; the updates where nothing else is."""

    scans: bool
    gates: bool
    commit_of: str
    at: str | None
    history: Path | None
    alert_after: int
    limit: int | None

    def check(self, agent: str) -> None:
        """Refuse options that have no effect on what is wanted.

        Raises:
            InputError: one is given.
        """
        wanted = [
            name
            for name, is_wanted in (
                ("--scans", self.scans),
                ("--gates", self.gates),
                ("--commit-of", bool(self.commit_of)),
            )
            if is_wanted
        ]
        if len(wanted) > 1:
            raise InputError(f"{' and '.join(wanted)} exclude each other", remedy="choose one")
        of_scans = {
            "--at": self.at,
            "--history": self.history,
            "--alert-after": self.alert_after != DEFAULT_ALERT_THRESHOLD,
        }
        for option, value in of_scans.items():
            if value and not self.scans:
                raise InputError(f"{option} requires --scans", remedy="add it")
        if self.limit is not None and (self.scans or self.commit_of):
            raise InputError(f"--limit has no effect with {wanted[0]}", remedy="remove it")
        if agent and wanted:
            raise InputError(
                f"{wanted[0]} is about a stack, and takes no agent",
                remedy="remove the agent",
            )


_SUBJECT: Final[Group] = (
    _Subject,
    (
        click.option("--scans", is_flag=True, help="When drift was found, and how often."),
        click.option("--gates", is_flag=True, help="Results of `ci gate` on this machine."),
        click.option(
            "--commit-of",
            default="",
            metavar="KIND/[NAMESPACE/]NAME",
            help="The commit that a live object was rendered from.",
        ),
        click.option(
            "--at",
            type=Rfc3339(),
            help="With --scans: the scan that was current then, in full.",
        ),
        click.option(
            "--history",
            type=click.Path(path_type=Path, dir_okay=False),
            help="With --scans: file that keeps them; default the stack's in the state folder.",
        ),
        threshold_option(),
        click.option("--limit", type=click.IntRange(min=1), help="Only the newest."),
    ),
)


_NAMED: Final = Word("AGENT|STACK", "stack", "agent")


@click.command()
@click.argument("name", type=_NAMED, default="", metavar="[AGENT|STACK]")
@stack_option("Stack; required if AGENT is named.", required=False)
@receives(_SUBJECT)
@LIST_OUTPUT
def command(wanted: _Subject, *, name: str, stack: str, output: str) -> ExitCode:
    """Print the updates of a stack, or of an agent: commit, author, policy, outcome.

    Reads Pulumi's own history, so that a plain `pulumi up` is listed too, on every machine that
    has the stack's backend. Updates that were refused, and the agents that an update changed, are
    known on the machine that ran it.

    --scans prints when each finding opened, how often it was seen, and alerts on many low ones;
    with --at and -o json also every object as it was then.

    \b
    Examples:
      holdfast history prod
      holdfast history support-rag -s prod -o json
      holdfast history prod --commit-of Deployment/cx/support-rag
      holdfast history prod --scans --at 2026-11-20T09:00:00Z -o json
      holdfast history prod --gates --limit 5

    \b
    Exit codes: 0 printed   1 no recorded commit renders the object
      2 bad input, or no scan   6 no such stack
    """
    if wanted.scans and wanted.history and not (name or stack):
        wanted.check("")
        return _print_scans(wanted.history, "", wanted, output)
    root = find_project_root()
    stack, agent = stack_and_agent(root, name, stack)
    wanted.check(agent)
    if wanted.scans:
        file = wanted.history or default_history_file(root, stack)
        return _print_scans(file, stack, wanted, output)
    if wanted.gates:
        return _print_gates(root, stack, wanted.limit, output)
    if wanted.commit_of:
        return _print_commit(StackContext(root, stack), wanted.commit_of, output)
    records = updates_of(root, stack, agent)[-(wanted.limit or 0) :]
    text = listed(
        output,
        text=lambda: updates_text(records),
        document=lambda: updates_json(stack, records, agent),
        names=(each.commit for each in reversed(records)),
    )
    click.echo(text, nl=False)
    return ExitCode.OK


def _print_scans(file: Path, stack: str, wanted: _Subject, output: str) -> ExitCode:
    found = scan_history(file, stack, wanted.at or "", wanted.alert_after)
    if found.damaged_lines:
        click.echo(damage_note(file, found.damaged_lines), err=True)
    in_full = bool(wanted.at)
    text = listed(
        output,
        text=lambda: history_text(found, in_full=in_full, colour=wants_colour()),
        document=lambda: history_json(found),
        names=(finding_name(each.finding) for each in found.findings.values()),
    )
    click.echo(text, nl=False)
    return ExitCode.OK


def _print_gates(root: Path, stack: str, limit: int | None, output: str) -> ExitCode:
    lines = gate_journal(root, stack).lines()
    readable = [report for line in lines if (report := read_gate(line)) is not None]
    shown = readable[-(limit or 0) :]
    text = listed(
        output,
        text=lambda: gates_text(shown),
        document=lambda: json_text([gate_document(each) for each in shown]),
        names=(each.started_at for each in shown),
    )
    click.echo(text, nl=False)
    if len(readable) < len(lines):
        damaged = len(lines) - len(readable)
        click.echo(f"note: skipped {damaged} lines of the journal: no gates", err=True)
    return ExitCode.OK


def _print_commit(context: StackContext, named: str, output: str) -> ExitCode:
    found = commit_of_object(context, named)
    text = listed(
        output,
        text=lambda: object_provenance_text(found),
        document=lambda: object_provenance_json(named, found),
        names=(found.update.commit,) if found.update is not None else (),
    )
    click.echo(text, nl=False)
    if found.update is not None:
        return ExitCode.OK
    click.echo(
        f"error: none of the last {MOST_COMMITS} recorded commits renders revision "
        f"{found.revision} of {found.ref}",
        err=True,
    )
    return ExitCode.ERROR
