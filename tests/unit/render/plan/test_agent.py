"""An agent as objects: what each field becomes, and what is safe without being asked."""

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


def test_pods_meet_the_restricted_standard_without_being_asked() -> None:
    rendered = render({})
    pod = only(rendered, "Deployment")["spec"]["template"]["spec"]
    assert pod["automountServiceAccountToken"] is False
    assert pod["serviceAccountName"] == "support"
    assert pod["securityContext"] == {
        "fsGroup": 65532,
        "fsGroupChangePolicy": "OnRootMismatch",
        "runAsNonRoot": True,
        "seccompProfile": {"type": "RuntimeDefault"},
    }
    assert container(rendered)["securityContext"] == {
        "allowPrivilegeEscalation": False,
        "capabilities": {"drop": ["ALL"]},
        "privileged": False,
        "readOnlyRootFilesystem": True,
        "runAsNonRoot": True,
        "seccompProfile": {"type": "RuntimeDefault"},
    }
    assert {"name": "tmp", "emptyDir": {"sizeLimit": "64Mi"}} in pod["volumes"]
    assert only(rendered, "ServiceAccount")["automountServiceAccountToken"] is False


def test_every_container_that_fails_leaves_its_last_words() -> None:
    sidecar = {"name": "proxy", "image": "registry.example/proxy@sha256:" + "4" * 64}
    pod = only(render({"pod": {"sidecars": [sidecar]}}), "Deployment")["spec"]["template"]["spec"]
    assert [each["name"] for each in pod["containers"]] == ["agent", "proxy"]
    for each in pod["containers"]:
        assert each["terminationMessagePolicy"] == "FallbackToLogsOnError"


def test_requests_and_limits_have_defaults_that_a_manifest_overrides_one_by_one() -> None:
    resources = container(render({"container": {"resources": {"limits": {"memory": "2Gi"}}}}))[
        "resources"
    ]
    assert resources["requests"] == {"cpu": "100m", "memory": "256Mi", "ephemeral-storage": "64Mi"}
    assert resources["limits"] == {"cpu": "1", "memory": "2Gi", "ephemeral-storage": "1Gi"}


def test_an_extended_resource_is_requested_as_it_is_limited() -> None:
    resources = container(
        render(
            {
                "container": {
                    "resources": {
                        "limits": {"nvidia.com/gpu": "1"},
                        "requests": {"nvidia.com/gpu": "1"},
                    }
                }
            }
        )
    )
    assert resources["resources"]["requests"]["nvidia.com/gpu"] == "1"


def test_an_autoscaler_owns_the_replicas() -> None:
    rendered = render(
        {
            "scaling": {
                "minReplicas": 2,
                "maxReplicas": 12,
                "metrics": [
                    {"type": "Pods", "name": "inflight", "target": 8},
                    {"type": "Resource", "name": "cpu", "target": 70},
                ],
            }
        }
    )
    assert "replicas" not in only(rendered, "Deployment")["spec"]
    autoscaler = only(rendered, "HorizontalPodAutoscaler")["spec"]
    assert (autoscaler["minReplicas"], autoscaler["maxReplicas"]) == (2, 12)
    pods, cpu = autoscaler["metrics"]
    assert pods["pods"]["target"] == {"type": "AverageValue", "averageValue": "8"}
    assert cpu["resource"]["target"] == {"type": "Utilization", "averageUtilization": 70}
    assert only(rendered, "PodDisruptionBudget")["spec"]["maxUnavailable"] == 1


def test_one_replica_has_no_disruption_budget_and_no_spread() -> None:
    rendered = render({})
    assert [item for item in rendered if item.role == "disruptionbudget"] == []
    assert (
        "topologySpreadConstraints" not in only(rendered, "Deployment")["spec"]["template"]["spec"]
    )


def test_several_replicas_spread_over_zones() -> None:
    pod = only(render({"scaling": {"replicas": 3}}), "Deployment")["spec"]["template"]["spec"]
    assert pod["topologySpreadConstraints"][0]["whenUnsatisfiable"] == "ScheduleAnyway"


def test_a_single_writer_claim_forces_recreate_and_is_protected() -> None:
    rendered = render(
        {"storage": {"volumes": [{"name": "index", "size": "20Gi", "mountPath": "/data"}]}}
    )
    claim = next(item for item in rendered if item.role == "claim-index")
    assert (claim.is_protected, claim.is_retained) == (True, True)
    assert claim.manifest["metadata"]["name"] == "support-index"
    assert claim.manifest["spec"]["resources"]["requests"]["storage"] == "20Gi"
    assert only(rendered, "Deployment")["spec"]["strategy"] == {"type": "Recreate"}


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


