"""Findings become expected drift: one rule each, planned and validated, then written."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import UTC, date, datetime
from pathlib import Path

from holdfast.adapters.files import write_atomically
from holdfast.drift.finding import Finding
from holdfast.errors import InputError
from holdfast.manifest.stack.ignore_entry import NewIgnore, with_rules
from holdfast.manifest.stack.ignore_file import IGNORE_FILE, parse_ignore_file
from holdfast.operations.remediate.selection import named_findings, path_named
from holdfast.operations.scan.request import ScanRequest
from holdfast.operations.scan.scanner import Scan


@dataclass(frozen=True)
class IgnoreRequest:
    """Which drift is expected from now on, why, and until when.

    Attributes:
        findings: As the report writes them: kind, namespace/name, path.
        expires: The last day on which the rules hold.
    """

    findings: Sequence[str]
    reason: str
    owner: str
    expires: datetime

    def check(self, today: date) -> None:
        """Refuse a rule that has expired.

        Raises:
            InputError: the day has passed.
        """
        last = self.expires.date()
        if last < today:
            raise InputError(f"--expires {last} has passed", remedy=f"name {today} or later")


@dataclass(frozen=True)
class IgnorePlan:
    """A valid file of rules, to be written.

    Attributes:
        file: Where it is written.
        name: What it is called for people.
        text: All of it.
        added: How many rules are new.
    """

    file: Path
    name: str
    text: str
    added: int

    def apply(self) -> None:
        """Write the file.

        Raises:
            InputError: it cannot be written.
        """
        try:
            write_atomically(self.file, self.text)
        except OSError as error:
            raise InputError(
                f"{self.file}: {error.strerror}", remedy="correct its permissions"
            ) from error


def plan_ignore(request: ScanRequest, scan: Scan, wanted: IgnoreRequest) -> IgnorePlan:
    """One rule a finding; nothing is written.

    Raises:
        InputError: no such finding, or no field manager is known whose changes could be expected.
        InvalidFilesError: the file would not be valid with the new rules.
    """
    wanted.check(datetime.now(UTC).date())
    rules: list[NewIgnore] = []
    for text in wanted.findings:
        chosen = named_findings(text, scan.report.findings, "FINDING")
        path = path_named(text)
        rules += [
            _rule(each, path, wanted, request.stack) for each in (chosen[:1] if path else chosen)
        ]
    name = str(request.ignore_file or IGNORE_FILE)
    file = request.ignore_file or _project_file(request)
    before = file.read_text(encoding="utf-8") if file.exists() else ""
    after = with_rules(before, name, rules)
    parse_ignore_file(after, name, request.stack)
    return IgnorePlan(file, name, after, len(rules))


def _project_file(request: ScanRequest) -> Path:
    if not request.stack:
        raise InputError(
            "plain objects have no file of rules", remedy="name one with --ignore-file"
        )
    return request.project_root / IGNORE_FILE


def _rule(finding: Finding, path: str, wanted: IgnoreRequest, stack: str) -> NewIgnore:
    ref = finding.ref
    target = {"group": ref.group, "kind": ref.kind, "name": ref.name, "namespace": ref.namespace}
    stacks = [stack.rpartition("/")[2]] if stack else []
    managers = sorted({actor.manager for actor in finding.actors if actor.manager})
    if not path and not managers:
        raise InputError(
            f"{ref}: no field manager is known that did this, so none can be expected",
            remedy="read an audit log with --audit-log, or change the manifest",
        )
    return NewIgnore(
        target={key: value for key, value in target.items() if value or key == "group"},
        paths=[path] if path else [],
        managers=[] if path else managers,
        reason=wanted.reason,
        owner=wanted.owner,
        expires=wanted.expires.date(),
        stacks=stacks,
    )
