"""The drift report as JSON, `holdfast.dev/drift/v1`: written, read and published.

The document says less than the scan knew: how many objects were compared, and whose expectation a
finding breaks, are not in the contract.
"""

from collections import Counter
from collections.abc import Mapping, Sequence
from typing import Annotated, Any, Final, Literal

import msgspec
from msgspec import UNSET, UnsetType

from holdfast.drift.finding import (
    PROBES,
    Actor,
    AgentState,
    AgentStatus,
    Cause,
    DriftClass,
    DriftReport,
    EvidenceSource,
    ExpectedBy,
    Finding,
    IgnoredBy,
    Layer,
    NextUpdate,
    NotChecked,
    Severity,
)
from holdfast.drift.scan import by_team
from holdfast.errors import InputError
from holdfast.kube.objects import ObjectRef
from holdfast.kube.paths import format_path, parse_path
from holdfast.report.documents.json_text import json_text
from holdfast.report.documents.parts import (
    Count,
    NotCheckedPart,
    ObjectPart,
    Part,
    one_of,
    schema_of,
)

SCHEMA_VERSION: Final = "holdfast.dev/drift/v1"
_REMEDY: Final = "write it with `holdfast drift -o json`"

Detector = Annotated[str, one_of("holdfast", "pulumi")]
LayerName = Annotated[str, one_of("holdfast", "pulumi", PROBES)]


class ActorPart(Part, omit_defaults=True):
    """Who may have caused a finding; the words of the audit log only where there are some.

    Attributes:
        manager: Field manager: chosen by the client.
        operation: Apply or Update.
        time: RFC 3339.
        user: From the audit log; else empty.
        verb: Of the request, from the audit log.
        user_agent: Client, from the audit log.
        source_address: Address of the client, from the audit log.
    """

    manager: str
    operation: str
    subresource: str
    time: str
    user: str
    source: EvidenceSource
    verb: str = ""
    user_agent: str = ""
    source_address: str = ""


class FindingPart(Part, kw_only=True):
    """One finding.

    Attributes:
        about: It is the stack's record that differs: a refresh rewrote it.
        agent: Agent that the object belongs to; empty where there is none.
        path: Dotted field path; items of keyed lists as [name=agent], of other lists as [0]; empty
            for whole objects.
        desired: Expected value, masked; null where nothing should be.
        live: Value found, masked; null where nothing is.
        severity: A finding of severity info is a remark, not drift.
        policies: Rules that this breaks and the declaration keeps.
        actors: Who may have done it, the likeliest first; empty when nothing is known.
        seen_by: Which detectors report it.
        next_update: What the next update that changes the object does about it.
    """

    about: Literal["record"] | UnsetType = UNSET
    object: ObjectPart
    agent: str
    class_: DriftClass = msgspec.field(name="class")
    path: str
    desired: Any
    live: Any
    severity: Severity
    policies: list[str]
    actors: list[ActorPart]
    seen_by: list[Detector]
    next_update: NextUpdate | UnsetType = UNSET


class FindingPlacePart(Part):
    """Which finding is meant."""

    object: ObjectPart
    path: str

    @classmethod
    def of(cls, finding: Finding) -> "FindingPlacePart":
        """The place of a finding as data."""
        return cls(ObjectPart.copy_of(finding.ref), format_path(finding.path))


class CausePart(Part):
    """What explains several findings at once.

    Attributes:
        remedy: What to do about all of them; may be empty.
        findings: Which findings.
    """

    summary: str
    remedy: str
    findings: list[FindingPlacePart]


class SyncCounts(Part, rename="pascal"):
    """How many agents are in each state."""

    synced: Count
    out_of_sync: Count
    unknown: Count

    @classmethod
    def of(cls, states: Mapping[AgentState, int]) -> "SyncCounts":
        """Counted states as data."""
        return msgspec.convert({state.value: states.get(state, 0) for state in AgentState}, cls)


class NotSyncedPart(Part):
    """An agent that is out of sync, or of which a part could not be read."""

    name: str
    team: str
    state: AgentState
    findings: Count


class AgentsPart(Part):
    """Every declared agent, counted; by name only those that are not in sync.

    Attributes:
        counts: Declared agents in each state.
        teams: The same by team; the empty name for agents of none.
        not_synced: Agents that are out of sync, or of which a part could not be read.
    """

    counts: SyncCounts
    teams: dict[str, SyncCounts]
    not_synced: list[NotSyncedPart]


class IgnoredFindingPart(Part):
    """A finding that a rule on expected drift has taken out."""

    object: ObjectPart
    class_: DriftClass = msgspec.field(name="class")
    path: str
    severity: Severity


class IgnoredPart(Part):
    """A rule on expected drift that was in force.

    Attributes:
        rule: Where it is written.
        owner: Team that answers for it.
        expires: Its last day; empty where it has no end.
        matches: Findings that it took out.
        findings: What these are about.
    """

    rule: str
    reason: str
    owner: str
    expires: str
    matches: int
    findings: list[IgnoredFindingPart]


class LayerPart(Part):
    """A detector.

    Attributes:
        detail: What it compared, or why it did not run.
    """

    name: LayerName
    has_run: bool = msgspec.field(name="ran")
    detail: str


class DriftDocument(Part):
    """What `holdfast drift -o json` prints.

    Attributes:
        complete: Whether everything declared was checked; if not, exit code 1.
        not_checked: What could not be checked, and why.
        findings: Sorted by namespace, kind, name and path.
        causes: What explains several findings at once.
        ignored: Rules on expected drift that were in force.
        layers: Of a stack: which detectors ran.
    """

    schema_version: Literal["holdfast.dev/drift/v1"]
    complete: bool
    not_checked: list[NotCheckedPart]
    findings: list[FindingPart]
    causes: list[CausePart] | UnsetType = UNSET
    agents: AgentsPart | UnsetType = UNSET
    ignored: list[IgnoredPart] | UnsetType = UNSET
    layers: list[LayerPart] | UnsetType = UNSET


