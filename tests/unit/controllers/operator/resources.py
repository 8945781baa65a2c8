"""The sample fleet as resources of a cluster, and judges that find nothing."""

from dataclasses import replace
from datetime import date
from pathlib import Path

import msgspec
from holdfast.controllers.operator.declaration import Verdicts
from holdfast.drift.exemption.ignore import IgnoreRules
from holdfast.kube.objects import KubeObject, canonical_json
from holdfast.manifest.fleet.fleet import Fleet
from holdfast.manifest.fleet.loader import load_fleet
from holdfast.manifest.stack.agent_resources import AgentResources
from holdfast.render.plan.declared import plan_fleet

CLONE = Path(__file__).resolve().parents[4]
STACK = "dev"


def declared() -> tuple[KubeObject, list[KubeObject]]:
    """The ConfigMap of the stack's settings, and the resources."""
    fleet = load_fleet(CLONE, STACK)
    mode = {"agent_resources": AgentResources(mode="expand")}
    fleet = replace(fleet, environment=fleet.environment.model_copy(update=mode))
    items = plan_fleet(fleet, STACK).resource_objects()
    resources = [msgspec.json.decode(canonical_json(item.manifest)) for item in items]
    for number, one in enumerate(resources):
        one["metadata"] |= {"uid": str(number), "generation": 1}
    [settings] = [one for one in resources if one["kind"] == "ConfigMap"]
    return settings, [one for one in resources if one is not settings]


def verdicts(_: Fleet) -> Verdicts:
    """Judges that find nothing."""
    return Verdicts(lambda _: {}, lambda _: (), IgnoreRules((), date(2026, 11, 22)))


def named(resources: list[KubeObject], name: str) -> KubeObject:
    """The resource of a name."""
    return next(one for one in resources if one["metadata"]["name"] == name)
