"""Which live objects are judged, which are only known, and which belong to something else."""

from typing import Any

import pytest
from holdfast.kube.objects import KubeObject
from holdfast.operations.policy.live import collect, wanted_kinds


def live(kind: str, name: str, namespace: str = "", **fields: Any) -> KubeObject:
    metadata: dict[str, Any] = {"name": name, "uid": f"{kind}/{namespace}/{name}"}
    metadata |= {"namespace": namespace} if namespace else {}
    metadata |= fields.pop("metadata", {})
    return {"apiVersion": "v1", "kind": kind, "metadata": metadata, **fields}


def owned_by(one: KubeObject) -> dict[str, Any]:
    return {"ownerReferences": [{"uid": one["metadata"]["uid"], "kind": one["kind"]}]}


def binding(name: str, role: str, namespace: str) -> KubeObject:
    subjects = [{"kind": "ServiceAccount", "name": "a", "namespace": namespace}]
    return live("ClusterRoleBinding", name, subjects=subjects, roleRef={"name": role})


DEPLOYMENT = live("Deployment", "a", "x")
REPLICA_SET = live("ReplicaSet", "a-1", "x", metadata=owned_by(DEPLOYMENT))
POD = live("Pod", "a-1-2", "x", metadata=owned_by(REPLICA_SET))
OF_OTHERS = live("Deployment", "b", "x", metadata=owned_by(live("Agent", "not-read", "x")))
BOOTSTRAP = {"labels": {"kubernetes.io/bootstrapping": "rbac-defaults"}}


def split(objects: list[KubeObject], *namespaces: str) -> tuple[set[str], set[str]]:
    """Names of what is judged, and of what is only known."""
    gathered = collect(objects, namespaces)
    judged = {each.subject.name for each in gathered.judged if not each.context_only}
    return judged, {each.subject.name for each in gathered.judged if each.context_only}


def test_what_a_judged_object_makes_is_left_out_and_counted() -> None:
    objects = [DEPLOYMENT, REPLICA_SET, POD, OF_OTHERS]
    assert split(objects) == ({"a", "b"}, set())
    (remark,) = collect(objects).remarks
    assert remark == "left out: 2 objects made by objects that are judged themselves"


@pytest.mark.parametrize(
    "one",
    [
        live("ConfigMap", "kube-root-ca.crt", "x"),
        live("ServiceAccount", "default", "x"),
        live("Role", "r", "x", metadata=BOOTSTRAP),
    ],
    ids=lambda one: str(one["kind"]),
)
def test_what_kubernetes_makes_for_itself_is_left_out_and_counted(one: KubeObject) -> None:
    assert split([one]) == (set(), set())
    assert collect([one]).remarks == ("left out: 1 objects of Kubernetes' own",)


def test_its_own_roles_are_known_since_they_count_in_sums_of_rights() -> None:
    assert split([live("ClusterRole", "view", metadata=BOOTSTRAP)]) == (set(), {"view"})


def test_its_own_namespaces_are_judged_when_they_are_named() -> None:
    proxy = live("DaemonSet", "proxy", "kube-system")
    assert split([proxy]) == (set(), set())
    assert split([proxy], "kube-system") == ({"proxy"}, set())


def test_of_what_has_no_namespace_only_what_concerns_the_named_ones_is_judged() -> None:
    objects = [
        live("Namespace", "x"),
        live("Namespace", "y"),
        binding("to-x", "used", "x"),
        binding("to-y", "unused", "y"),
        live("ClusterRole", "used"),
        live("ClusterRole", "unused"),
    ]
    assert split(objects, "x") == ({"x", "to-x", "used"}, {"unused"})
    assert split(objects)[0] == {"x", "y", "to-x", "to-y", "used", "unused"}


def test_what_kubectl_keeps_of_an_object_is_no_part_of_it() -> None:
    annotations = {"kubectl.kubernetes.io/last-applied-configuration": "{}", "a": "b"}
    metadata = {"annotations": annotations, "managedFields": [{}]}
    (judged,) = collect([live("Pod", "p", "x", metadata=metadata)]).judged
    assert judged.subject.metadata["annotations"] == {"a": "b"}
    assert "managedFields" not in judged.subject.metadata
    assert annotations  # the object itself is left as it was


def test_every_kind_that_runs_pods_is_wanted() -> None:
    wanted = wanted_kinds()
    assert {("apps", "Deployment"), ("agents.x-k8s.io", "Sandbox"), ("", "Pod")} <= wanted
    assert ("*", "*") not in wanted
