from typing import Any

import pytest
from holdfast.drift.finding import DriftClass, Severity
from holdfast.drift.probes.outcome import Subject
from holdfast.drift.probes.pods import FINGERPRINT_ANNOTATION, probe_fingerprint, probe_images
from holdfast.kube.objects import ObjectRef
from holdfast.kube.paths import format_path

SUBJECT = Subject("support-rag", ObjectRef("cx", "Deployment", "support-rag", "apps/v1"))
WANTED, OTHER = (f"sha256:{digit * 64}" for digit in "ab")
DECLARED = {"containers": [{"name": "agent", "image": f"registry.example/rag@{WANTED}"}]}


def pod(image_id: str | None, **annotations: str) -> dict[str, Any]:
    statuses = [{"name": "agent", "imageID": image_id}] if image_id is not None else []
    return {
        "metadata": {"name": "rag-1", "annotations": annotations},
        "status": {"containerStatuses": statuses},
    }


@pytest.mark.parametrize(
    "resolved",
    [
        pytest.param(f"registry.example/rag@{WANTED}", id="as declared"),
        pytest.param(f"mirror.example/rag@{WANTED}", id="the same from a mirror"),
        pytest.param(f"docker-pullable://registry.example/rag@{WANTED}", id="an old runtime"),
    ],
)
def test_the_declared_digest_is_in_sync_wherever_it_came_from(resolved: str) -> None:
    outcome = probe_images(SUBJECT, DECLARED, [pod(resolved)])
    assert (outcome.findings, outcome.not_checked, outcome.asked) == ((), (), 1)


def test_another_digest_on_a_node_is_critical() -> None:
    (finding,) = probe_images(SUBJECT, DECLARED, [pod(f"registry.example/rag@{OTHER}")]).findings
    assert finding.drift_class is DriftClass.CHANGED
    assert finding.severity is Severity.CRITICAL
    assert format_path(finding.path) == "probes.image[pod=rag-1][container=agent]"
    assert (finding.desired, finding.live) == (WANTED, OTHER)
    assert (finding.agent, finding.ref) == ("support-rag", SUBJECT.workload)


@pytest.mark.parametrize(
    ("resolved", "reason"),
    [
        pytest.param(None, "it has not started yet", id="no status"),
        pytest.param("", "it has not started yet", id="pending"),
        pytest.param(OTHER, "the node names no repository digest", id="an id of the node's own"),
    ],
)
def test_what_a_node_does_not_say_is_not_checked(resolved: str | None, reason: str) -> None:
    outcome = probe_images(SUBJECT, DECLARED, [pod(resolved)])
    assert outcome.findings == ()
    (unknown,) = outcome.not_checked
    assert unknown.reason == reason
    assert unknown.scope == ("image of container agent in pod rag-1 of Deployment cx/support-rag")


def test_no_pods_are_no_drift() -> None:
    assert probe_images(SUBJECT, DECLARED, []).not_checked == ()


@pytest.mark.parametrize(
    ("published", "findings", "unknown"),
    [(WANTED, 0, 0), (OTHER, 1, 0), (None, 0, 1)],
)
def test_the_fingerprint_that_a_pod_publishes_is_compared(
    published: str | None, findings: int, unknown: int
) -> None:
    annotations = {FINGERPRINT_ANNOTATION: published} if published else {}
    outcome = probe_fingerprint(SUBJECT, WANTED, [pod("", **annotations)])
    assert (len(outcome.findings), len(outcome.not_checked)) == (findings, unknown)
