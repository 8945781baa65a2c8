"""What a controller made is as its template says: pods, ReplicaSets, and Jobs of schedules."""

import copy
from collections.abc import Callable
from dataclasses import replace
from typing import Any

import pytest
from holdfast.drift.finding import DriftReport
from holdfast.drift.scan import DriftJudge, LiveState
from holdfast.kube.objects import KubeObject, ObjectRef, reference_of
from holdfast.kube.paths import format_path

from tests.unit.drift.objects import CREATED, DEPLOYMENT, LATER, edit, live_of, owned_by
from tests.unit.drift.objects import identity as identity_of
from tests.unit.drift.test_scan import AROUND, NAMESPACE

UID = "11111111-1111-1111-1111-111111111111"
AGENT = "spec.containers[name=agent]"
TEMPLATE = DEPLOYMENT["spec"]["template"]


def by(api_version: str, kind: str, name: str, uid: str = UID) -> list[dict[str, Any]]:
    reference = {"apiVersion": api_version, "kind": kind, "name": name, "uid": uid}
    return [{**reference, "controller": True}]


def made(
    api_version: str, kind: str, name: str, owner: list[dict[str, Any]], **parts: Any
) -> KubeObject:
    """As the controller manager creates it: it owns what it wrote, and nobody what was added."""
    metadata = {"name": name, "namespace": "cx", **parts.pop("metadata", {})}
    one = {"apiVersion": api_version, "kind": kind, "metadata": metadata, **parts}
    live = live_of(copy.deepcopy(one), uid=f"uid-of-{name}", generation=1, ownerReferences=owner)
    entries = [{**each, "manager": "kube-controller-manager", "operation": "Update"}
               for each in live["metadata"]["managedFields"]]  # fmt: skip
    live["metadata"]["managedFields"] = entries
    return live


def replica_set(template: Any = TEMPLATE, revision: str = "1", replicas: int = 2) -> KubeObject:
    labelled = {**template, "metadata": {"labels": {"app": "support", "pod-template-hash": "abc"}}}
    return made(
        "apps/v1", "ReplicaSet", "support-abc", by("apps/v1", "Deployment", "support"),
        metadata={"annotations": {"deployment.kubernetes.io/revision": revision}},
        spec={"replicas": replicas, "selector": {}, "template": labelled},
    )  # fmt: skip


def pod(template: Any = TEMPLATE, owner: Any = None) -> KubeObject:
    """A pod as the server has it: with what admission and the scheduler fill in."""
    one = made(
        "v1", "Pod", "support-abc-1",
        owner or by("apps/v1", "ReplicaSet", "support-abc", "uid-of-support-abc"),
        metadata={"labels": {"app": "support", "pod-template-hash": "abc"},
                  "annotations": {"cni.projectcalico.org/podIP": "10.0.0.1/32"}},
        spec=copy.deepcopy(template["spec"]),
    )  # fmt: skip
    one["spec"] |= {
        "nodeName": "node-1", "priority": 0, "preemptionPolicy": "PreemptLowerPriority",
        "enableServiceLinks": True, "schedulerName": "default-scheduler", "securityContext": {},
        "restartPolicy": "Always", "dnsPolicy": "ClusterFirst", "serviceAccount": "support",
        "terminationGracePeriodSeconds": 30,
        "tolerations": [{"effect": "NoExecute", "key": "node.kubernetes.io/not-ready",
                         "operator": "Exists", "tolerationSeconds": 300}],
        "volumes": [{"name": "kube-api-access-x7k2p", "projected": {"defaultMode": 420, "sources": [
            {"serviceAccountToken": {"expirationSeconds": 3607, "path": "token"}}]}}],
    }  # fmt: skip
    container = one["spec"]["containers"][0]
    container["resources"]["requests"] = {"cpu": "1", "memory": "1Gi"}
    container |= {
        "terminationMessagePath": "/dev/termination-log", "terminationMessagePolicy": "File",
        "imagePullPolicy": "IfNotPresent",
        "volumeMounts": [{"mountPath": "/var/run/secrets/kubernetes.io/serviceaccount",
                          "name": "kube-api-access-x7k2p", "readOnly": True}],
    }  # fmt: skip
    return one


def report(
    *others: KubeObject, deployment: KubeObject | None = None, find: Any = None
) -> DriftReport:
    live = [live_of(NAMESPACE), deployment or live_of(DEPLOYMENT), *others]
    state = LiveState({identity_of(one): one for one in live}, is_whole=True)
    return DriftJudge([NAMESPACE, DEPLOYMENT], replace(AROUND, find_owner=find)).report(state)


def report_of(template: Any, one: KubeObject) -> DriftReport:
    """A scan of one pod, of a Deployment that declares another template."""
    deployment = edit(DEPLOYMENT, {"spec.template": template})
    live = [live_of(NAMESPACE), live_of(deployment), replica_set(template), one]
    state = LiveState({identity_of(each): each for each in live}, is_whole=True)
    return DriftJudge([NAMESPACE, deployment], AROUND).report(state)


