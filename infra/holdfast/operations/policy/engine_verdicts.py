"""What a policy pack said during a run of the engine, as a report.

The pack hands the engine texts; what `holdfast_policies` writes is taken apart again, what another
pack writes stays whole. A run that ended early, or that no pack judged, gives an incomplete report.
"""

import re
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Final, Protocol

from holdfast.adapters.engine.results import RunResult
from holdfast.adapters.engine.run.events import PolicyViolation, ResourceStep
from holdfast.drift.finding import NotChecked, Severity
from holdfast.errors import SourceLocation
from holdfast.kube.objects import ObjectRef
from holdfast.kube.paths import Path, parse_path
from holdfast.kube.text import safe_text
from holdfast.manifest.types.marks import AGENT_LABEL
from holdfast.operations.policy.changes import field_changes, planned_changes
from holdfast.operations.policy.model import JudgedObject, PolicyFinding, PolicyReport, Verdict

UNDETERMINED: Final = "undetermined"
"""Name under which the pack notes what it cannot decide yet."""

_LONGEST_REMARK_CHARACTERS: Final = 1000
THE_STACK: Final = ObjectRef("", "", "", "")
_MESSAGE: Final = re.compile(
    r"(?:(?P<path>\S(?:.*?\S)?): )?expected (?P<expected>.+?), got (?P<found>.+?); (?P<remedy>.+?)"
    r"(?: \[(?P<note>(?:waived|its waiver) .+)\])?",
    re.DOTALL,
)


class FieldLocations(Protocol):
    """Where things are declared."""

    def of(self, ref: ObjectRef, path: Path) -> SourceLocation | None:
        """Place of a field of an object, which may take long to find; None: nowhere."""

    def near(self, agent: str) -> SourceLocation | None:
        """Place of an agent, which is known at once."""


@dataclass(frozen=True)
class EngineRun:
    """A preview, and what is known beside it.

    Attributes:
        stack: Name of the stack.
        profile: `dev`, `staging` or `prod`.
        result: What the engine reported.
        failure: Why it failed, when it was not for a mandatory rule; else empty.
        mandatory: Rules that refuse on this stack: of a rule that is undetermined, the engine does
            not say.
        locations: Where fields are declared; None where there are no files.
        is_exact: Find the exact place of what is not refused, too.
        observed_at: RFC 3339 time; empty when it is not known.
    """

    stack: str
    profile: str
    result: RunResult
    failure: str = ""
    mandatory: frozenset[str] = frozenset()
    locations: FieldLocations | None = None
    is_exact: bool = True
    observed_at: str = ""

    def location(
        self, ref: ObjectRef, path: str, agent: str, *, is_refused: bool
    ) -> SourceLocation | None:
        """Place of a finding."""
        if self.locations is not None and not is_refused and not self.is_exact:
            return self.locations.near(agent)
        try:
            parsed = parse_path(path)
        except ValueError:
            parsed = ()
        return self.place_of(ref, parsed)

    def place_of(self, ref: ObjectRef, path: Path) -> SourceLocation | None:
        """Exact place of a field."""
        return self.locations.of(ref, path) if self.locations is not None else None


def engine_report(run: EngineRun) -> PolicyReport:
    """What the policy pack said, with passes, with what it could not say, and what would change."""
    found = dict.fromkeys(
        finding for each in run.result.violations for finding in _findings(each, run)
    )
    return PolicyReport(
        title=f"Policy of stack {run.stack}",
        identifier=f"policy/{run.stack}",
        profile=run.profile,
        findings=tuple(sorted(found, key=_order)),
        objects=tuple(_judged(run.result)),
        not_checked=tuple(_incomplete(run)),
        remarks=tuple(_remediations(run)),
        observed_at=run.observed_at,
        changes=planned_changes(run.result, run.place_of),
    )


def _order(finding: PolicyFinding) -> tuple[object, ...]:
    return (
        finding.ref.identity,
        finding.verdict is not Verdict.VIOLATED,
        not finding.is_mandatory,
        finding.severity.rank,
        finding.rule,
        finding.path,
        finding.expected,
    )


