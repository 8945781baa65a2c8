"""The namespaces of a stack: held to the restricted Pod Security standard, and to limits."""

from collections.abc import Iterable

from holdfast.kube.objects import KubeObject
from holdfast.manifest.stack.environment import NamespaceLimits
from holdfast.render.plan.metadata import Provenance, RenderedObject

_POD_SECURITY = "pod-security.kubernetes.io"


def render_namespaces(names: Iterable[str], origin: Provenance) -> list[RenderedObject]:
    """One Namespace a name, in order of name."""
    return [
        RenderedObject(
            "",
            f"namespace-{name}",
            {
                "apiVersion": "v1",
                "kind": "Namespace",
                "metadata": {
                    "name": name,
                    "labels": {
                        "app.kubernetes.io/managed-by": "holdfast",
                        f"{_POD_SECURITY}/enforce": "restricted",
                        f"{_POD_SECURITY}/warn": "restricted",
                    },
                    "annotations": origin.annotations(),
                },
            },
        )
        for name in sorted(set(names))
    ]


def render_limits(
    names: Iterable[str], limits: NamespaceLimits, origin: Provenance
) -> list[RenderedObject]:
    """A ResourceQuota and a LimitRange a namespace, as far as the environment limits anything."""
    rendered = []
    for name in sorted(set(names)):
        if limits.quota:
            quota = {"hard": dict(sorted(limits.quota.items()))}
            rendered.append(_limit("ResourceQuota", "quota", name, quota, origin))
        if limits.container_max:
            most = {"type": "Container", "max": dict(sorted(limits.container_max.items()))}
            rendered.append(_limit("LimitRange", "limits", name, {"limits": [most]}, origin))
    return rendered


def _limit(
    kind: str, role: str, namespace: str, spec: KubeObject, origin: Provenance
) -> RenderedObject:
    return RenderedObject(
        "",
        f"namespace-{namespace}-{role}",
        {
            "apiVersion": "v1",
            "kind": kind,
            "metadata": {
                "name": f"holdfast-{role}",
                "namespace": namespace,
                "labels": {"app.kubernetes.io/managed-by": "holdfast"},
                "annotations": origin.annotations(),
            },
            "spec": spec,
        },
    )
