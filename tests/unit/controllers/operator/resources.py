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
from holdfast.manifest.kinds.kinds import KINDS
from holdfast.manifest.stack.agent_resources import AgentResources
from holdfast.render.objects.stack_declaration import render_declaration
from holdfast.render.plan.metadata import RenderedObject
from holdfast.render.plan.planning import plan_fleet

CLONE = Path(__file__).resolve().parents[4]
STACK = "dev"


def declared() -> tuple[KubeObject, list[KubeObject]]:
    """The ConfigMap of the stack's settings, and the resources of manifests."""
    every = deployed()
    [settings] = [one for one in every if one["kind"] == "ConfigMap"]
    return settings, [one for one in every if one["kind"] in KINDS]


def deployed() -> list[KubeObject]:
    """Everything that an update writes for the operator, the declaration itself included."""
    fleet = load_fleet(CLONE, STACK)
    mode = {"agent_resources": AgentResources(mode="expand")}
    fleet = replace(fleet, environment=fleet.environment.model_copy(update=mode))
    items = plan_fleet(fleet, STACK).resource_objects()
    resources = [msgspec.json.decode(canonical_json(item.manifest)) for item in items]
    for number, one in enumerate(resources):
        one["metadata"] |= {"uid": str(number), "generation": 1}
    return resources


def declare_again(resources: list[KubeObject]) -> list[KubeObject]:
    """The declaration of resources as they are now, and the mark that they are deployed."""
    counting = [one for one in resources if "namespace" in one["metadata"]]
    items = render_declaration((RenderedObject("", "", one) for one in counting), "expand", STACK)
    return [msgspec.json.decode(canonical_json(item.manifest)) for item in items]


def verdicts(_: Fleet) -> Verdicts:
    """Judges that find nothing."""
    return Verdicts(lambda _: {}, lambda _: (), IgnoreRules((), date(2026, 11, 22)))


def named(resources: list[KubeObject], name: str) -> KubeObject:
    """The resource of a name."""
    return next(one for one in resources if one["metadata"]["name"] == name)