class _SchemaVersionOnly(Part):
    schema_version: str


def drift_schema() -> dict[str, Any]:
    """The JSON Schema of the document."""
    return schema_of(
        "Holdfast drift report", "What `holdfast drift -o json` prints.", DriftDocument
    )


def drift_json(report: DriftReport) -> str:
    """The whole report, one document, ending in a line end."""
    return json_text(drift_document(report))


def drift_document(report: DriftReport) -> DriftDocument:
    """The whole report as data."""
    return DriftDocument(
        SCHEMA_VERSION,
        report.is_complete,
        [NotCheckedPart.copy_of(each) for each in report.not_checked],
        [FindingPart(**finding_parts(each)) for each in report.findings],
        [_cause(each) for each in report.causes] or UNSET,
        _agents(report.agents) if report.agents else UNSET,
        [_ignored(each) for each in report.ignored] or UNSET,
        [LayerPart.copy_of(each) for each in report.layers] or UNSET,
    )


def finding_json(finding: Finding) -> dict[str, Any]:
    """One finding as plain data, as it stands in the report."""
    plain: dict[str, Any] = msgspec.to_builtins(FindingPart(**finding_parts(finding)))
    return plain


def object_document(ref: ObjectRef) -> dict[str, str]:
    """A reference to an object as plain data."""
    plain: dict[str, str] = msgspec.to_builtins(ObjectPart.copy_of(ref))
    return plain


def finding_parts(finding: Finding) -> dict[str, Any]:
    """The fields of a `FindingPart`."""
    return {
        "about": "record" if finding.expected_by is ExpectedBy.RECORD else UNSET,
        "object": ObjectPart.copy_of(finding.ref),
        "agent": finding.agent,
        "class_": finding.drift_class,
        "path": format_path(finding.path),
        "desired": finding.desired,
        "live": finding.live,
        "severity": finding.severity,
        "policies": list(finding.policies),
        "actors": [ActorPart.copy_of(each) for each in finding.actors],
        "seen_by": list(finding.seen_by),
        "next_update": finding.next_update or UNSET,
    }


def _cause(each: Cause) -> CausePart:
    places = [FindingPlacePart.of(finding) for finding in each.findings]
    return CausePart(each.summary, each.remedy, places)


def _agents(agents: Sequence[AgentStatus]) -> AgentsPart:
    return AgentsPart(
        SyncCounts.of(Counter(each.state for each in agents)),
        {team: SyncCounts.of(states) for team, states in sorted(by_team(agents).items())},
        [NotSyncedPart.copy_of(each) for each in agents if each.state is not AgentState.SYNCED],
    )


def _ignored(each: IgnoredBy) -> IgnoredPart:
    findings = [
        IgnoredFindingPart(
            ObjectPart.copy_of(finding.ref),
            finding.drift_class,
            format_path(finding.path),
            finding.severity,
        )
        for finding in each.findings
    ]
    expires = each.expires.isoformat() if each.expires else ""
    rule = str(each.location)
    return IgnoredPart(rule, each.reason, each.owner, expires, len(findings), findings)


def read_drift_json(text: bytes, source: str) -> DriftReport:
    """The report that a document holds.

    Args:
        text: The document.
        source: Its file, for errors.

    Raises:
        InputError: it is no drift report, or one of another version.
    """
    try:
        version = msgspec.json.decode(text, type=_SchemaVersionOnly).schema_version
        if version != SCHEMA_VERSION:
            raise InputError(
                f"{source}: expected schemaVersion {SCHEMA_VERSION}, got {version!r}",
                remedy=_REMEDY,
            )
        document = msgspec.json.decode(text, type=DriftDocument)
        findings = tuple(_finding(each) for each in document.findings)
    except (msgspec.DecodeError, ValueError) as error:
        raise InputError(f"{source}: no drift report: {error}", remedy=_REMEDY) from error
    not_checked = tuple(NotChecked(each.scope, each.reason) for each in document.not_checked)
    if document.complete is bool(not_checked):
        raise InputError(
            f"{source}: complete is {str(document.complete).lower()}, "
            f"but notChecked holds {len(not_checked)} entries",
            remedy=_REMEDY,
        )
    layers = tuple(Layer(each.name, each.has_run, each.detail) for each in document.layers or ())
    return DriftReport(findings, not_checked, objects_checked=None, layers=layers)


def agents_counted(text: bytes) -> int | None:
    """How many agents a document says were scanned; None where it does not say.

    Args:
        text: A document that `read_drift_json` reads.
    """
    agents = msgspec.json.decode(text, type=DriftDocument).agents
    return sum(msgspec.structs.astuple(agents.counts)) if agents else None


def _finding(each: FindingPart) -> Finding:
    ref = each.object
    return Finding(
        ref=ObjectRef(ref.namespace, ref.kind, ref.name, ref.api_version),
        agent=each.agent,
        drift_class=each.class_,
        path=parse_path(each.path),
        desired=each.desired,
        live=each.live,
        severity=each.severity,
        policies=tuple(each.policies),
        actors=tuple(
            Actor(one.manager, one.operation, one.subresource, one.time, one.user, one.source)
            for one in each.actors
        ),
        expected_by=ExpectedBy.RECORD if each.about else ExpectedBy.DECLARATION,
        seen_by=tuple(each.seen_by),
        next_update=each.next_update or None,
    )
