"""The components in a program of another team, on the real engine and a real API server."""

from pathlib import Path
from typing import Any

import pytest
from holdfast.adapters.engine.failures.failures import RunFailedError

from tests.e2e.component_program import ComponentProgram
from tests.e2e.live_sandbox import Kubectl, LiveSandbox

pytestmark = pytest.mark.e2e

IMAGE = f"registry.example/other@sha256:{'3' * 64}"
STORAGE = [{"name": "data", "size": "1Gi", "mount_path": "/data"}]


@pytest.fixture
def program(tmp_path: Path, sandbox: LiveSandbox) -> ComponentProgram:
    written = ComponentProgram(tmp_path / "program", sandbox.context, sandbox.kubeconfig())
    written.create()
    return written


def place(namespace: str) -> dict[str, Any]:
    return {"name": "other", "namespace": namespace, "version": "1.0.0"}


def test_each_part_works_alone(program: ComponentProgram, namespace: str, kubectl: Kubectl) -> None:
    agent = place(namespace)
    rules = [{"resources": ["configmaps"], "verbs": ["get"]}]
    rights = {"rbac": [{"rules": rules}]}
    stack = program.declare(
        ("AgentStorage", "other-storage", {"agent": agent, "storage": {"volumes": STORAGE}}),
        (
            "AgentIdentity",
            "other-identity",
            {"agent": agent, "pod": {"security": rights}},
        ),
        ("AgentNetwork", "other-network", {"agent": agent, "network": {"ingress_from": ["peer"]}}),
        ("AgentScaling", "other-scaling", {"agent": agent, "scaling": {"replicas": 2}}),
    )
    stack.up()
    assert kubectl.get("pvc/other-data", "-n", namespace)["status"]["phase"] == "Bound"
    assert kubectl.get("role/other", "-n", namespace)["rules"][0]["resources"] == ["configmaps"]
    policy = kubectl.get("networkpolicy/other", "-n", namespace)["spec"]
    assert policy["policyTypes"] == ["Ingress", "Egress"]
    assert kubectl.get("pdb/other", "-n", namespace)["spec"]["maxUnavailable"] == 1
    assert not stack.refresh_preview().has_drift
    assert not stack.preview().steps


def test_an_agent_takes_over_the_claim_that_a_program_has_used_alone(
    program: ComponentProgram, namespace: str, kubectl: Kubectl
) -> None:
    alone = (
        "AgentStorage",
        "other-storage",
        {"agent": place(namespace), "storage": {"volumes": STORAGE}},
    )
    program.declare(alone).up()
    before = kubectl.get("pvc/other-data", "-n", namespace)["metadata"]["uid"]

    whole = {
        "namespace": namespace,
        "version": "1.0.0",
        "image": IMAGE,
        "storage": {"volumes": STORAGE},
    }
    result = program.declare(("Agent", "other", whole)).up()

    assert kubectl.get("pvc/other-data", "-n", namespace)["metadata"]["uid"] == before
    assert "delete" not in result.counts
    assert "replace" not in result.counts
    assert kubectl.get("deployment/other", "-n", namespace)["status"]["readyReplicas"] == 1


def test_a_claim_is_not_replaced_or_deleted_by_accident(
    program: ComponentProgram, namespace: str, kubectl: Kubectl
) -> None:
    agent = place(namespace)
    program.declare(
        ("AgentStorage", "other-storage", {"agent": agent, "storage": {"volumes": STORAGE}})
    ).up()
    moved = [STORAGE[0] | {"storage_class_name": "sandbox-late"}]
    with pytest.raises(RunFailedError, match="protect"):
        program.declare(
            ("AgentStorage", "other-storage", {"agent": agent, "storage": {"volumes": moved}})
        ).preview()
    with pytest.raises(RunFailedError, match="protect"):
        program.declare().up()
    assert kubectl.get("pvc/other-data", "-n", namespace)["status"]["phase"] == "Bound"


def test_faulty_arguments_end_the_preview_with_the_fields_named(
    program: ComponentProgram, namespace: str
) -> None:
    faulty = {"namespace": namespace, "version": "1.0", "image": "Other:latest"}
    with pytest.raises(RunFailedError) as failed:
        program.declare(("Agent", "other", faulty)).preview()
    text = "\n".join(each.message for each in failed.value.result.errors)
    assert "version" in text
    assert "image" in text
