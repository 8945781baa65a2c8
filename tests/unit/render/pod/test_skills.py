"""Skills come from where they were pinned; an agent waits for what it depends on."""

from typing import Any

import pytest
from holdfast.errors import RenderError
from holdfast.kube.objects import KubeObject
from holdfast.manifest.agent.agent import Agent
from holdfast.manifest.stack.environment import Environment
from holdfast.render.plan.metadata import Provenance
from holdfast.render.plan.plan import AgentPlan, metadata_of
from holdfast.render.plan.render_agent import render_agent
from holdfast.render.plan.render_context import RenderContext

from tests.unit.render.connected_agent import only
from tests.unit.render.plan.test_models import EGRESS, settings

DIGEST = "a" * 64
TOOLS = f"registry.example/tools@sha256:{DIGEST}"
RUNTIME = f"registry.example/runtime@sha256:{DIGEST}"
OCI = f"registry.example/skills@sha256:{DIGEST}"
SKILLS = [
    {"name": "triage", "oci": OCI, "path": "skills/triage"},
    {"name": "review", "git": {"url": "https://git.example/skills", "commit": "b" * 40}},
    {
        "name": "report",
        "path": "report",
        "bucket": {
            "url": "https://bucket.example/skills.tar.gz?a=b",
            "versionId": "7",
            "sha256": f"sha256:{DIGEST}",
        },
    },
]


def rendered(spec: dict[str, Any], images: dict[str, str] | None = None) -> Any:
    body = {"version": "2.1.0", **spec}
    if "runtime" not in spec:
        body["image"] = f"registry.example/agent@sha256:{DIGEST}"
    agent = Agent.model_validate(
        {
            "apiVersion": "holdfast.dev/v1alpha1",
            "kind": "Agent",
            "metadata": {"name": "support"},
            "spec": body,
        }
    )
    images = {"tools": TOOLS, "runtime": RUNTIME} if images is None else images
    environment = Environment.model_validate({"network": EGRESS, "images": images})
    context = RenderContext(environment, ports={("cx", "helper"): 9000})
    meta = metadata_of(agent.metadata, agent.spec, "cx", Provenance("dev"))
    return render_agent(AgentPlan(meta, agent.spec, context))


def pod(objects: Any) -> KubeObject:
    found: KubeObject = only(objects, "Deployment")["spec"]["template"]["spec"]
    return found


def variables(container: KubeObject) -> dict[str, str]:
    return {entry["name"]: entry.get("value", "") for entry in container["env"]}


def test_a_skill_from_an_image_is_an_image_volume() -> None:
    spec = pod(rendered({"skills": SKILLS[:1]}))
    (volume,) = [each for each in spec["volumes"] if each["name"] == "skill-triage"]
    assert volume["image"] == {"reference": OCI, "pullPolicy": "IfNotPresent"}
    assert {
        "name": "skill-triage",
        "mountPath": "/etc/holdfast/skills/triage",
        "subPath": "skills/triage",
        "readOnly": True,
    } in spec["containers"][0]["volumeMounts"]
    assert "initContainers" not in spec


def test_skills_from_elsewhere_are_fetched_and_checked_before_the_agent_starts() -> None:
    spec = pod(rendered({"skills": SKILLS}))
    review, report = spec["initContainers"]
    assert (review["name"], review["image"]) == ("skill-review", TOOLS)
    assert variables(review)["SKILL_COMMIT"] == "b" * 40
    assert "rev-parse HEAD" in review["command"][2]
    assert variables(report)["SKILL_SHA256"] == DIGEST
    assert variables(report)["SKILL_URL"] == "https://bucket.example/skills.tar.gz?a=b&versionId=7"
    assert "sha256sum -c" in report["command"][2]
    assert variables(report)["HTTPS_PROXY"] == EGRESS["egressGateway"]["url"]
    mounts = {mount["mountPath"]: mount for mount in spec["containers"][0]["volumeMounts"]}
    assert mounts["/etc/holdfast/skills/report"]["subPath"] == "report/report"
    assert mounts["/etc/holdfast/skills/review"]["subPath"] == "review"
    (folder,) = [each for each in spec["volumes"] if each["name"] == "skills"]
    assert folder["emptyDir"] == {"sizeLimit": "256Mi"}


def test_the_agent_is_reported_its_skills() -> None:
    told = settings(rendered({"skills": SKILLS[:1]}))["skills"]
    assert told == [{"name": "triage", "folder": "/etc/holdfast/skills/triage"}]


def test_an_agent_waits_until_what_it_needs_listens() -> None:
    spec = pod(rendered({"dependsOn": ["helper"], "skills": SKILLS[1:2]}))
    wait, fetch = spec["initContainers"]
    assert (wait["name"], fetch["name"]) == ("wait", "skill-review")
    assert variables(wait)["WAIT_URLS"] == "http://helper.cx.svc:9000"
    assert wait["securityContext"]["allowPrivilegeEscalation"] is False


def test_an_agent_that_does_not_wait_is_still_reported_where_to_go() -> None:
    spec = pod(rendered({"dependsOn": [{"name": "helper", "wait": False}]}, images={}))
    assert "initContainers" not in spec
    assert variables(spec["containers"][0])["HELPER_URL"] == "http://helper.cx.svc:9000"


def test_a_managed_agent_runs_the_stacks_runtime() -> None:
    model = {"provider": "OpenAI", "name": "b"}
    declared = {"runtime": "managed", "model": model, "prompt": {"systemMessage": "Be kind."}}
    objects = rendered(declared)
    assert pod(objects)["containers"][0]["image"] == RUNTIME
    assert settings(objects)["model"]["name"] == "b"
    with pytest.raises(RenderError, match=r"holdfast:images\.runtime"):
        rendered(declared, images={})


@pytest.mark.parametrize(
    "spec",
    [
        pytest.param({"dependsOn": ["helper"]}, id="waiting"),
        pytest.param({"skills": SKILLS[1:2]}, id="fetched skill"),
    ],
)
def test_what_needs_the_tool_image_is_refused_without_one(spec: dict[str, Any]) -> None:
    with pytest.raises(RenderError, match=r"holdfast:images\.tools"):
        rendered(spec, images={})
