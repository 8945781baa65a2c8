from typing import Any

from holdfast.drift.probes.pods import pod_spec_of, workloads_of
from holdfast.kube.objects import ObjectRef

POD = {"containers": [{"name": "agent"}]}


def workload(kind: str, name: str, spec: Any, agent: str = "a") -> dict[str, Any]:
    metadata = {"namespace": "cx", "name": name, "labels": {"holdfast.dev/agent": agent}}
    return {"apiVersion": "x/v1", "kind": kind, "metadata": metadata, "spec": spec}


DEPLOYMENT = workload("Deployment", "a", {"template": {"spec": POD}})
CRON_JOB = workload("CronJob", "a-night", {"jobTemplate": {"spec": {"template": {"spec": POD}}}})
SANDBOX = workload("Sandbox", "a", {"podTemplate": {"spec": POD}})
SERVICE = workload("Service", "a", {"ports": []})
OTHER = workload("Deployment", "b", {"template": {"spec": POD}}, agent="b")


def test_whatever_runs_pods_has_a_pod_spec() -> None:
    assert [pod_spec_of(each) for each in (DEPLOYMENT, CRON_JOB, SANDBOX)] == [POD] * 3
    assert pod_spec_of(SERVICE) == {}


def test_an_agent_has_all_of_its_workloads_and_nobody_elses() -> None:
    found = workloads_of("a", "cx", [DEPLOYMENT, SERVICE, CRON_JOB, OTHER])
    assert [subject.workload for subject, _ in found] == [
        ObjectRef("cx", "Deployment", "a", "x/v1"),
        ObjectRef("cx", "CronJob", "a-night", "x/v1"),
    ]
    assert workloads_of("a", "ops", [DEPLOYMENT]) == []
