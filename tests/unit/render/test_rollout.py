import json
from typing import Any

import pytest
from holdfast.errors import RenderError
from holdfast.render.objects.services import moved_weights
from holdfast_policies.evaluation.judge import stack_judgements, violations
from holdfast_policies.evaluation.profile import profile_of
from holdfast_policies.model.stack import Stack
from holdfast_policies.model.subject import Options, Subject

from tests.unit.render.workloads import EVERYTHING, body, pod, render

FIVE_MINUTES = {"pause": {"duration": "5m"}}
STEPS = [
    {"setWeight": 10},
    {"pause": {"duration": "10m"}},
    {"setWeight": 50},
    FIVE_MINUTES,
    FIVE_MINUTES,
]
CANARY = {"strategy": "Canary", "steps": STEPS}
LIMITS = {
    "maxErrorRate": 1,
    "maxP99LatencyMs": 4000,
    "minToolSuccess": 98.5,
    "maxTokensPerRequest": 9000,
    "minRequestSample": 50,
    "window": "10m",
}
MODEL = {"ref": "local"}
RANGE = {
    "minReplicas": 2,
    "maxReplicas": 9,
    "metrics": [{"type": "Resource", "name": "cpu", "target": 70}],
}


def test_a_rolling_update_has_its_surge_and_its_deadline_for_kubernetes_and_for_pulumi() -> None:
    rendered = render(
        {"rollout": {"maxSurge": "25%", "maxUnavailable": 1, "progressDeadlineSeconds": 120}}
    )
    deployment = body(rendered, "deployment")
    assert deployment["strategy"] == {
        "type": "RollingUpdate",
        "rollingUpdate": {"maxSurge": "25%", "maxUnavailable": 1},
    }
    assert deployment["progressDeadlineSeconds"] == 120
    annotations = rendered["deployment"].manifest["metadata"]["annotations"]
    assert annotations["pulumi.com/timeoutSeconds"] == "120"


def test_recreate_ends_the_old_before_it_starts_the_new() -> None:
    rendered = render({"rollout": {"strategy": "Recreate"}})
    assert body(rendered, "deployment")["strategy"] == {"type": "Recreate"}


def test_blue_green_is_a_rollout_with_a_service_for_each_version() -> None:
    rendered = render({"rollout": {"strategy": "BlueGreen", "analysis": LIMITS}, "model": MODEL})
    strategy = body(rendered, "rollout")["strategy"]["blueGreen"]
    assert (strategy["activeService"], strategy["previewService"]) == ("support", "support-preview")
    before = strategy["prePromotionAnalysis"]
    assert before["templates"] == [{"templateName": "support-check"}]
    after = strategy["postPromotionAnalysis"]
    assert after["templates"] == [{"templateName": "support-analysis"}]
    assert strategy["scaleDownDelaySeconds"] > 600
    assert "deployment" not in rendered
    assert body(rendered, "service-preview")["ports"] == body(rendered, "service")["ports"]


def test_argo_rollouts_moves_the_services_and_updates_leave_their_selectors_alone() -> None:
    rendered = render({"rollout": {"strategy": "BlueGreen"}})
    assert rendered["service"].left_to_controllers == ("spec.selector",)
    assert rendered["service-preview"].left_to_controllers == ("spec.selector",)
    assert render({})["service"].left_to_controllers == ()


def test_the_check_that_argo_rollouts_runs_passes_the_rules_of_its_cluster() -> None:
    governance = {"logs": {"retention": "30d", "redaction": "pii"}}
    rendered = render(
        {
            "rollout": {"strategy": "BlueGreen"},
            "model": MODEL,
            "governance": governance,
            "owner": "cx-team",
        }
    )
    [metric] = body(rendered, "analysis-check")["metrics"]
    made = metric["provider"]["job"]
    # As Argo Rollouts makes it: what the template says, with a name and an owner of its own.
    job = {
        "apiVersion": "batch/v1",
        "kind": "Job",
        "metadata": made["metadata"] | {"name": "7f3.check.1", "namespace": "cx"},
        "spec": made["spec"],
    }
    wanted = {"log-retention-and-redaction-declared", "provenance-annotations"}
    broken = {violation.rule for violation in violations(job, "prod")}
    assert not broken & wanted


def ignored_selectors(rendered: Any) -> list[str]:
    """Objects by name at which the pack sees a change that would be ignored, in production."""
    subjects = [
        Subject.of(item.manifest, options=Options(ignored_changes=item.left_to_controllers))
        for item in rendered
    ]
    alone = [
        violation.subject.name
        for subject in subjects
        for violation in violations(subject.object, "prod", options=subject.options)
        if violation.rule == "no-security-ignore-changes"
    ]
    together = [
        violation.subject.name
        for judgement in stack_judgements(Stack.of(subjects), profile_of("prod"))
        for violation in judgement.violations
        if violation.rule == "no-security-ignore-changes"
    ]
    return alone + together


