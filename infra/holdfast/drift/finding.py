"""What a comparison finds: the data behind the report, in the words of the output contract."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from datetime import date
from enum import StrEnum
from typing import Any, Final

from holdfast.errors import SourceLocation
from holdfast.kube.objects import Identity, ObjectRef
from holdfast.kube.paths import Path, format_path
from holdfast.kube.workload_status import Health, HealthVerdict


class DriftClass(StrEnum):
    """What happened to a field (the first three) or to a whole object."""

    CHANGED = "changed"
    REMOVED = "removed"
    ADDED = "added"
    MISSING = "missing"
    RECREATED = "recreated"
    UNMANAGED = "unmanaged"
    TERMINATING = "terminating"


PROBES = "probes"
"""First segment of the path of what a probe has found: no object has such a field."""

FIELD_CLASSES = frozenset({DriftClass.CHANGED, DriftClass.REMOVED, DriftClass.ADDED})


class Severity(StrEnum):
    """How bad a finding is; `info` is no drift."""

    CRITICAL = "critical"
    HIGH = "high"
    MEDIUM = "medium"
    LOW = "low"
    INFO = "info"

    @property
    def rank(self) -> int:
        """0 for the worst."""
        return list(Severity).index(self)


class EvidenceSource(StrEnum):
    """Where an actor is known from: names in managed fields are hints, the audit log is proof."""

    MANAGED_FIELDS = "managedFields"
    AUDIT = "audit"


class ExpectedBy(StrEnum):
    """Where the expected value of a finding comes from.

    RECORD: the finding is about the stack's record, which a refresh has rewritten, not about what
    is live; `live` is then what the record says.
    """

    DECLARATION = "declaration"
    DEFAULT = "default"
    BASELINE = "baseline"
    SERVER = "server"
    RECORD = "record"
    NOBODY = "nobody"


class NextUpdate(StrEnum):
    """What the next update of an object does about a finding."""

    OVERWRITES = "overwrites"
    KEEPS = "keeps"
    DELETES = "deletes"
    CONFLICTS = "conflicts"
    REPLACES = "replaces"
    FAILS = "fails"
    DEPLOYS = "deploys"


@dataclass(frozen=True)
class Actor:
    """Who may have caused a finding; empty where it is not known.

    Attributes:
        manager: Field manager, chosen by the client.
        operation: `Apply` or `Update`.
        subresource: Such as `scale`.
        time: RFC 3339.
        user: Effective user: the impersonated one where there is impersonation.
        verb: Of the request, from the audit log; as are the client and its address.
    """

    manager: str = ""
    operation: str = ""
    subresource: str = ""
    time: str = ""
    user: str = ""
    source: EvidenceSource = EvidenceSource.MANAGED_FIELDS
    verb: str = ""
    user_agent: str = ""
    source_address: str = ""


@dataclass(frozen=True)
class Finding:
    """One difference between what was declared and what runs.

    Attributes:
        agent: Name of the agent the object belongs to; empty where it names none.
        path: Empty for whole objects.
        desired: Declared value or server default; None where nothing should be. Already masked.
        live: Value found; None where nothing is. Already masked.
        policies: Rules that hold for the declared object and are broken by this.
        expected_by: Where the expected value comes from; applying reverts declared ones only.
        seen_by: Detectors that report it: `holdfast`, and `pulumi` where its refresh does too.
        next_update: The risk to the next deployment; None where an update has no part in it.
    """

    ref: ObjectRef
    agent: str
    drift_class: DriftClass
    path: Path = ()
    desired: Any = None
    live: Any = None
    severity: Severity = Severity.MEDIUM
    policies: tuple[str, ...] = ()
    actors: tuple[Actor, ...] = ()
    expected_by: ExpectedBy = ExpectedBy.DECLARATION
    seen_by: tuple[str, ...] = ("holdfast",)
    next_update: NextUpdate | None = None

    @property
    def is_drift(self) -> bool:
        """Whether the finding is drift; a remark is not."""
        return self.severity is not Severity.INFO

    @property
    def sort_key(self) -> tuple[str, str, str, str, str, str]:
        """Namespace, kind, name, path; then what makes the order total."""
        ref = self.ref
        text = format_path(self.path)
        return (ref.namespace, ref.kind, ref.name, text, ref.api_version, self.drift_class)


@dataclass(frozen=True, order=True)
class NotChecked:
    """Something the scan could not check, and why: unknown is never reported as fine."""

    scope: str
    reason: str


@dataclass(frozen=True)
class IgnoredBy:
    """A rule on expected drift, and what it took out of the report.

    Attributes:
        location: Where the rule is written.
        expires: Its last day; None where it has no end.
        findings: What it expects; empty for a rule that is of no use any more.
    """

    location: SourceLocation
    reason: str
    owner: str
    expires: date | None
    findings: tuple[Finding, ...] = ()


class AgentState(StrEnum):
    """What can be said of one agent as a whole; unknown as soon as a part cannot be seen."""

    SYNCED = "Synced"
    OUT_OF_SYNC = "OutOfSync"
    UNKNOWN = "Unknown"


HEALTH_NOT_CHECKED: Final = HealthVerdict(Health.UNKNOWN, "it was not checked")


@dataclass(frozen=True)
class AgentStatus:
    """One agent of a stack: whether it is as declared, and whether it does its work.

    Attributes:
        team: Who answers for it; empty where none is named.
        findings: How many findings of it count as drift.
        health: How its workloads are; a scan alone does not read that.
    """

    name: str
    team: str
    state: AgentState
    findings: int = 0
    health: HealthVerdict = HEALTH_NOT_CHECKED

    @property
    def is_fine(self) -> bool:
        """Whether there is nothing to say of it."""
        return self.state is AgentState.SYNCED and self.health.is_healthy


@dataclass(frozen=True)
class Cause:
    """Findings with one explanation: a change, or a pending deployment.

    Attributes:
        summary: In words: who did what, to how many objects.
        remedy: What to do about all of them; empty when there is nothing to add.
    """

    summary: str
    findings: tuple[Finding, ...]
    remedy: str = ""


@dataclass(frozen=True)
class Layer:
    """One of the detectors behind a report, and whether it was asked.

    Attributes:
        name: As in `seen_by`.
        has_run: It was asked and answered.
        detail: What it compared, or why it was not asked.
    """

    name: str
    has_run: bool
    detail: str


@dataclass(frozen=True)
class DriftReport:
    """Everything one scan says.

    Attributes:
        findings: Sorted by namespace, kind, name, path.
        objects_checked: How many declared objects were compared; None when a saved report is
            shown again, which does not say.
        layers: Which detectors ran.
        ignored: Rules on expected drift that were in force, each with what it took out.
        agents: Every declared agent and its state, by name.
        causes: What explains several findings at once.
    """

    findings: tuple[Finding, ...] = ()
    not_checked: tuple[NotChecked, ...] = ()
    objects_checked: int | None = 0
    layers: tuple[Layer, ...] = ()
    ignored: tuple[IgnoredBy, ...] = ()
    agents: tuple[AgentStatus, ...] = ()
    causes: tuple[Cause, ...] = ()

    @property
    def is_complete(self) -> bool:
        """Whether everything that was declared was checked."""
        return not self.not_checked

    @property
    def drift(self) -> tuple[Finding, ...]:
        """Findings without the remarks."""
        return tuple(finding for finding in self.findings if finding.is_drift)


def with_findings(report: DriftReport, more: Iterable[Finding]) -> DriftReport:
    """The report with more findings, in order."""
    added = tuple(more)
    if not added:
        return report
    findings = sorted((*report.findings, *added), key=lambda finding: finding.sort_key)
    return replace(report, findings=tuple(findings))


Objects = Mapping[Identity, Mapping[str, Any]]
"""Objects by identity: group, kind, namespace, name."""
