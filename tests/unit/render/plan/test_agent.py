"""An agent as objects: which there are, what marks them, its model, tools, secrets and rights."""

import json
from typing import Any

import pytest
from holdfast.errors import RenderError
from holdfast.kube.objects import canonical_json
from holdfast.manifest.types.marks import REVISION

from tests.unit.render.connected_agent import (
    container,
    env,
    only,
    render,
)


def test_the_smallest_agent_is_six_objects_in_order_of_deployment() -> None:
    assert [item.role for item in render({})] == [
        "serviceaccount",
        "config",
        "service",
        "networkpolicy-during-update",
        "deployment",
        "networkpolicy",
    ]


def test_every_object_carries_its_origin_its_owner_and_one_field_manager() -> None:
    for item in render(
        {"storage": {"volumes": [{"name": "index", "size": "1Gi", "mountPath": "/data"}]}}
    ):
        metadata = item.manifest["metadata"]
        assert metadata["labels"]["holdfast.dev/agent"] == "support"
        assert metadata["labels"]["holdfast.dev/owner"] == "care"
        assert metadata["labels"]["app.kubernetes.io/managed-by"] == "holdfast"
        assert metadata["annotations"]["holdfast.dev/source"] == "agents/support.yaml"
        assert metadata["annotations"]["holdfast.dev/stack"] == "dev"
        assert metadata["annotations"]["pulumi.com/patchFieldManager"] == "holdfast"
        assert len(metadata["annotations"][REVISION]) == 16


def test_a_changed_field_changes_only_the_revisions_of_the_objects_it_is_rendered_in() -> None:
    before = {item.role: item.manifest for item in render({})}
    after = {
        item.role: item.manifest
        for item in render({"scaling": {"replicas": 1}, "container": {"args": ["x"]}})
    }
    changed = {role for role in before if before[role] != after[role]}
    assert changed == {"deployment"}
    assert (
        before["deployment"]["metadata"]["annotations"][REVISION]
        != after["deployment"]["metadata"]["annotations"][REVISION]
    )


def test_governance_stands_on_every_object_and_on_no_pod() -> None:
    governance = {
        "autonomy": "supervised",
        "approver": "sre",
        "dataClass": "personal",
        "dataRetention": "1y",
        "toolAudit": "traces",
        "logs": {"retention": "30d", "redaction": "personal-data"},
        "costCenter": "care",
    }
    storage = [{"name": "index", "size": "1Gi", "mountPath": "/data"}]
    plain = {item.role: item.manifest for item in render({"storage": {"volumes": storage}})}
    rendered = render({"storage": {"volumes": storage}, "governance": governance})
    for item in rendered:
        metadata = item.manifest["metadata"]
        assert metadata["labels"]["holdfast.dev/cost-center"] == "care"
        assert {
            "holdfast.dev/autonomy": "supervised",
            "holdfast.dev/approver": "sre",
            "holdfast.dev/data-class": "personal",
            "holdfast.dev/data-retention": "1y",
            "holdfast.dev/tool-audit": "traces",
            "holdfast.dev/log-retention": "30d",
            "holdfast.dev/log-redaction": "personal-data",
        }.items() <= metadata["annotations"].items()
        kept = {key: value for key, value in item.manifest.items() if key != "metadata"}
        assert kept == {key: plain[item.role][key] for key in kept}, "an edit of it rolls nothing"
        assert metadata["name"] == plain[item.role]["metadata"]["name"]


def test_the_selector_holds_nothing_that_changes() -> None:
    rendered = render({}, labels={"tier": "gold"})
    selector = {"app.kubernetes.io/name": "support", "app.kubernetes.io/instance": "dev"}
    assert only(rendered, "Deployment")["spec"]["selector"]["matchLabels"] == selector
    assert only(rendered, "Service")["spec"]["selector"] == selector
    assert only(rendered, "Deployment")["metadata"]["labels"]["tier"] == "gold"


def test_a_shared_model_brings_its_address_its_key_as_a_file_and_its_egress() -> None:
    rendered = render({"model": {"ref": "gpt", "timeout": "1500ms"}})
    variables = env(rendered)
    assert variables["MODEL_PROVIDER"] == "OpenAI"
    assert variables["MODEL_BASE_URL"] == "https://api.openai.com/v1"
    assert variables["MODEL_TIMEOUT_SECONDS"] == "2"
    assert variables["MODEL_API_KEY_FILE"] == "/var/run/secrets/holdfast/model/token"
    settings = json.loads(
        next(item.manifest["data"]["agent.json"] for item in rendered if item.role == "config")
    )
    assert settings["model"]["name"] == "gpt-5"
    assert settings["model"]["timeoutMilliseconds"] == 1500