@pytest.mark.parametrize("strategy", ["BlueGreen", "Canary"])
def test_a_service_that_argo_rollouts_moves_may_be_deployed_to_production(strategy: str) -> None:
    routed = {"network": {"expose": {"gatewayRef": {"name": "public"}}}}
    gateway = {"network": {"gateway": {"namespace": "edge", "podLabels": {"app": "gateway"}}}}
    declared = {"BlueGreen": {"strategy": "BlueGreen"}, "Canary": CANARY}[strategy]
    rendered = render({"rollout": declared} | routed, EVERYTHING | gateway)
    assert any(item.left_to_controllers for item in rendered.values())
    assert ignored_selectors(rendered.values()) == []
    # The mark alone is not believed: without the Rollout nobody moves them.
    alone = [item for role, item in rendered.items() if role != "rollout"]
    assert len(ignored_selectors(alone)) == 2


def test_a_route_leaves_the_weights_of_a_running_canary_to_argo_rollouts() -> None:
    routed = {"expose": {"gatewayRef": {"name": "public"}}}
    gateway = {"network": {"gateway": {"namespace": "edge", "podLabels": {"app": "gateway"}}}}
    rendered = render({"rollout": CANARY, "network": routed}, EVERYTHING | gateway)
    assert moved_weights(rendered["route"].manifest) == [
        "/spec/rules/0/backendRefs/0/weight",
        "/spec/rules/0/backendRefs/1/weight",
    ]
    at_rest = render({"network": routed}, EVERYTHING | gateway)["route"].manifest
    assert moved_weights(at_rest) == []


def test_a_canary_takes_its_declared_steps_and_is_judged_after_each_pause() -> None:
    rendered = render({"rollout": CANARY | {"analysis": LIMITS}, "model": MODEL})
    steps = body(rendered, "rollout")["strategy"]["canary"]["steps"]
    check, analysis = "support-check", "support-analysis"
    assert [
        step.get("setWeight")
        or step.get("pause", {}).get("duration")
        or step["analysis"]["templates"][0]["templateName"]
        for step in steps
    ] == [check, 10, "600s", analysis, 50, "300s", "300s", analysis]
    assert steps[3]["analysis"]["args"] == [
        {"name": "pod-hash", "valueFrom": {"podTemplateHashValue": "Latest"}}
    ]


def test_without_a_gateway_the_pods_divide_the_traffic_and_no_service_is_moved() -> None:
    rendered = render({"rollout": CANARY})
    assert "trafficRouting" not in body(rendered, "rollout")["strategy"]["canary"]
    assert rendered["service"].left_to_controllers == ()
    assert "service-canary" not in rendered


GATEWAY = {
    "gateway": {"namespace": "edge", "podLabels": {"app": "gateway"}},
    "egressGateway": EVERYTHING["network"]["egressGateway"],
}
ROUTED = {"network": {"expose": {"gatewayRef": {"namespace": "edge", "name": "public"}}}}


def test_a_gateway_divides_the_traffic_between_the_services_of_both_versions() -> None:
    rendered = render({"rollout": CANARY, **ROUTED}, EVERYTHING | {"network": GATEWAY})
    canary = body(rendered, "rollout")["strategy"]["canary"]
    assert (canary["stableService"], canary["canaryService"]) == ("support", "support-canary")
    plugin = canary["trafficRouting"]["plugins"]["argoproj-labs/gatewayAPI"]
    assert plugin == {"httpRoute": "support", "namespace": "cx"}
    [rule] = body(rendered, "route")["rules"]
    weights = {backend["name"]: backend["weight"] for backend in rule["backendRefs"]}
    assert weights == {"support": 100, "support-canary": 0}
    for role in ("service", "service-canary"):
        assert rendered[role].left_to_controllers == ("spec.selector",)
    annotations = rendered["route"].manifest["metadata"]["annotations"]
    assert annotations["pulumi.com/patchForce"] == "true"


def metrics(rollout: dict[str, Any]) -> dict[str, Any]:
    rendered = render({"rollout": CANARY | rollout})
    return {each["name"]: each for each in body(rendered, "analysis")["metrics"]}


def test_an_analysis_asks_prometheus_about_the_pods_of_the_new_version_only() -> None:
    asked = metrics({"analysis": LIMITS})
    assert set(asked) == {"requests", "error-rate", "p99-latency", "tool-success", "tokens"}
    for metric in asked.values():
        provider = metric["provider"]["prometheus"]
        assert provider["address"] == "http://prometheus.monitoring.svc:9090"
        assert 'namespace="cx",pod=~"support-{{args.pod-hash}}-.*"' in provider["query"]
        assert "[600s]" in provider["query"]
        assert metric["count"] == 1


@pytest.mark.parametrize(
    ("name", "limit"),
    [
        pytest.param("error-rate", "<= 1", id="errors"),
        pytest.param("p99-latency", "<= 4000", id="latency"),
        pytest.param("tool-success", ">= 98.5", id="tools"),
        pytest.param("tokens", "<= 9000", id="tokens"),
    ],
)
def test_a_limit_that_is_missed_fails_and_no_answer_decides_nothing(name: str, limit: str) -> None:
    metric = metrics({"analysis": LIMITS})[name]
    holds = f"len(result) > 0 && result[0] {limit}"
    assert metric["successCondition"] == f"{holds} && !isNaN(result[0])"
    assert (
        metric["failureCondition"]
        == f"len(result) > 0 && !isNaN(result[0]) && !(result[0] {limit})"
    )


