"""A drift report as the journal stores it: what later scans and readers need of it.

These types are the journal's own: what a verb prints may change, what was written stays readable.
Values are masked before they come here.
"""

from typing import Any

import msgspec

from holdfast.drift.finding import (
    Actor,
    DriftClass,
    DriftReport,
    EvidenceSource,
    ExpectedBy,
    Finding,
    Layer,
    NextUpdate,
    NotChecked,
    Severity,
)
from holdfast.kube.objects import ObjectRef
from holdfast.kube.paths import format_path, parse_path


class StoredObject(msgspec.Struct, rename="camel", omit_defaults=True):
    """A reference to an object."""

    api_version: str
    kind: str
    name: str
    namespace: str = ""


class StoredActor(msgspec.Struct, rename="camel", omit_defaults=True):
    """Who may have caused a finding."""

    manager: str = ""
    operation: str = ""
    subresource: str = ""
    time: str = ""
    user: str = ""
    source: EvidenceSource = EvidenceSource.MANAGED_FIELDS
    verb: str = ""
    user_agent: str = ""
    source_address: str = ""


class StoredFinding(msgspec.Struct, rename="camel", omit_defaults=True):
    """One finding.

    Attributes:
        about: `record` in lines of version drift-history/v1, where the record differs.
    """

    object: StoredObject
    class_: DriftClass = msgspec.field(name="class")
    agent: str = ""
    path: str = ""
    desired: Any = None
    live: Any = None
    severity: Severity = Severity.MEDIUM
    policies: tuple[str, ...] = ()
    actors: tuple[StoredActor, ...] = ()
    expected_by: ExpectedBy = ExpectedBy.DECLARATION
    seen_by: tuple[str, ...] = ("holdfast",)
    next_update: NextUpdate | None = None
    about: str = ""


class StoredScope(msgspec.Struct):
    """Something that could not be read, and why."""

    scope: str
    reason: str


class StoredLayer(msgspec.Struct):
    """A detector, and whether it ran."""

    name: str
    ran: bool
    detail: str


class StoredReport(msgspec.Struct, rename="camel", omit_defaults=True):
    """One report."""

    findings: tuple[StoredFinding, ...] = ()
    not_checked: tuple[StoredScope, ...] = ()
    layers: tuple[StoredLayer, ...] = ()


def stored_report(report: DriftReport) -> StoredReport:
    """A report as it is stored."""
    return StoredReport(
        tuple(stored_finding(each) for each in report.findings),
        tuple(StoredScope(each.scope, each.reason) for each in report.not_checked),
        tuple(StoredLayer(each.name, each.has_run, each.detail) for each in report.layers),
    )


def stored_finding(finding: Finding) -> StoredFinding:
    """A finding as it is stored."""
    ref = finding.ref
    return StoredFinding(
        object=StoredObject(ref.api_version, ref.kind, ref.name, ref.namespace),
        class_=finding.drift_class,
        agent=finding.agent,
        path=format_path(finding.path),
        desired=finding.desired,
        live=finding.live,
        severity=finding.severity,
        policies=finding.policies,
        actors=tuple(
            msgspec.convert(each, StoredActor, from_attributes=True) for each in finding.actors
        ),
        expected_by=finding.expected_by,
        seen_by=finding.seen_by,
        next_update=finding.next_update,
    )


def report_of(stored: StoredReport, objects_checked: int | None) -> DriftReport:
    """The report that was stored.

    Raises:
        ValueError: a path in it is none.
    """
    return DriftReport(
        tuple(finding_of(each) for each in stored.findings),
        tuple(NotChecked(each.scope, each.reason) for each in stored.not_checked),
        objects_checked,
        layers=tuple(Layer(each.name, each.ran, each.detail) for each in stored.layers),
    )


def finding_of(stored: StoredFinding) -> Finding:
    """The finding that was stored.

    Raises:
        ValueError: its path is none.
    """
    ref = stored.object
    return Finding(
        ref=ObjectRef(ref.namespace, ref.kind, ref.name, ref.api_version),
        agent=stored.agent,
        drift_class=stored.class_,
        path=parse_path(stored.path),
        desired=stored.desired,
        live=stored.live,
        severity=stored.severity,
        policies=stored.policies,
        actors=tuple(Actor(*msgspec.structs.astuple(each)) for each in stored.actors),
        expected_by=ExpectedBy.RECORD if stored.about == "record" else stored.expected_by,
        seen_by=stored.seen_by,
        next_update=stored.next_update,
    )
