"""Reports of drift for tests: a plain one, and one whose every text is an attack."""

from dataclasses import dataclass, replace

from holdfast.drift.finding import (
    Actor,
    DriftClass,
    DriftReport,
    EvidenceSource,
    ExpectedBy,
    Finding,
    Layer,
    NotChecked,
    Severity,
)
from holdfast.drift.record.finding_history import FindingHistory, finding_key
from holdfast.errors import SourceLocation
from holdfast.kube.objects import ObjectRef
from holdfast.kube.paths import ItemKey, parse_path
from holdfast.operations.scan.scan_context import ReportContext

DEPLOYMENT = ObjectRef("cx", "Deployment", "support-rag", "apps/v1")
ALICE = Actor(
    "kubectl-patch",
    "Update",
    "",
    "2026-11-21T10:45:00Z",
    "alice@example.test",
    EvidenceSource.AUDIT,
)
SIDECAR = Finding(
    DEPLOYMENT,
    "support-rag",
    DriftClass.ADDED,
    parse_path("spec.template.spec.containers[name=evil]"),
    None,
    {"name": "evil", "image": "x:y"},
    Severity.CRITICAL,
    ("image-digest-pinned",),
    (ALICE,),
    ExpectedBy.NOBODY,
)
IMAGE = Finding(
    DEPLOYMENT,
    "support-rag",
    DriftClass.CHANGED,
    parse_path("spec.template.spec.containers[name=agent].image"),
    "registry.example/agents/support-rag@sha256:2b9f",
    "registry.example/agents/support-rag:hotfix",
    Severity.HIGH,
    ("image-digest-pinned",),
    (Actor("kubectl-set", "Update", "", "2026-11-21T10:41:12Z"),),
    seen_by=("holdfast", "pulumi"),
)
CONFIG = Finding(
    ObjectRef("cx", "ConfigMap", "support-rag-config", "v1"),
    "support-rag",
    DriftClass.CHANGED,
    ("data", "retrieval.yaml"),
    "collection: product-docs\ntop_k: 8\nrerank: true\n",
    "collection: product-docs\ntop_k: 80\nrerank: true\ndebug: yes\n",
    Severity.MEDIUM,
)
GONE = Finding(
    ObjectRef("finops", "Service", "nightly-cost-report", "v1"),
    "nightly-cost-report",
    DriftClass.MISSING,
    severity=Severity.HIGH,
)
STRANGER = Finding(
    ObjectRef("", "ClusterRole", "helper", "rbac.authorization.k8s.io/v1"),
    "",
    DriftClass.UNMANAGED,
    severity=Severity.CRITICAL,
    actors=(Actor("kubectl-create", "Update", "", "2026-11-20T08:00:00Z"),),
)
REMARK = Finding(DEPLOYMENT, "support-rag", DriftClass.RECREATED, severity=Severity.INFO)
FORBIDDEN = NotChecked("Secret in cx", "forbidden: grant list on secrets, or leave them out")

REPORT = DriftReport((STRANGER, CONFIG, REMARK, IMAGE, SIDECAR, GONE), (), 57)
INCOMPLETE = DriftReport(REPORT.findings, (FORBIDDEN,), 56)
REWRITTEN = DriftReport(
    (replace(IMAGE, expected_by=ExpectedBy.RECORD),),
    (),
    57,
    (Layer("holdfast", True, "compared 57 objects"), Layer("pulumi", False, "nothing drifted")),
)
CLEAN = DriftReport(objects_checked=57)


@dataclass(frozen=True)
class OfAgents:
    """One location for everything that belongs to an agent."""

    location: SourceLocation

    def location_of(self, finding: Finding) -> SourceLocation | None:
        """The location; None for what belongs to no agent."""
        return self.location if finding.agent else None


CONTEXT = ReportContext(
    stack="prod",
    observed_at="2026-11-21T12:00:00Z",
    locations=OfAgents(SourceLocation("agents/support-rag.yaml", 14, 10)),
    histories={
        finding_key(SIDECAR): FindingHistory(
            SIDECAR,
            first_seen="2026-11-19T12:00:00Z",
            since="2026-11-19T12:00:00Z",
            last_seen="2026-11-21T12:00:00Z",
            count=3,
            age_seconds=172_800,
        )
    },
)

ATTACKS = (
    "<script>alert(1)</script>",
    "</code></td></tr></table><img src=x onerror=alert(1)>",
    "a | b\n| forged | row | here |",
    "``` ` ]( [click](https://evil.example) ![x](https://evil.example/x.png)",
    "@everyone www.evil.example https://evil.example #1 GH-1",
    "::error file=x::forged\n::warning::forged",
    "]]><!-- --> &lt; \x1b[2J \x00 \u202e \u2028 \ufdd0",
    "{{ 7 * 7 }} {% include 'x' %}",
    "- item\n# heading\n<details open>",
)


def attack(text: str) -> DriftReport:
    """A report in which every text that a cluster can choose is the given one."""
    finding = Finding(
        ObjectRef(text, text, text, text),
        text,
        DriftClass.CHANGED,
        (text, ItemKey((("name", text),)), text),
        text,
        {text: [text]},
        Severity.CRITICAL,
        (text,),
        (Actor(text, text, text, text, text, EvidenceSource.AUDIT),),
    )
    whole = Finding(ObjectRef(text, text, text, text), text, DriftClass.UNMANAGED)
    return DriftReport((finding, whole), (NotChecked(text, text),), 1)
