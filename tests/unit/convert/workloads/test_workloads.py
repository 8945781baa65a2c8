"""Workloads become agents: what a manifest can say it says, and the rest is told by path."""

from typing import Any

import pytest
from holdfast.convert.workloads.belongings import unclaimed
from holdfast.convert.workloads.remainder import ImportedAgent
from holdfast.convert.workloads.workloads import import_workloads
from holdfast.errors import InputError
from holdfast.kube.objects import KubeObject

DIGEST = f"sha256:{'5' * 64}"
IMAGE = "registry.example/web:v1.2.3"
DIGESTS = {IMAGE: DIGEST}


def deployment(pod: dict[str, Any] | None = None, **spec: Any) -> KubeObject:
    container = {"name": "web", "image": IMAGE}
    template = {
        "metadata": {"labels": {"app": "web"}, "annotations": {"dapr.io/enabled": "true"}},
        "spec": {"containers": [container], **(pod or {})},
    }
    return {
        "apiVersion": "apps/v1",
        "kind": "Deployment",
        "metadata": {"name": "web", "namespace": "shop", "labels": {"team": "a"}},
        "spec": {"selector": {"matchLabels": {"app": "web"}}, "template": template, **spec},
    }


def with_container(**fields: Any) -> KubeObject:
    return deployment({"containers": [{"name": "web", "image": IMAGE, **fields}]})


def imported(workload: KubeObject, *others: KubeObject) -> ImportedAgent:
    [agent] = import_workloads([workload, *others], DIGESTS)
    return agent


def beside(kind: str, spec: dict[str, Any], name: str = "web", **more: Any) -> KubeObject:
    version = {
        "HorizontalPodAutoscaler": "autoscaling/v2",
        "PodDisruptionBudget": "policy/v1",
        "SandboxWarmPool": "extensions.agents.x-k8s.io/v1beta1",
    }.get(kind, "v1")
    metadata = {"name": name, "namespace": "shop"}
    body = {"spec": spec} if spec else {}
    return {"apiVersion": version, "kind": kind, "metadata": metadata, **body, **more}


def test_the_smallest_deployment_is_an_agent_that_serves_no_more_than_before() -> None:
    agent = imported(deployment(replicas=3))
    assert agent.manifest == {
        "apiVersion": "holdfast.dev/v1alpha1",
        "kind": "Agent",
        "metadata": {
            "name": "web",
            "namespace": "shop",
            "labels": {"team": "a", "app": "web"},
            "annotations": {"dapr.io/enabled": "true"},
        },
        "spec": {
            "version": "1.2.3",
            "image": f"registry.example/web@{DIGEST}",
            "pod": {"security": {"readOnlyRootFilesystem": False}},
            "container": {
                "probes": {"liveness": {"enabled": False}, "readiness": {"enabled": False}}
            },
            "scaling": {"replicas": 3},
        },
    }
    assert agent.is_complete
    assert agent.findings.escaped == []


