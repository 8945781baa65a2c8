"""Outputs of other resources as arguments of components, on the real engine and API server."""

import json
from pathlib import Path
from typing import Any

import pytest
from holdfast.adapters.engine.failures.failures import RunFailedError

from tests.component_samples import IMAGE
from tests.e2e.live_sandbox import Kubectl, LiveSandbox
from tests.e2e.package_programs import PackageProgram

pytestmark = pytest.mark.e2e


@pytest.fixture
def program(tmp_path: Path, sandbox: LiveSandbox) -> PackageProgram:
    return PackageProgram(tmp_path / "program", sandbox.kubeconfig())


def test_a_program_with_outputs_in_twelve_places_deploys_and_is_clean_afterwards(
    program: PackageProgram, namespace: str, kubectl: Kubectl
) -> None:
    place = f"{namespace}-outputs"
    stack = program.copy_of_example("outputs", place)
    planned = stack.preview()
    assert planned.steps
    stack.up()
    assert stack.outputs()["url"] == f"http://support.{place}.svc:8080"
    deployment = kubectl.get("deployment/support", "-n", place)
    assert deployment["status"]["readyReplicas"] == 1
    assert deployment["metadata"]["labels"]["holdfast.dev/owner"] == "customer-care"
    assert deployment["metadata"]["labels"]["example.com/region"] == "north"
    pod = deployment["spec"]["template"]["spec"]
    [container] = [each for each in pod["containers"] if each["name"] == "agent"]
    assert container["image"].startswith("registry.example/agents/support@sha256:2b9f")
    names = {
        kind: kubectl.get(kind, "-n", place)["items"]
        for kind in ("configmaps", "secrets", "serviceaccounts", "persistentvolumeclaims")
    }
    made = {
        (kind, each["metadata"]["name"].rsplit("-", 1)[0]): each["metadata"]
        for kind, items in names.items()
        for each in items
    }
    variables = {each["name"]: each for each in container["env"]}
    assert variables["REGION"]["value"] == "north-1"
    assert variables["RELEASE"]["value"] == f"{place}/{made['configmaps', 'release']['name']}"
    reference = variables["TOKEN"]["valueFrom"]["secretKeyRef"]
    assert reference["name"] == made["secrets", "credentials"]["name"]
    [source] = container["envFrom"]
    assert source["configMapRef"]["name"] == made["configmaps", "settings"]["name"]
    assert pod["serviceAccountName"] == made["serviceaccounts", "account"]["name"]
    assert pod["priorityClassName"].startswith("urgent-")
    claims = [
        each["persistentVolumeClaim"] for each in pod["volumes"] if "persistentVolumeClaim" in each
    ]
    assert claims == [{"claimName": made["persistentvolumeclaims", "memory"]["name"]}]
    policy = kubectl.get("networkpolicy/support", "-n", place)["spec"]
    assert "models" in json.dumps(policy["egress"])
    assert "late-" not in json.dumps([deployment, policy])
    again = stack.up()
    assert set(again.counts) <= {"same"}
    assert not stack.preview().steps


def agent(**more: Any) -> dict[str, Any]:
    return {"namespace": "${place.metadata.name}", "version": "1.0.0", "image": IMAGE} | more


def yaml_program(program: PackageProgram, namespace: str, args: dict[str, Any]) -> Any:
    """A YAML program with a namespace, a ConfigMap of values and an agent."""
    stack = program.declare_yaml({})
    project = program.root / "Pulumi.yaml"
    resources = {
        "place": {
            "type": "kubernetes:core/v1:Namespace",
            "properties": {"metadata": {"name": namespace}},
        },
        "values": {
            "type": "kubernetes:core/v1:ConfigMap",
            "properties": {
                "metadata": {"namespace": "${place.metadata.name}"},
                "data": {"team": "blue", "bad": "Not-A-Name", "count": "2"},
            },
        },
        "other": {"type": "holdfast:index:Agent", "properties": args},
    }
    lines = [line for line in project.read_text().splitlines() if not line.startswith("resources")]
    lines.append(f"resources: {json.dumps(resources)}")
    project.write_text("\n".join(lines) + "\n")
    return stack


def test_a_yaml_program_passes_what_other_resources_give(
    program: PackageProgram, namespace: str, kubectl: Kubectl
) -> None:
    place = f"{namespace}-yaml"
    labels = {"team": "${values.data.team}"}
    variable = {"name": "VALUES", "value": "${values.id}"}
    args = agent(labels=labels, container={"env": [variable]})
    stack = yaml_program(program, place, args)
    stack.preview()
    stack.up()
    deployment = kubectl.get("deployment/other", "-n", place)
    assert deployment["metadata"]["labels"]["team"] == "blue"
    [container] = deployment["spec"]["template"]["spec"]["containers"]
    [variable] = [each for each in container["env"] if each["name"] == "VALUES"]
    assert variable["value"].startswith(f"{place}/values-")
    assert not stack.preview().steps


def text_of(error: RunFailedError) -> str:
    return str(error) + "".join(each.message for each in error.result.errors)


def test_an_output_with_an_invalid_value_is_refused_by_field(
    program: PackageProgram, namespace: str
) -> None:
    stack = yaml_program(program, f"{namespace}-bad", agent(namespace="${values.data.bad}"))
    with pytest.raises(RunFailedError) as failed:
        stack.up()
    text = text_of(failed.value)
    assert "namespace" in text
    assert "RFC 1123" in text or "label" in text
    assert "Traceback" not in text


def test_an_output_that_decides_the_shape_is_refused_with_the_reason(
    program: PackageProgram, namespace: str
) -> None:
    volume = {"name": "${values.data.team}", "size": "1Gi", "mountPath": "/d"}
    args = agent(storage={"volumes": [volume]})
    stack = yaml_program(program, f"{namespace}-shape", args)
    with pytest.raises(RunFailedError) as failed:
        stack.preview()
    assert "name" in text_of(failed.value)
