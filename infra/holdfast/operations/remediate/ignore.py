"""`holdfast drift --ignore FINDING`: what is found becomes expected drift, with a rule. Wiring."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import UTC, date, datetime
from pathlib import Path

import click

from holdfast.adapters.files.atomic_write import write_atomically
from holdfast.drift.finding import Finding
from holdfast.errors import InputError
from holdfast.manifest.stack.ignore_entry import NewIgnore, with_rules
from holdfast.manifest.stack.ignore_file import IGNORE_FILE, read_ignore_file
from holdfast.operations.remediate.selection import named_findings, path_named
from holdfast.operations.scan.sources import DriftSources, Scan
from holdfast.operations.stack.project import find_project_root


@dataclass(frozen=True)
class Expectation:
    """What the command line says about drift that is expected.

    Attributes:
        findings: As the report writes them: kind, namespace/name, path.
    """

    findings: Sequence[str]
    reason: str | None
    owner: str | None
    expires: datetime | None

    def checked(self, today: date) -> tuple[str, str, date]:
        """Reason, owner and last day.

        Raises:
            InputError: one of them is not given, or the day has passed.
        """
        given = {"--reason": self.reason, "--owner": self.owner, "--expires": self.expires}
        missing = [name for name, value in given.items() if not value]
        if missing or not self.reason or not self.owner or not self.expires:
            raise InputError(
                f"--ignore needs {' and '.join(missing)}",
                remedy="say why, who answers for it, and the last day on which it holds",
            )
        last = self.expires.date()
        if last < today:
            raise InputError(f"--expires {last} has passed", remedy=f"name {today} or later")
        return self.reason, self.owner, last


def expect(sources: DriftSources, scan: Scan, expectation: Expectation) -> Scan:
    """Write one rule a finding, and look again.

    Raises:
        InputError: no such finding, or nobody is known whose changes could be expected.
    """
    reason, owner, last = expectation.checked(datetime.now(UTC).date())
    request = sources.request
    rules = []
    for text in expectation.findings:
        chosen = named_findings(text, scan.report.findings, "--ignore")
        path = path_named(text)
        rules += [
            _rule(each, path, reason=reason, owner=owner, last=last, stack=request.stack)
            for each in (chosen[:1] if path else chosen)
        ]
    name = str(request.ignore_file or IGNORE_FILE)
    file = request.ignore_file or _project_file(request.stack)
    before = file.read_text(encoding="utf-8") if file.exists() else ""
    _write(file, with_rules(before, name, rules))
    read_ignore_file(file, name, request.stack)
    click.echo(f"{name}: added {len(rules)} {'rule' if len(rules) == 1 else 'rules'}", err=True)
    return DriftSources(request).scan()


def _project_file(stack: str) -> Path:
    if not stack:
        raise InputError(
            "plain objects have no file of rules", remedy="name one with --ignore-file"
        )
    return find_project_root() / IGNORE_FILE


def _write(file: Path, text: str) -> None:
    try:
        write_atomically(file, text)
    except OSError as error:
        raise InputError(f"{file}: {error.strerror}", remedy="correct its rights") from error


def _rule(
    finding: Finding, path: str, *, reason: str, owner: str, last: date, stack: str
) -> NewIgnore:
    ref = finding.ref
    target = {"group": ref.group, "kind": ref.kind, "name": ref.name, "namespace": ref.namespace}
    stacks = [stack.rpartition("/")[2]] if stack else []
    managers = sorted({actor.manager for actor in finding.actors if actor.manager})
    if not path and not managers:
        raise InputError(
            f"{ref}: nobody is known who did this, so nobody's changes can be expected",
            remedy="read an audit log with --audit-log, or change the manifest",
        )
    return NewIgnore(
        target={key: value for key, value in target.items() if value or key == "group"},
        paths=[path] if path else [],
        managers=[] if path else managers,
        reason=reason,
        owner=owner,
        expires=last,
        stacks=stacks,
    )