@pytest.mark.parametrize(
    ("container", "field", "value"),
    [
        pytest.param({"args": ["a", "b"]}, "container.args", ["a", "b"], id="arguments in order"),
        pytest.param(
            {"env": [{"name": "A", "value": "1"}, {"name": "B"}]},
            "container.env",
            [{"name": "A", "value": "1"}, {"name": "B", "value": ""}],
            id="literal variables",
        ),
        pytest.param(
            {"env": [{"name": "A", "valueFrom": {"secretKeyRef": {"name": "s", "key": "k"}}}]},
            "container.env",
            [{"name": "A", "valueFrom": {"secretKeyRef": {"name": "s", "key": "k"}}}],
            id="variable from a Secret",
        ),
        pytest.param(
            {"envFrom": [{"secretRef": {"name": "s"}}, {"configMapRef": {"name": "c"}}]},
            "container.envFrom",
            [{"secretRef": {"name": "s"}}, {"configMapRef": {"name": "c"}}],
            id="whole objects as variables",
        ),
        pytest.param(
            {"resources": {"requests": {"cpu": 1}, "limits": {"memory": "1Gi"}}},
            "container.resources",
            {"requests": {"cpu": "1", "memory": "1Gi"}, "limits": {"memory": "1Gi"}},
            id="amounts as text, a request of what is limited",
        ),
        pytest.param(
            {"resources": {"requests": {"memory": "4Gi", "cpu": "500m"}}},
            "container.resources",
            {"requests": {"memory": "4Gi", "cpu": "500m"}},
            id="a request above the default limit",
        ),
        pytest.param(
            {"ports": [{"containerPort": 9000}, {"name": "web", "containerPort": 80}]},
            "network",
            {"expose": {"port": 80}},
            id="the port that is called like one for callers",
        ),
        pytest.param(
            {"lifecycle": {"preStop": {"sleep": {"seconds": 7}}}},
            "container.lifecycle",
            {"preStop": {"sleep": {"seconds": 7}}},
            id="hook before the end",
        ),
    ],
)
def test_a_container_says_it_in_the_manifests_words(
    container: dict[str, Any], field: str, value: Any
) -> None:
    agent = imported(with_container(**container))
    found = agent.manifest["spec"]
    for part in field.split("."):
        found = found[part]
    assert found == value
    assert agent.is_complete
    assert "overrides" not in agent.manifest["spec"].get("pod", {})


def test_a_probe_keeps_the_apis_defaults_where_ours_differ() -> None:
    probe = {"httpGet": {"path": "/live", "port": "web"}, "failureThreshold": 5}
    agent = imported(
        with_container(ports=[{"name": "web", "containerPort": 80}], livenessProbe=probe)
    )
    assert agent.manifest["spec"]["container"]["probes"] == {
        "liveness": {
            "httpGet": {"path": "/live", "port": 80},
            "periodSeconds": 10,
            "timeoutSeconds": 1,
            "failureThreshold": 5,
        },
        "readiness": {"enabled": False},
    }


def test_what_only_kubernetes_can_say_goes_through_the_escape_hatch_and_is_reported() -> None:
    pod = {
        "containers": [
            {
                "name": "web",
                "image": IMAGE,
                "tty": True,
                "volumeMounts": [{"name": "scratch", "mountPath": "/scratch"}],
            }
        ],
        "volumes": [{"name": "scratch", "emptyDir": {}}],
        "hostAliases": [{"ip": "10.0.0.1", "hostnames": ["db"]}],
    }
    agent = imported(deployment(pod))
    assert agent.manifest["spec"]["pod"]["overrides"] == {
        "volumes": [{"name": "scratch", "emptyDir": {}}],
        "hostAliases": [{"ip": "10.0.0.1", "hostnames": ["db"]}],
        "containers": [
            {
                "name": "agent",
                "tty": True,
                "volumeMounts": [{"name": "scratch", "mountPath": "/scratch"}],
            }
        ],
    }
    assert "containers[name=agent].tty" in agent.findings.escaped
    assert agent.is_complete


def test_what_no_field_says_is_lost_by_path() -> None:
    agent = imported(deployment(minReadySeconds=10, paused=True))
    lost = {remark.path: remark.value for remark in agent.findings.lost}
    assert lost == {"spec.minReadySeconds": 10, "spec.paused": True}
    assert not agent.is_complete


def test_an_image_without_digest_is_kept_as_it_is_and_to_be_pinned() -> None:
    [agent] = import_workloads([deployment()], {})
    assert agent.manifest["spec"]["image"] == IMAGE
    assert agent.findings.images == [IMAGE]
    assert not agent.is_complete


