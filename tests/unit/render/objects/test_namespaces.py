"""The namespaces of a stack and what holds them to their limits."""

from holdfast.manifest.stack.environment import NamespaceLimits
from holdfast.render.objects.namespaces import render_limits, render_namespaces
from holdfast.render.plan.metadata import Provenance

ORIGIN = Provenance("prod")


def test_a_namespace_is_held_to_the_restricted_standard() -> None:
    (one,) = render_namespaces(["cx", "cx"], ORIGIN)
    labels = one.manifest["metadata"]["labels"]
    assert labels["pod-security.kubernetes.io/enforce"] == "restricted"


def test_nothing_is_limited_unless_said() -> None:
    assert render_limits(["cx"], NamespaceLimits(), ORIGIN) == []


def test_every_namespace_gets_the_quota_and_the_ceiling_of_the_environment() -> None:
    limits = NamespaceLimits(quota={"pods": "50"}, container_max={"memory": "8Gi", "cpu": "4"})
    quota, ceiling = render_limits(["cx"], limits, ORIGIN)
    assert (quota.role, quota.manifest["spec"]) == ("namespace-cx-quota", {"hard": {"pods": "50"}})
    assert quota.manifest["metadata"]["namespace"] == "cx"
    assert ceiling.manifest["kind"] == "LimitRange"
    assert ceiling.manifest["spec"] == {
        "limits": [{"type": "Container", "max": {"cpu": "4", "memory": "8Gi"}}]
    }