def said(found: DriftReport) -> list[tuple[str, str, str]]:
    return [(each.ref.kind, each.drift_class.value, format_path(each.path)) for each in found.drift]


def test_what_is_made_from_the_template_is_no_drift() -> None:
    assert said(report(replica_set(), pod())) == []


@pytest.mark.parametrize(
    ("manager", "cpu", "count"),
    [("kube-controller-manager", "1", 0), ("kube-controller-manager", "2", 1), ("kubectl", "1", 1)],
)
def test_requests_follow_the_limits(manager: str, cpu: str, count: int) -> None:
    path = f"{AGENT}.resources.requests.cpu"
    one = owned_by(manager, path, edit(pod(), {path: cpu}))
    assert len(said(report(replica_set(), one))) == count


@pytest.mark.parametrize(
    ("note", "count"),
    [
        ("memory request for container agent; cpu, pods limit for container agent", 0),
        ("cpu limit for init container agent", 1),
        ("cpu limit for container other", 1),
        ("cpu request for container agent", 1),
        ("", 1),
    ],
)
def test_what_a_limit_range_gives_is_noted_by_admission(note: str, count: int) -> None:
    template = edit(TEMPLATE, {"spec.containers[name=agent].resources": {}})
    limit = {f"{AGENT}.resources.limits": {"cpu": "2"}}
    one = owned_by("kube-controller-manager", f"{AGENT}.resources", edit(pod(template), limit))
    one["spec"]["containers"][0]["resources"].pop("requests", None)
    one["metadata"]["annotations"]["kubernetes.io/limit-ranger"] = f"LimitRanger plugin set: {note}"
    assert len(said(report_of(template, one))) == count


@pytest.mark.parametrize(
    ("key", "count"), [("node.kubernetes.io/unreachable", 0), ("dedicated", 1)]
)
def test_admission_appends_tolerations_to_those_of_the_template(key: str, count: int) -> None:
    declared = {"key": "gpu", "operator": "Exists"}
    template = edit(TEMPLATE, {"spec.tolerations": [declared]})
    added = {"key": key, "operator": "Exists", "effect": "NoExecute", "tolerationSeconds": 60}
    one = edit(pod(template), {"spec.tolerations": [declared, added]})
    one = owned_by("kube-controller-manager", "spec.tolerations", one)
    assert len(said(report_of(template, one))) == count


@pytest.mark.parametrize(("port", "count"), [(80, 0), (81, 1)])
def test_ports_of_the_host_follow_those_of_the_container(port: int, count: int) -> None:
    one = edit(pod(), {f"{AGENT}.ports[containerPort=80].hostPort": port})
    one = owned_by("kube-controller-manager", f"{AGENT}.ports[containerPort=80].hostPort", one)
    assert len(said(report(replica_set(), one))) == count


def spread(*values: str) -> KubeObject:
    """A pod whose label the server has written into a constraint, as `matchLabelKeys` ask."""
    constraint = {"maxSkew": 1, "topologyKey": "zone", "whenUnsatisfiable": "ScheduleAnyway",
                  "labelSelector": {"matchLabels": {"app": "support"}},
                  "matchLabelKeys": ["pod-template-hash"]}  # fmt: skip
    template = edit(TEMPLATE, {"spec.topologySpreadConstraints": [constraint]})
    one = pod(template)
    selector = one["spec"]["topologySpreadConstraints"][0]["labelSelector"]
    selector["matchExpressions"] = [
        {"key": "pod-template-hash", "operator": "In", "values": list(values)}
    ]
    return one


@pytest.mark.parametrize(("value", "count"), [("abc", 0), ("other", 1)])
def test_label_keys_are_written_out_by_the_labels_of_the_pod(value: str, count: int) -> None:
    one = spread(value)
    template = edit(one, {})["spec"]["topologySpreadConstraints"][0]
    declared = {**template, "labelSelector": {"matchLabels": {"app": "support"}}}
    wanted = edit(TEMPLATE, {"spec.topologySpreadConstraints": [declared]})
    assert len(said(report_of(wanted, one))) == count


def by_kubectl(path: str, value: Any, subresource: str = "") -> Callable[[KubeObject], KubeObject]:
    return lambda one: owned_by("kubectl", path, edit(one, {path: value}), subresource=subresource)


def by_admission(path: str, value: Any) -> Callable[[KubeObject], KubeObject]:
    return lambda one: edit(one, {path: value})