def _findings(violation: PolicyViolation, run: EngineRun) -> Iterator[PolicyFinding]:
    step = run.result.resources.get(violation.urn)
    ref = (step.reference if step else None) or _resource_ref(violation.urn)
    if violation.policy == UNDETERMINED:
        yield from _open_findings(violation, ref, _agent_of(step), run)
        return
    # Not at every character that Python takes for a line end: texts of programs hold any.
    lines = violation.message.split("\n")
    match = _MESSAGE.fullmatch(lines[-1])
    parts = match.groupdict(default="") if match else {"found": " ".join(lines)}
    note, path, agent = parts.get("note", ""), parts.get("path", ""), _agent_of(step)
    yield PolicyFinding(
        rule=violation.policy,
        verdict=Verdict.WAIVED if note.startswith("waived") else Verdict.VIOLATED,
        is_mandatory=violation.is_mandatory,
        severity=_severity(violation),
        ref=ref,
        path=path,
        expected=parts.get("expected", ""),
        found=parts["found"],
        remedy=parts.get("remedy", ""),
        agent=agent,
        location=run.location(ref, path, agent, is_refused=violation.is_mandatory),
        note=note,
    )


def _open_findings(
    violation: PolicyViolation, ref: ObjectRef, agent: str, run: EngineRun
) -> Iterator[PolicyFinding]:
    """One finding a rule out of the pack's note, which has a line `rule: path, path` for each."""
    for line in violation.message.split("\n")[1:]:
        rule, _, paths = line.partition(": ")
        yield PolicyFinding(
            rule=rule,
            verdict=Verdict.UNDETERMINED,
            is_mandatory=rule in run.mandatory,
            severity=Severity.MEDIUM,
            ref=ref,
            path=paths,
            agent=agent,
            location=run.location(ref, paths.partition(", ")[0], agent, is_refused=False),
        )


def _severity(violation: PolicyViolation) -> Severity:
    """The rule's own; of a rule without one, by what follows from it."""
    if violation.severity in set(Severity):
        return Severity(violation.severity)
    return Severity.HIGH if violation.is_mandatory else Severity.MEDIUM


def _resource_ref(urn: str) -> ObjectRef:
    """What stands for a resource that is no Kubernetes object; the stack for none."""
    if not urn:
        return THE_STACK
    *_, types, name = urn.split("::")
    return ObjectRef("", types.rpartition("$")[2].rpartition(":")[2], name, "pulumi")


def _agent_of(step: ResourceStep | None) -> str:
    return step.labels.get(AGENT_LABEL, "") if step else ""


def _judged(result: RunResult) -> list[JudgedObject]:
    """What was judged, with what it passed; resources that no rule is about are left out.

    In the order of objects, the stack last: the engine's own order is another one in every run.
    """
    judged = _judged_by_engine(result)
    return sorted(judged, key=lambda each: (each.ref == THE_STACK, each.ref.identity))


def _judged_by_engine(result: RunResult) -> Iterator[JudgedObject]:
    for summary in result.judged:
        step = result.resources.get(summary.urn)
        if summary.passed or summary.failed:
            ref = (step.reference if step else None) or _resource_ref(summary.urn)
            yield JudgedObject(ref, _agent_of(step), summary.passed)


def _remediations(run: EngineRun) -> Iterator[str]:
    """What rules of level `remediate` changed, a line a field."""
    for each in run.result.remediations:
        step = run.result.resources.get(each.urn)
        ref = (step.reference if step else None) or _resource_ref(each.urn)
        for field in field_changes(each.before, each.after, ref, run.place_of):
            values = f"{field.before or 'nothing'} becomes {field.after or 'nothing'}"
            text = f"{each.policy} remediates {ref} {field.path}: {values}"
            yield safe_text(text, _LONGEST_REMARK_CHARACTERS)


def _incomplete(run: EngineRun) -> Iterator[NotChecked]:
    result = run.result
    if run.failure:
        yield NotChecked("the rest of the stack", f"the preview failed: {run.failure}")
    elif not result.has_ended:
        yield NotChecked("the rest of the stack", "the events end before the engine's last word")
    if result.has_unread_verdicts:
        reason = f"events of the engine could not be read: {result.unread_events}; update Holdfast"
        yield NotChecked("verdicts of the policy pack", reason)
    elif not result.judged:
        yield NotChecked("every rule", "no policy pack judged this run")
    elif all(each.urn for each in result.judged):
        reason = "the run ended before the engine asked them"
        yield NotChecked("rules about the whole stack", reason)
