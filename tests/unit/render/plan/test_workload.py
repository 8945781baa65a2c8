"""The workload of an agent: its pods, amounts, replicas, probes, and what is pasted as it is."""

from typing import Any

import pytest

from tests.unit.render.connected_agent import (
    container,
    only,
    render,
)


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