def test_too_few_requests_stop_for_a_person() -> None:
    sample = metrics({"analysis": LIMITS})["requests"]
    assert "result[0] >= 50" in sample["successCondition"]
    assert sample["failureCondition"] == "false"


def test_without_automatic_rollback_nothing_is_taken_back_but_nothing_goes_on_either() -> None:
    asked = metrics({"analysis": LIMITS, "autoRollback": False})
    assert {metric["failureCondition"] for metric in asked.values()} == {"false"}
    rendered = render({"rollout": CANARY | {"autoRollback": False}})
    assert body(rendered, "rollout")["progressDeadlineAbort"] is False


def moment(rollout: dict[str, Any], **spec: Any) -> str:
    found: str = body(render({"rollout": rollout, **spec}), "rollout")["restartAt"]
    return found


def test_an_update_is_done_when_this_version_of_the_rollout_is_healthy() -> None:
    rendered = render({"rollout": CANARY | {"analysis": LIMITS}})
    annotations = rendered["rollout"].manifest["metadata"]["annotations"]
    seen, healthy = json.loads(annotations["pulumi.com/waitFor"])
    assert seen == "jsonpath={.status.restartedAt}=" + body(rendered, "rollout")["restartAt"]
    assert healthy == "jsonpath={.status.phase}=Healthy"
    assert int(annotations["pulumi.com/timeoutSeconds"]) >= 600 + 1200 + 600


def test_every_version_of_a_rollout_has_a_moment_of_its_own_long_ago() -> None:
    moments = {
        moment(CANARY),
        moment(CANARY, container={"args": ["x"]}),
        moment({"strategy": "BlueGreen"}),
    }
    assert len(moments) == 3
    assert moment(CANARY) == moment(CANARY)
    assert max(moments) < "2018"


def test_the_check_of_a_rollout_is_an_analysis_that_runs_a_job() -> None:
    rendered = render({"rollout": CANARY, "model": MODEL})
    metric = body(rendered, "analysis-check")["metrics"][0]
    job = metric["provider"]["job"]["spec"]
    assert job["template"]["spec"]["containers"][0]["name"] == "check"
    assert "check" not in rendered


def test_everything_that_names_the_workload_names_the_rollout() -> None:
    rendered = render({"rollout": CANARY, "scaling": RANGE})
    assert body(rendered, "autoscaler")["scaleTargetRef"] == {
        "apiVersion": "argoproj.io/v1alpha1",
        "kind": "Rollout",
        "name": "support",
    }
    labels = body(rendered, "rollout")["template"]["metadata"]["labels"]
    for role, field in (("service", "selector"), ("disruptionbudget", "selector")):
        selector = body(rendered, role)[field]
        assert selector.get("matchLabels", selector).items() <= labels.items()
    policy = body(rendered, "networkpolicy")["podSelector"]["matchLabels"]
    assert policy.items() <= labels.items()
    assert "replicas" not in body(rendered, "rollout")


def test_the_pods_of_a_rollout_are_those_of_a_deployment() -> None:
    assert pod(render({"rollout": CANARY}), "rollout") == pod(render({}))


def without(setting: str) -> dict[str, Any]:
    return {name: value for name, value in EVERYTHING.items() if name != setting}


def test_a_rollout_needs_argo_rollouts() -> None:
    with pytest.raises(RenderError, match=r"spec\.rollout\.strategy needs Argo Rollouts"):
        render({"rollout": CANARY}, without("controllers"))


def test_an_analysis_without_a_source_of_metrics_is_refused() -> None:
    with pytest.raises(RenderError, match=r"spec\.rollout\.analysis needs a source of metrics"):
        render({"rollout": CANARY | {"analysis": {"maxErrorRate": 1}}}, without("telemetry"))


def test_a_standby_is_a_second_deployment_without_traffic() -> None:
    rendered = render({"scaling": {"availability": {"standby": True}, "replicas": 2}})
    standby = body(rendered, "deployment-standby")
    served = body(rendered, "service")["selector"]
    labels = standby["template"]["metadata"]["labels"]
    assert rendered["deployment-standby"].manifest["metadata"]["name"] == "support-standby"
    assert not served.items() <= labels.items()
    assert standby["selector"]["matchLabels"].items() <= labels.items()
    assert standby["replicas"] == 2
    assert body(rendered, "networkpolicy")["podSelector"]["matchLabels"].items() <= labels.items()
    budget = body(rendered, "disruptionbudget-standby")["selector"]["matchLabels"]
    assert budget == standby["selector"]["matchLabels"]


def test_failing_over_is_one_write_of_one_object() -> None:
    before = render({"scaling": {"availability": {"standby": True}}})
    after = render({"scaling": {"availability": {"standby": True, "active": "standby"}}})
    assert [role for role in before if before[role] != after[role]] == ["service"]
    standby = body(after, "deployment-standby")["selector"]["matchLabels"]
    assert body(after, "service")["selector"] == standby