@pytest.mark.parametrize(
    ("change", "expected"),
    [
        pytest.param(by_kubectl(f"{AGENT}.image", "evil.example.test/x:1"),
                     ("Pod", "changed", f"{AGENT}.image"), id="the image of a running pod"),
        pytest.param(by_kubectl("spec.ephemeralContainers[name=debug]",
                                {"name": "debug", "image": "shell:1"}, "ephemeralcontainers"),
                     ("Pod", "added", "spec.ephemeralContainers[name=debug]"), id="kubectl debug"),
        pytest.param(by_kubectl(f"{AGENT}.resources.limits.memory", "64Gi", "resize"),
                     ("Pod", "changed", f"{AGENT}.resources.limits.memory"), id="a resize"),
        pytest.param(by_kubectl("metadata.labels.tier", "back"),
                     ("Pod", "added", "metadata.labels.tier"), id="a label"),
        pytest.param(by_admission("spec.containers[name=proxy]",
                                  {"name": "proxy", "image": "proxy:1"}),
                     ("Pod", "added", "spec.containers[name=proxy]"), id="an injected sidecar"),
        pytest.param(by_admission("spec.initContainers", [{"name": "i", "image": "proxy:1"}]),
                     ("Pod", "added", "spec.initContainers[name=i]"), id="injected to start first"),
        pytest.param(by_admission(f"{AGENT}.env[name=HTTP_PROXY]",
                                  {"name": "HTTP_PROXY", "value": "http://x"}),
                     ("Pod", "added", f"{AGENT}.env[name=HTTP_PROXY]"), id="an injected variable"),
        pytest.param(by_admission(f"{AGENT}.image", "mirror.example.test/agent:1"),
                     ("Pod", "changed", f"{AGENT}.image"), id="an image that admission rewrote"),
    ],
)  # fmt: skip
def test_what_differs_in_a_pod_is_drift(
    change: Callable[[KubeObject], KubeObject], expected: tuple[str, str, str]
) -> None:
    assert said(report(replica_set(), change(pod()))) == [expected]


def template_with(image: str) -> KubeObject:
    return edit(TEMPLATE, {f"{AGENT}.image": image})


def test_a_pod_that_only_names_its_owner_is_compared_too() -> None:
    forged = pod(template_with("evil.example.test/x:1"))
    assert said(report(replica_set(), forged)) == [("Pod", "changed", f"{AGENT}.image")]


def test_the_replica_set_of_the_version_is_as_the_deployment_says() -> None:
    changed = replica_set(template_with("evil.example.test/x:1"))

    def find(ref: ObjectRef) -> KubeObject:
        annotations = {"deployment.kubernetes.io/revision": "1"}
        return live_of(DEPLOYMENT, generation=1, annotations=annotations)

    found = said(report(changed, find=find))
    assert found == [("ReplicaSet", "changed", f"spec.template.{AGENT}.image")]


@pytest.mark.parametrize(
    ("revision", "replicas", "observed"),
    [
        pytest.param("2", 2, 2, id="of an earlier version, while a new one is rolled out"),
        pytest.param("1", 0, 2, id="kept for a rollback"),
        pytest.param("1", 2, 1, id="the controller has not seen the newest template"),
    ],
)
def test_earlier_versions_and_those_to_come_are_no_drift(
    revision: str, replicas: int, observed: int
) -> None:
    old = replica_set(template_with("registry.example.test/agent:0"), replicas=replicas)

    def find(ref: ObjectRef) -> KubeObject:
        annotations = {"deployment.kubernetes.io/revision": revision}
        now = live_of(DEPLOYMENT, generation=2, annotations=annotations)
        return {**now, "status": {"observedGeneration": observed}}

    assert said(report(old, find=find)) == []


STATEFUL: KubeObject = {**DEPLOYMENT, "apiVersion": "apps/v1", "kind": "StatefulSet"}


@pytest.mark.parametrize(
    ("created", "found"),
    [
        pytest.param(LATER, [("Pod", "changed", f"{AGENT}.image")], id="made after the template"),
        pytest.param(CREATED, [], id="made before it: it waits for its turn"),
    ],
)
def test_a_pod_of_a_set_may_be_of_the_version_before(
    created: str, found: list[tuple[str, str, str]]
) -> None:
    old = pod(template_with("registry.example.test/agent:0"),
              by("apps/v1", "StatefulSet", "support"))  # fmt: skip
    old["metadata"]["creationTimestamp"] = created
    live = [live_of(NAMESPACE), live_of(STATEFUL), old]
    state = LiveState({identity_of(one): one for one in live}, is_whole=True)
    assert said(DriftJudge([NAMESPACE, STATEFUL], AROUND).report(state)) == found


def test_a_pod_that_is_going_is_left_alone() -> None:
    going = by_kubectl(f"{AGENT}.image", "evil:1")(pod())
    going["metadata"]["deletionTimestamp"] = LATER
    assert said(report(replica_set(), going)) == []


def test_the_finding_names_who_and_no_update_cares() -> None:
    changed = by_kubectl(f"{AGENT}.image", "evil:1")(pod())
    (finding,) = report(replica_set(), changed).drift
    assert finding.actors[0].manager == "kubectl"
    assert finding.next_update is None
    assert reference_of(changed) == finding.ref