def test_what_a_server_fills_in_is_neither_carried_nor_lost() -> None:
    plain, live = deployment(), deployment()
    live["metadata"] |= {"uid": "u", "resourceVersion": "1", "managedFields": []}
    live["status"] = {"replicas": 1}
    live["spec"] |= {
        "replicas": 1,
        "revisionHistoryLimit": 10,
        "strategy": {
            "type": "RollingUpdate",
            "rollingUpdate": {"maxSurge": "25%", "maxUnavailable": "25%"},
        },
        "progressDeadlineSeconds": 600,
    }
    pod = live["spec"]["template"]["spec"]
    pod |= {
        "dnsPolicy": "ClusterFirst",
        "restartPolicy": "Always",
        "schedulerName": "default-scheduler",
        "securityContext": {},
        "terminationGracePeriodSeconds": 30,
    }
    pod["containers"][0] |= {
        "imagePullPolicy": "IfNotPresent",
        "terminationMessagePath": "/dev/termination-log",
        "terminationMessagePolicy": "File",
        "resources": {},
    }
    ours, theirs = imported(plain), imported(live)
    assert theirs.is_complete
    assert theirs.findings.escaped == []
    rollout = {"maxSurge": "25%", "maxUnavailable": "25%", "progressDeadlineSeconds": 600}
    assert theirs.manifest["spec"] == ours.manifest["spec"] | {"rollout": rollout}


def test_its_own_service_autoscaler_and_budget_come_along() -> None:
    service = {"selector": {"app": "web"}, "ports": [{"port": 8000}]}
    target = {"apiVersion": "apps/v1", "kind": "Deployment", "name": "web"}
    cpu = {"name": "cpu", "target": {"type": "Utilization", "averageUtilization": 70}}
    scaler = {
        "scaleTargetRef": target,
        "minReplicas": 2,
        "maxReplicas": 5,
        "metrics": [{"type": "Resource", "resource": cpu}],
    }
    budget = {"selector": {"matchLabels": {"app": "web"}}, "maxUnavailable": "50%"}
    agent = imported(
        with_container(ports=[{"containerPort": 9000}, {"containerPort": 8000}]),
        beside("Service", service),
        beside("PodDisruptionBudget", budget),
        beside("HorizontalPodAutoscaler", scaler),
    )
    spec = agent.manifest["spec"]
    assert spec["network"] == {"expose": {"port": 8000}}
    assert spec["container"]["ports"] == [{"name": "port-0", "containerPort": 9000}]
    assert spec["scaling"] == {
        "minReplicas": 2,
        "maxReplicas": 5,
        "metrics": [{"type": "Resource", "name": "cpu", "target": 70}],
        "availability": {"pdb": {"maxUnavailable": "50%"}},
    }
    assert len(agent.objects) == 4
    assert agent.is_complete


def test_a_service_on_another_port_or_of_another_type_is_reported() -> None:
    spec = {
        "selector": {"app": "web"},
        "type": "NodePort",
        "ports": [{"port": 80, "targetPort": 8}],
    }
    agent = imported(with_container(ports=[{"containerPort": 8}]), beside("Service", spec))
    lost = {remark.path: remark.value for remark in agent.findings.lost}
    assert lost == {
        "spec.type": "NodePort",
        "spec.ports[0].port": 80,
        "spec.ports[0].targetPort": 8,
    }


def test_what_belongs_to_nobody_stays_what_it_is() -> None:
    other = beside("Service", {"selector": {"app": "other"}, "ports": [{"port": 1}]}, "other")
    agent = imported(deployment(), other)
    assert [str(ref) for ref in unclaimed([other], agent.objects)] == ["Service shop/other"]


def test_mounted_configuration_and_claims_come_along() -> None:
    mounts = [
        {"name": "rules", "mountPath": "/etc/rules"},
        {"name": "key", "mountPath": "/etc/key", "readOnly": True},
        {"name": "data", "mountPath": "/data"},
        {"name": "old", "mountPath": "/old"},
    ]
    volumes = [
        {"name": "rules", "configMap": {"name": "rules"}},
        {"name": "key", "secret": {"secretName": "llm"}},
        {"name": "data", "persistentVolumeClaim": {"claimName": "web-data"}},
        {"name": "old", "persistentVolumeClaim": {"claimName": "legacy"}},
    ]
    container = {"name": "web", "image": IMAGE, "volumeMounts": mounts}
    claim = {"resources": {"requests": {"storage": "5Gi"}}, "accessModes": ["ReadWriteOnce"]}
    agent = imported(
        deployment({"containers": [container], "volumes": volumes}),
        beside("ConfigMap", {}, "rules", data={"a.yaml": "b: c"}),
        beside("PersistentVolumeClaim", claim, "web-data"),
        beside("PersistentVolumeClaim", claim, "legacy"),
    )
    spec = agent.manifest["spec"]
    assert spec["config"] == [
        {"name": "rules", "mountPath": "/etc/rules", "data": {"a.yaml": "b: c"}}
    ]
    assert spec["secrets"] == [{"name": "key", "ref": "llm", "mountPath": "/etc/key"}]
    assert spec["storage"]["volumes"] == [
        {"name": "data", "mountPath": "/data", "size": "5Gi", "accessModes": ["ReadWriteOnce"]},
        {"name": "old", "existingClaim": "legacy", "mountPath": "/old"},
    ]
    assert "overrides" not in spec.get("pod", {})


