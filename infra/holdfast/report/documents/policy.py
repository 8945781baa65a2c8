"""A policy report as JSON, `holdfast.dev/policy/v1`: written and published."""

from typing import Annotated, Any, Final, Literal

import msgspec
from holdfast_policies.model.rule import PROFILES
from msgspec import UNSET, UnsetType

from holdfast.drift.finding import Severity
from holdfast.kube.objects import ObjectRef
from holdfast.operations.policy.model import PolicyFinding, PolicyReport, Verdict
from holdfast.report.documents.json_text import json_text
from holdfast.report.documents.parts import (
    Count,
    NotCheckedPart,
    ObjectPart,
    Part,
    PlacePart,
    one_of,
    schema_of,
)
from holdfast.report.exchange.policy_notices import fingerprint_of

SCHEMA_VERSION: Final = "holdfast.dev/policy/v1"

Profile = Annotated[str, one_of(*PROFILES)]
Level = Annotated[str, one_of("mandatory", "advisory")]
Operation = Annotated[str, one_of("create", "update", "replace", "delete", "import")]


class SummaryPart(Part):
    """How many of each.

    Attributes:
        passed: Rules passed, counted for each object.
    """

    objects: Count
    passed: Count
    mandatory: Count
    advisory: Count
    waived: Count
    undetermined: Count


class PolicyFindingPart(Part):
    """What one rule has against one field of one object.

    Attributes:
        object: Null for the stack as a whole.
        agent: Agent that the object belongs to; empty where there is none.
        path: Field of the object; empty for the whole object.
        found: In words; never the value of a secret.
        waiver: Who waived it until when; empty without a waiver.
        fingerprint: Equal for the same demand on the same field in every run.
        declared_at: Where it is declared; null when no file does.
    """

    rule: str
    verdict: Verdict
    level: Level
    severity: Severity
    object: ObjectPart | None
    agent: str
    path: str
    expected: str
    found: str
    remedy: str
    waiver: str
    fingerprint: str
    declared_at: PlacePart | None

    @classmethod
    def of(cls, finding: PolicyFinding) -> "PolicyFindingPart":
        """A finding as data."""
        return cls(
            finding.rule,
            finding.verdict,
            finding.level,
            finding.severity,
            _object(finding.ref),
            finding.agent,
            finding.path,
            finding.expected,
            finding.found,
            finding.remedy,
            finding.note,
            fingerprint_of(finding),
            PlacePart.copy_of(finding.location) if finding.location else None,
        )


class JudgedPart(Part):
    """An object, and the rules that it passes.

    Attributes:
        object: Null for the stack as a whole.
        passed: Names of rules.
    """

    object: ObjectPart | None
    agent: str
    passed: list[str]


class FieldChangePart(Part):
    """One field that a deployment would set.

    Attributes:
        location: Where it is declared; null when no file does.
    """

    path: str
    before: str | None
    after: str | None
    location: PlacePart | None = msgspec.field(name="declaredAt")


class ObjectChangePart(Part):
    """What a deployment would do with one object.

    Attributes:
        fields: What differs, masked; empty for objects that come or go.
    """

    ref: ObjectPart = msgspec.field(name="object")
    agent: str
    operation: Operation
    fields: list[FieldChangePart]


class PolicyDocument(Part):
    """What `holdfast policy check` and `holdfast preview` write as JSON.

    Attributes:
        complete: Whether everything was judged and every mandatory rule could decide; if not, exit
            code 1 unless something is refused.
        findings: All but what passed.
        objects: What was judged.
        not_checked: What could not be judged, and why.
        remarks: Further lines about the whole.
        changes: Of a preview: what would change.
    """

    schema_version: Literal["holdfast.dev/policy/v1"]
    title: str
    profile: Profile
    complete: bool
    summary: SummaryPart
    findings: list[PolicyFindingPart]
    objects: list[JudgedPart]
    not_checked: list[NotCheckedPart]
    remarks: list[str]
    changes: list[ObjectChangePart] | UnsetType = UNSET


def policy_schema() -> dict[str, Any]:
    """The JSON Schema of the document."""
    return schema_of(
        "Holdfast policy report",
        "What `holdfast policy check` and `holdfast preview` write as JSON.",
        PolicyDocument,
    )


def policy_json(report: PolicyReport) -> str:
    """The whole report, one document, ending in a line end."""
    changes = report.changes
    return json_text(
        PolicyDocument(
            SCHEMA_VERSION,
            report.title,
            report.profile,
            report.is_complete,
            _summary(report),
            [PolicyFindingPart.of(each) for each in report.findings],
            [
                JudgedPart(_object(each.ref), each.agent, list(each.passed))
                for each in report.objects
            ],
            [NotCheckedPart.copy_of(each) for each in report.not_checked],
            list(report.remarks),
            UNSET if changes is None else [ObjectChangePart.copy_of(each) for each in changes],
        )
    )


def _summary(report: PolicyReport) -> SummaryPart:
    counts = report.counts
    refused = sum(each.refuses for each in report.findings)
    return SummaryPart(
        objects=sum(bool(each.ref.kind) for each in report.objects),
        passed=report.passed,
        mandatory=refused,
        advisory=counts[Verdict.VIOLATED] - refused,
        waived=counts[Verdict.WAIVED],
        undetermined=counts[Verdict.UNDETERMINED],
    )


def _object(ref: ObjectRef) -> ObjectPart | None:
    """The object; None for the stack as a whole."""
    return ObjectPart.copy_of(ref) if ref.kind else None