def test_a_question_that_is_off_is_never_asked() -> None:
    off = {"enabled": False}
    asked = container(render({"container": {"probes": {"liveness": off, "readiness": off}}}))
    assert not {"livenessProbe", "readinessProbe", "startupProbe"} & set(asked)
    kept = {"enabled": False, "httpGet": {"path": "/healthz"}}
    assert "livenessProbe" not in container(render({"container": {"probes": {"liveness": kept}}}))


def test_an_agent_is_ready_when_it_listens_and_shows_its_card_where_it_has_one() -> None:
    asked = container(render({"network": {"expose": {"port": 9000}}}))
    assert asked["readinessProbe"]["tcpSocket"] == {"port": 9000}
    assert asked["livenessProbe"]["tcpSocket"] == {"port": 9000}
    asked = container(render({"card": {"capabilities": {"streaming": True}}}))
    assert asked["readinessProbe"]["httpGet"]["path"] == "/.well-known/agent-card.json"
    asked = container(render({"card": {"enabled": False}}))
    assert asked["readinessProbe"]["tcpSocket"]


def test_null_says_no_more_than_absence() -> None:
    asked = container(render({"container": {"probes": {"liveness": None, "readiness": None}}}))
    assert asked == container(render({}))


def test_a_probe_pasted_from_a_deployment_is_rendered_as_it_is() -> None:
    pasted: dict[str, Any] = {
        "exec": {"command": ["pg_isready"]},
        "initialDelaySeconds": 3,
        "periodSeconds": 5,
        "timeoutSeconds": 2,
        "successThreshold": 1,
        "failureThreshold": 4,
    }
    named: dict[str, Any] = {"httpGet": {"path": "/", "port": "http", "scheme": "HTTP"}}
    named |= {key: value for key, value in pasted.items() if key != "exec"}
    asked = container(render({"container": {"probes": {"liveness": pasted, "readiness": named}}}))
    assert (asked["livenessProbe"], asked["readinessProbe"]) == (pasted, named)


def test_hooks_variables_and_pull_secrets_pasted_from_a_deployment_are_rendered_as_they_are() -> (
    None
):
    hook = {"httpGet": {"path": "/drain", "port": 8080, "scheme": "HTTP"}}
    sources = [{"secretRef": {"name": "a", "optional": True}}, {"configMapRef": {"name": "b"}}]
    rendered = render(
        {
            "container": {
                "lifecycle": {"preStop": hook},
                "envFrom": sources,
                "ports": [{"name": "grpc", "containerPort": 50051, "protocol": "TCP"}],
            },
            "pod": {"imagePullSecrets": [{"name": "registry"}]},
        }
    )
    agent = container(rendered)
    assert agent["lifecycle"]["preStop"] == hook
    assert agent["envFrom"] == sources
    assert {"name": "grpc", "containerPort": 50051, "protocol": "TCP"} in agent["ports"]
    assert only(rendered, "Deployment")["spec"]["template"]["spec"]["imagePullSecrets"] == [
        {"name": "registry"}
    ]


def test_the_temporary_folder_has_the_declared_size() -> None:
    deployment = only(render({"container": {"tmp": {"size": "512Mi"}}}), "Deployment")
    volumes = {each["name"]: each for each in deployment["spec"]["template"]["spec"]["volumes"]}
    assert volumes["tmp"]["emptyDir"] == {"sizeLimit": "512Mi"}


@pytest.mark.parametrize(
    ("written", "requests", "limits"),
    [
        pytest.param({"requests": {"memory": "2Gi"}}, "2Gi", "2Gi", id="above the default limit"),
        pytest.param({"requests": {"memory": "512Mi"}}, "512Mi", "1Gi", id="below it"),
        pytest.param({"limits": {"memory": "128Mi"}}, "128Mi", "128Mi", id="a small limit"),
        pytest.param({"limits": {"memory": "4Gi"}}, "256Mi", "4Gi", id="a large one"),
    ],
)
def test_a_default_amount_gives_way_to_a_declared_one(
    written: dict[str, Any], requests: str, limits: str
) -> None:
    resources = container(render({"container": {"resources": written}}))["resources"]
    assert resources["requests"]["memory"] == requests
    assert resources["limits"]["memory"] == limits