def test_a_cronjob_is_an_agent_of_type_job() -> None:
    template = {
        "spec": {"restartPolicy": "OnFailure", "containers": [{"name": "x", "image": IMAGE}]}
    }
    job = {"template": template, "backoffLimit": 2, "ttlSecondsAfterFinished": 60}
    agent = imported(
        {
            "apiVersion": "batch/v1",
            "kind": "CronJob",
            "metadata": {"name": "nightly"},
            "spec": {
                "schedule": "0 2 * * *",
                "timeZone": "Europe/London",
                "suspend": True,
                "startingDeadlineSeconds": 30,
                "jobTemplate": {"spec": job},
            },
        }
    )
    spec = agent.manifest["spec"]
    assert spec["type"] == "Job"
    assert spec["job"]["schedules"] == [
        {
            "cron": "0 2 * * *",
            "timezone": "Europe/London",
            "suspend": True,
            "concurrencyPolicy": "Allow",
            "historyLimit": 3,
            "retries": 2,
            "ttlSecondsAfterFinished": 60,
        }
    ]
    assert not {"network", "telemetry"} & set(spec)
    assert "probes" not in spec.get("container", {})
    assert "overrides" not in spec.get("pod", {})
    assert [remark.path for remark in agent.findings.lost] == ["spec.startingDeadlineSeconds"]
    assert "OnFailure" in [remark.value for remark in agent.findings.changed]


def test_a_template_with_its_pool_is_an_agent_of_type_sandbox() -> None:
    mounts = [{"name": "work", "mountPath": "/work"}]
    container = {"name": "x", "image": IMAGE, "volumeMounts": mounts}
    claims = [
        {"metadata": {"name": "work"}, "spec": {"resources": {"requests": {"storage": "1Gi"}}}}
    ]
    template = {
        "apiVersion": "extensions.agents.x-k8s.io/v1beta1",
        "kind": "SandboxTemplate",
        "metadata": {"name": "py", "namespace": "shop"},
        "spec": {
            "envVarsInjectionPolicy": "Allowed",
            "volumeClaimTemplates": claims,
            "podTemplate": {"spec": {"containers": [container], "activeDeadlineSeconds": 60}},
        },
    }
    pool = beside("SandboxWarmPool", {"replicas": 4, "sandboxTemplateRef": {"name": "py"}}, "py")
    agent = imported(template, pool)
    spec = agent.manifest["spec"]
    assert spec["type"] == "Sandbox"
    assert spec["sandbox"] == {
        "warmPool": {"replicas": 4},
        "envInjection": "Allowed",
        "shutdownAfter": "60s",
    }
    assert spec["storage"]["volumes"] == [{"name": "work", "mountPath": "/work", "size": "1Gi"}]
    assert "overrides" not in spec.get("pod", {})
    assert agent.is_complete


@pytest.mark.parametrize(
    ("change", "words"),
    [
        pytest.param({"metadata": {"name": "Web"}}, "has 'W'", id="name that no agent can have"),
        pytest.param({"spec": {}}, "no container in spec.template", id="nothing that runs"),
    ],
)
def test_what_can_be_no_agent_is_one_error(change: dict[str, Any], words: str) -> None:
    with pytest.raises(InputError, match=words):
        import_workloads([deployment() | change], DIGESTS)