def test_tools_of_a_declared_server_are_reported_to_the_agent_and_let_out() -> None:
    tool = {"mcp": {"serverRef": "crm", "toolNames": ["find_order"], "timeout": "90s"}}
    rendered = render({"tools": [tool]})
    settings = json.loads(
        next(item.manifest["data"]["agent.json"] for item in rendered if item.role == "config")
    )
    assert settings["tools"] == [
        {
            "type": "mcp",
            "server": "crm",
            "url": "http://crm-tools.tools.svc:8000/mcp",
            "transport": "streamable-http",
            "toolNames": ["find_order"],
            "requireApproval": [],
            "allowedHeaders": [],
            "timeoutMilliseconds": 90_000,
        }
    ]
    ports = [rule["ports"][0]["port"] for rule in only(rendered, "NetworkPolicy")["spec"]["egress"]]
    assert 8000 in ports
    pod = only(rendered, "Deployment")["spec"]["template"]["spec"]
    assert pod["terminationGracePeriodSeconds"] == 95


def test_a_changed_prompt_is_another_immutable_object_and_rolls_the_pods() -> None:
    first = render({"prompt": {"systemMessage": "be kind, {{ literally }} $(HOME)"}})
    second = render({"prompt": {"systemMessage": "be brief"}})
    prompts = [next(i.manifest for i in each if i.role == "prompt") for each in (first, second)]
    assert prompts[0]["data"] == {"system.md": "be kind, {{ literally }} $(HOME)"}
    assert prompts[0]["immutable"] is True
    assert prompts[0]["metadata"]["name"] != prompts[1]["metadata"]["name"]
    hashes = [
        only(each, "Deployment")["spec"]["template"]["metadata"]["annotations"]
        for each in (first, second)
    ]
    assert hashes[0] != hashes[1]


def test_secrets_come_by_reference_only() -> None:
    rendered = render(
        {
            "secrets": [
                {"name": "llm-key", "ref": "llm", "key": "token", "env": "LLM_KEY"},
                {"name": "tls", "ref": "mesh", "mountPath": "/etc/tls"},
            ]
        }
    )
    entry = next(each for each in container(rendered)["env"] if each["name"] == "LLM_KEY")
    assert entry == {
        "name": "LLM_KEY",
        "valueFrom": {"secretKeyRef": {"name": "llm", "key": "token"}},
    }
    volumes = only(rendered, "Deployment")["spec"]["template"]["spec"]["volumes"]
    assert {"name": "secret-tls", "secret": {"secretName": "mesh"}} in volumes


def test_rights_are_a_role_bound_to_the_agents_own_account() -> None:
    rules = [{"apiGroups": [""], "resources": ["pods", "pods/log"], "verbs": ["get", "list"]}]
    rendered = render({"pod": {"security": {"rbac": [{"rules": rules}], "automountToken": True}}})
    assert only(rendered, "Role")["rules"] == rules
    binding = only(rendered, "RoleBinding")
    assert binding["subjects"] == [{"kind": "ServiceAccount", "name": "support", "namespace": "cx"}]


def test_rights_in_other_namespaces_are_roles_there_bound_to_the_same_account() -> None:
    rules = [{"apiGroups": [""], "resources": ["pods"], "verbs": ["get"]}]
    grants = [{"namespaces": ["ops", "cx"], "rules": rules}, {"rules": rules}]
    rendered = render({"pod": {"security": {"rbac": grants}}})
    roles = {
        (one["metadata"]["namespace"], one["metadata"]["name"]): one["rules"]
        for item in rendered
        if (one := item.manifest)["kind"] == "Role"
    }
    assert roles == {("cx", "support"): rules + rules, ("ops", "cx.support"): rules}
    bound = {
        one["metadata"]["namespace"]: (one["roleRef"]["name"], one["subjects"][0]["namespace"])
        for item in rendered
        if (one := item.manifest)["kind"] == "RoleBinding"
    }
    assert bound == {"cx": ("support", "cx"), "ops": ("cx.support", "cx")}


@pytest.mark.parametrize(
    ("spec", "says"),
    [
        pytest.param({"model": {"ref": "absent"}}, "ModelConfig cx/absent", id="model"),
        pytest.param(
            {"tools": [{"mcp": {"serverRef": "absent", "toolNames": ["x"]}}]},
            "MCPServer cx/absent",
            id="server",
        ),
    ],
)
def test_refuses_what_is_not_declared(spec: dict[str, Any], says: str) -> None:
    with pytest.raises(RenderError, match=says):
        render(spec)


def test_equal_manifests_render_to_equal_bytes_whatever_the_order_of_their_lists() -> None:
    forward = render(
        {"container": {"env": [{"name": "A", "value": "1"}, {"name": "B", "value": "2"}]}}
    )
    backward = render(
        {"container": {"env": [{"name": "B", "value": "2"}, {"name": "A", "value": "1"}]}}
    )
    assert [canonical_json(item.manifest) for item in forward] == [
        canonical_json(item.manifest) for item in backward
    ]
