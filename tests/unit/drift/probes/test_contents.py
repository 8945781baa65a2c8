"""Whether pods run with what they mount: told without a value, with whoever wrote it."""

from typing import Any

import pytest
from holdfast.drift.finding import Actor, DriftClass, Finding, Severity
from holdfast.drift.probes.outcome import Subject
from holdfast.drift.probes.pods import LastWrite, probe_contents
from holdfast.kube.objects import ObjectRef
from holdfast.kube.paths import format_path

SUBJECT = Subject("support", ObjectRef("cx", "Deployment", "support", "apps/v1"))
DEPLOYED = "2026-11-21T10:00:00Z"


def workload(digest: str, field: str = "template") -> dict[str, Any]:
    owned = {
        "manager": "holdfast",
        "operation": "Apply",
        "time": DEPLOYED,
        "fieldsV1": {"f:spec": {}},
    }
    marks = {"holdfast.dev/mounted-hash": digest} if digest else {}
    return {
        "metadata": {"managedFields": [owned]},
        "spec": {field: {"metadata": {"annotations": marks}}},
    }


def secret(time: str = "", manager: str = "kubectl-edit", name: str = "Secret key") -> LastWrite:
    return LastWrite(name, Actor(manager, "Update", time=time) if time else None)


def found(now: str, *contents: LastWrite, before: str = "old") -> Finding:
    (finding,) = probe_contents(SUBJECT, workload(before), now, contents).findings
    return finding


@pytest.mark.parametrize("field", ["template", "podTemplate"])
def test_the_same_digest_is_as_declared(field: str) -> None:
    outcome = probe_contents(SUBJECT, workload("same", field), "same", [secret()])
    assert (outcome.findings, outcome.asked) == ((), 1)


def test_who_wrote_since_the_pods_were_rolled_is_named() -> None:
    earlier = secret("2026-11-21T09:00:00Z", name="Secret other")
    finding = found("new", secret("2026-11-21T11:00:00Z"), earlier)
    assert (format_path(finding.path), finding.severity) == ("probes.mounted", Severity.HIGH)
    assert finding.live == "written since: Secret key"
    assert [actor.manager for actor in finding.actors] == ["kubectl-edit"]


@pytest.mark.parametrize(
    ("contents", "text", "severity"),
    [
        pytest.param(
            [secret(), secret(name="ConfigMap rules")],
            "changed since, one of: Secret key, ConfigMap rules",
            Severity.HIGH,
            id="nobody knows which",
        ),
        pytest.param([], "changed since: all of it is gone", Severity.HIGH, id="deleted"),
        pytest.param(
            [secret("2026-11-21T11:00:00Z", "external-secrets")],
            "written since: Secret key",
            Severity.INFO,
            id="rotated",
        ),
        pytest.param(
            [secret("2026-11-21T11:00:00Z", name="ConfigMap rules")],
            "written since: ConfigMap rules",
            Severity.MEDIUM,
            id="no secret",
        ),
    ],
)
def test_how_bad_it_is(contents: list[LastWrite], text: str, severity: Severity) -> None:
    finding = found("new" if contents else "", *contents)
    assert (finding.live, finding.severity) == (text, severity)
    assert finding.drift_class is DriftClass.CHANGED


def test_what_was_made_after_the_pods_is_a_remark() -> None:
    finding = found("new", secret(), before="")
    assert (finding.drift_class, finding.severity) == (DriftClass.ADDED, Severity.INFO)
