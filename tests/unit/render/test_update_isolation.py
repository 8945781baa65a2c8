"""What the running version keeps while a new one is on its way: its configuration and its ways."""

from collections.abc import Iterable, Mapping
from typing import Any

from holdfast.kube.objects import KubeObject
from holdfast.render.plan.metadata import RenderedObject

from tests.unit.render.rendering import named, render

OLD = {
    "model": {"provider": "vllm", "name": "vlm", "baseUrl": "http://vlm.inference-a.svc:8000/v1"},
    "config": [{"name": "rules", "data": {"a.yaml": "old"}, "mountPath": "/etc/rules"}],
    "network": {"ingressFrom": ["planner"]},
}
NEW = {
    "model": {"provider": "vllm", "name": "vlm", "baseUrl": "http://vlm.inference-b.svc:8000/v1"},
    "config": [{"name": "rules", "data": {"a.yaml": "new"}, "mountPath": "/etc/rules"}],
    "network": {"ingressFrom": ["router"]},
}
TOOLS = {"images": {"tools": "registry.example/tools@sha256:" + "3" * 64}}
Cluster = dict[tuple[str, str], KubeObject]


def applied(cluster: Cluster, rendered: Iterable[RenderedObject]) -> Cluster:
    """The cluster with these objects in it; what is immutable keeps its content."""
    after = dict(cluster)
    for item in rendered:
        key = (item.manifest["kind"], item.manifest["metadata"]["name"])
        if cluster.get(key, {}).get("immutable"):
            assert cluster[key]["data"] == item.manifest["data"]
        after[key] = item.manifest
    return after


def until(rendered: tuple[RenderedObject, ...], role: str) -> list[RenderedObject]:
    """What is deployed before an object."""
    return list(rendered[: [item.role for item in rendered].index(role)])


def pod_of(rendered: tuple[RenderedObject, ...]) -> KubeObject:
    template: KubeObject = named(rendered, "deployment")["spec"]["template"]
    return template


def mounted(cluster: Cluster, pod: KubeObject) -> Mapping[str, Any]:
    """Name of a file to its content, of every ConfigMap that a pod mounts."""
    names = (each["configMap"]["name"] for each in pod["spec"]["volumes"] if "configMap" in each)
    return {
        file: text for name in names for file, text in cluster["ConfigMap", name]["data"].items()
    }


def reached(cluster: Cluster, pod: KubeObject) -> set[str]:
    """Namespaces that every policy of a pod opens, in sum: what one lets through is open."""
    return {
        peer["namespaceSelector"]["matchLabels"]["kubernetes.io/metadata.name"]
        for policy in _policies_of(cluster, pod)
        for rule in policy["spec"]["egress"]
        for peer in rule["to"]
        if "namespaceSelector" in peer
    }


def callers(cluster: Cluster, pod: KubeObject) -> set[str]:
    return {
        peer["podSelector"]["matchLabels"]["holdfast.dev/agent"]
        for policy in _policies_of(cluster, pod)
        for rule in policy["spec"]["ingress"]
        for peer in rule["from"]
    }


def _policies_of(cluster: Cluster, pod: KubeObject) -> list[KubeObject]:
    labels = pod["metadata"]["labels"].items()
    return [
        one
        for (kind, _), one in cluster.items()
        if kind == "NetworkPolicy" and one["spec"]["podSelector"]["matchLabels"].items() <= labels
    ]


def test_the_running_version_keeps_its_configuration_until_the_new_one_is_up() -> None:
    old, new = render(OLD, TOOLS), render(NEW, TOOLS)
    running = applied({}, old)
    before = mounted(running, pod_of(old))
    during = applied(running, until(new, "deployment"))
    assert mounted(during, pod_of(old)) == before
    assert mounted(during, pod_of(new))["a.yaml"] == "new"
    assert "inference-b" in mounted(during, pod_of(new))["agent.json"]


def test_network_rules_only_widen_until_the_new_version_is_up_and_narrow_then() -> None:
    old, new = render(OLD, TOOLS), render(NEW, TOOLS)
    running = applied({}, old)
    assert reached(running, pod_of(old)) == {"kube-system", "inference-a"}
    # Before the check of the new version, too: it asks the new model.
    for role in ("check", "deployment"):
        during = applied(running, until(new, role))
        for pod in (pod_of(old), pod_of(new)):
            assert reached(during, pod) == {"kube-system", "inference-a", "inference-b"}
            assert callers(during, pod) == {"planner", "router"}
    after = applied(during, new)
    assert reached(after, pod_of(new)) == {"kube-system", "inference-b"}
    assert callers(after, pod_of(new)) == {"router"}


def test_a_new_agent_is_enclosed_before_its_first_pod() -> None:
    rendered = render(NEW, TOOLS)
    enclosed = applied({}, until(rendered, "check"))
    assert reached(enclosed, pod_of(rendered)) == {"kube-system", "inference-b"}


def test_equal_content_is_the_same_object_and_another_one_is_another() -> None:
    names = [
        {item.manifest["metadata"]["name"] for item in render(spec) if item.content}
        for spec in (OLD, OLD, NEW)
    ]
    assert names[0] == names[1]
    assert not names[0] & names[2]
    assert all(item.manifest["immutable"] for item in render(OLD) if item.content)
