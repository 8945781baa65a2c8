"""One agent on two stacks: what differs is bound at deploy, and a change rolls one of them."""

import json
from typing import Any

import pytest

from tests.e2e.config_maps import config_map
from tests.e2e.fleet_project import FleetProject
from tests.e2e.live_sandbox import Kubectl, LiveSandbox

pytestmark = pytest.mark.e2e

IMAGE = "registry.example/any@sha256:" + "3" * 64
MANIFESTS = f"""\
apiVersion: holdfast.dev/v1alpha1
kind: Agent
metadata: {{name: bound}}
spec:
  version: 1.0.0
  owner: sre
  image: {IMAGE}
  tools:
    - http: {{url: "http://orders.base.svc:8080"}}
"""
HASH = "holdfast.dev/config-hash"


def bind(project: FleetProject, stack: str, url: str) -> None:
    """Give a stack its own namespace and its own address of the one tool."""
    config = {
        "holdfast:cluster": {"context": project.sandbox.context, "identifier": stack},
        "holdfast:namespace": f"bound-{stack}",
        "holdfast:agents": {"bound": {"tools": [{"http": {"url": url}}]}},
    }
    file = project.root / "stacks" / f"Pulumi.{stack}.yaml"
    file.write_text(json.dumps({"config": config}))


def running(kubectl: Kubectl, stack: str) -> dict[str, Any]:
    """What a stack runs: address told to the agent, hash on its pods, generation."""
    namespace = f"bound-{stack}"
    told = config_map(kubectl, "bound", namespace)["data"]["agent.json"]
    workload = kubectl.get("deployment/bound", "-n", namespace)
    return {
        "url": json.loads(told)["tools"][0]["url"],
        "hash": workload["spec"]["template"]["metadata"]["annotations"][HASH],
        "generation": workload["metadata"]["generation"],
    }


def test_a_changed_address_rolls_the_stack_that_it_is_of_and_no_other(
    sandbox: LiveSandbox, kubectl: Kubectl, tmp_path_factory: pytest.TempPathFactory
) -> None:
    project = FleetProject.write(tmp_path_factory.mktemp("bound"), sandbox, MANIFESTS, {})
    for stack in ("dev", "prod"):
        bind(project, stack, f"http://orders.{stack}.svc:8080")
        assert project.stack(stack).init_if_absent()
        project.stack(stack).up()
    before = {stack: running(kubectl, stack) for stack in ("dev", "prod")}
    assert {each["url"] for each in before.values()} == {
        "http://orders.dev.svc:8080",
        "http://orders.prod.svc:8080",
    }
    assert before["dev"]["hash"] != before["prod"]["hash"]

    bind(project, "dev", "http://orders-v2.dev.svc:8080")
    assert not project.stack("prod").preview().steps
    project.stack("dev").up()
    after = {stack: running(kubectl, stack) for stack in ("dev", "prod")}
    assert after["prod"] == before["prod"]
    assert after["dev"]["url"] == "http://orders-v2.dev.svc:8080"
    assert after["dev"]["hash"] != before["dev"]["hash"]
    assert after["dev"]["generation"] > before["dev"]["generation"]
