"""What the resources of a cluster declare, rendered: the side that is wanted.

Rendering a thousand agents takes seconds, one of them a few milliseconds: what an agent renders to
is kept until its resource changes, or something that all of them share does.
"""

import time
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Any, Final

import msgspec
from pydantic import ValidationError

from holdfast.controllers.operator.believed import Believed, TrustedDeclaration
from holdfast.drift.cause.owners import ENGINES
from holdfast.drift.context import DriftContext
from holdfast.drift.exemption.controllers import Autoscalers, Failovers, Rollouts
from holdfast.drift.exemption.ignore import IgnoreRules
from holdfast.drift.scan import DriftJudge
from holdfast.drift.severity import RuleJudge
from holdfast.errors import InputError, RenderError
from holdfast.kube.objects import KubeObject, NamespacedName, mapping_at
from holdfast.kube.structure import TypeTable
from holdfast.manifest.agent.agent import AGENT_KIND
from holdfast.manifest.fleet.fleet import DeclaredAgent, Fleet
from holdfast.manifest.fleet.resource_fleet import (
    ReadResource,
    ResourceFleet,
    fleet_of_resources,
    read_resource,
)
from holdfast.manifest.fleet.tool_lock import ToolLock, tool_lock_of
from holdfast.manifest.stack.environment import Environment
from holdfast.manifest.types.marks import COMMIT
from holdfast.render.objects.agent_resources import LOCK_KEY, SETTINGS_KEY
from holdfast.render.plan.metadata import RenderedObject
from holdfast.render.plan.plan import AgentPlan
from holdfast.render.plan.planning import plan_fleet
from holdfast.render.plan.render_agent import render_agent

NOTHING_BELIEVED: Final = Believed(TrustedDeclaration(is_deployed=True))
_SLUGS: Final = {"Argo CD": "argo-cd", "Flux": "flux"}
_NO_SETTINGS: Final = "the settings of the stack are not there"


@dataclass(frozen=True)
class Verdicts:
    """What the policy pack and the rules on expected drift log, for one fleet.

    Attributes:
        judge: Which rules a live object breaks.
        broken: Names of the mandatory rules that a declared object breaks and no exception waives.
        ignore: Drift that is expected.
    """

    judge: RuleJudge
    broken: Callable[[Mapping[str, Any]], tuple[str, ...]]
    ignore: IgnoreRules


VerdictsFor = Callable[[Fleet], Verdicts]
"""Makes the judges of a fleet."""


@dataclass(frozen=True)
class Settings:
    """Settings of the stack, as its ConfigMap has them."""

    environment: Environment = field(default_factory=Environment)
    tool_lock: ToolLock = field(default_factory=ToolLock)
    commit: str = ""


@dataclass(frozen=True)
class ResourceDeclaration:
    """Everything that is wanted.

    Attributes:
        rendered: Agent to its objects.
        unresolved: Agent to what it needs and is not there.
        judge: Compares live objects with the rendered ones.
        believed: The resources that count, and those that do not.
        update_until: Monotonic time after which an update under way counts as given up.
    """

    settings: Settings
    resources: ResourceFleet
    rendered: Mapping[NamespacedName, tuple[RenderedObject, ...]]
    unresolved: Mapping[NamespacedName, tuple[str, ...]]
    verdicts: Verdicts
    judge: DriftJudge
    believed: Believed = NOTHING_BELIEVED
    update_until: float = float("inf")

    def is_updating(self, place: NamespacedName) -> bool:
        """Whether an update may still write an agent's objects.

        Only the deployer can make it so, and not for longer than `UPDATE_SECONDS`.
        """
        declaration = self.believed.declaration
        is_open = not declaration.is_deployed or self.believed.is_pending(place)
        return is_open and time.monotonic() < self.update_until

    @property
    def engines(self) -> frozenset[str]:
        """GitOps engines that deliver the stack, as its settings or its declaration say."""
        named = self.settings.environment.controllers
        listed = (manager for manager, engine in ENGINES.items() if _SLUGS[engine] in named)
        return frozenset({*listed, self.believed.declaration.engine} - {""})

    def stays(self, place: NamespacedName) -> bool:
        """Whether the deployer declares an agent and does not take the stack away."""
        declaration = self.believed.declaration
        is_declared = f"{AGENT_KIND} {place[0]}/{place[1]}" in declaration.resources
        return is_declared and not declaration.is_leaving

    @property
    def altered(self) -> Mapping[NamespacedName, KubeObject]:
        """Agents that others than the deployer have altered or deleted, as they were deployed."""
        return {} if self.believed.declaration.is_leaving else self.believed.altered_agents()

    @property
    def mode(self) -> str:
        """Who applies the agents' objects: observe or expand; off before anybody said."""
        return self.settings.environment.agent_resources.mode

    def knows(self, place: NamespacedName) -> bool:
        """Whether an agent was there when everything was read."""
        return place in self.rendered or place in self.unresolved or place in self.resources.invalid

    @cached_property
    def agents(self) -> Mapping[NamespacedName, DeclaredAgent]:
        """Valid agents."""
        return {(each.namespace, each.name): each for each in self.resources.fleet.agents}


def read_settings(config_map: Mapping[str, Any] | None) -> Settings:
    """Settings of a stack.

    Raises:
        InputError: they are not there, or not what `pulumi up` wrote.
    """
    if config_map is None:
        raise InputError(_NO_SETTINGS, remedy="run `pulumi up` with holdfast:agentResources")
    data = mapping_at(config_map, "data")
    try:
        environment = Environment.model_validate_json(str(data.get(SETTINGS_KEY) or ""))
    except ValidationError as error:
        raise InputError(
            f"{SETTINGS_KEY} holds no settings ({error.error_count()} errors)",
            remedy="run `pulumi up` with this version of Holdfast",
        ) from error
    commit = str(mapping_at(config_map, "metadata", "annotations").get(COMMIT) or "")
    return Settings(environment, tool_lock_of(str(data.get(LOCK_KEY) or "")), commit)


class _RecordedPorts(Mapping[NamespacedName, int]):
    """Ports of agents, and which of them were asked for: what a rendering knows of the others."""

    def __init__(self, ports: Mapping[NamespacedName, int]) -> None:
        self._ports = ports
        self.answers: dict[NamespacedName, int | None] = {}

    def __getitem__(self, place: NamespacedName) -> int:
        self.answers[place] = self._ports.get(place)
        return self._ports[place]

    def __iter__(self) -> Iterator[NamespacedName]:
        for place in self._ports:
            self.answers[place] = self._ports[place]
            yield place

    def __len__(self) -> int:
        return len(self._ports)


@dataclass(frozen=True)
class _Kept:
    """What an agent was rendered to, and what was known of it and of others then."""

    fingerprint: object
    answers: Mapping[NamespacedName, int | None]
    items: tuple[RenderedObject, ...]

    def holds_among(self, ports: Mapping[NamespacedName, int]) -> bool:
        return all(ports.get(place) == port for place, port in self.answers.items())


class Renderer:
    """Renders what is declared; keeps what did not change."""

    def __init__(
        self,
        stack: str,
        verdicts_for: VerdictsFor,
        find_types: Callable[[], Sequence[TypeTable]] = tuple,
    ) -> None:
        """Prepare to render.

        Args:
            stack: Name of the stack.
            verdicts_for: Judges for a fleet.
            find_types: Types of the custom resources that are watched.
        """
        self._stack = stack
        self._verdicts_for = verdicts_for
        self._find_types = find_types
        self._shared: object = None
        self._kept: dict[NamespacedName, _Kept] = {}
        self._read: dict[tuple[str, ...], ReadResource] = {}

    def declaration(
        self,
        settings: Settings,
        resources: Iterable[KubeObject],
        believed: Believed = NOTHING_BELIEVED,
        update_until: float = float("inf"),
    ) -> ResourceDeclaration:
        """Everything that resources declare now; the other arguments as of the result."""
        listed = {_fingerprint(each): each for each in resources}
        self._read = {
            fingerprint: self._read.get(fingerprint) or read_resource(each)
            for fingerprint, each in listed.items()
        }
        read = fleet_of_resources(
            self._read.values(), settings.environment, self._stack, settings.tool_lock
        )
        plan = plan_fleet(read.fleet, self._stack, read.unresolved)
        prints = {_place(each): key for key, each in listed.items() if _is_agent(each)}
        read = replace(read, invalid={**read.invalid, **believed.strangers})
        self._forget_unless_shared(settings, listed)
        unresolved = dict(read.unresolved)
        rendered: dict[NamespacedName, tuple[RenderedObject, ...]] = {}
        for each in plan.agents:
            if each.kind != AGENT_KIND:
                continue
            try:
                rendered[each.place] = self._rendered(each, prints.get(each.place))
            except RenderError as error:
                unresolved[each.place] = (str(error),)
        self._kept = {place: kept for place, kept in self._kept.items() if place in rendered}
        objects = [item.manifest for items in rendered.values() for item in items]
        verdicts = self._verdicts_for(read.fleet)
        context = DriftContext(
            autoscalers=Autoscalers(objects),
            custom_types=self._find_types(),
            ignore=verdicts.ignore,
            judge=verdicts.judge,
            rollouts=Rollouts(objects),
            failovers=Failovers(objects),
            controllers=frozenset(settings.environment.controllers),
        )
        judge = DriftJudge(objects, context, self._stack)
        return ResourceDeclaration(
            settings, read, rendered, unresolved, verdicts, judge, believed, update_until
        )

    def _rendered(self, plan: AgentPlan, fingerprint: object) -> tuple[RenderedObject, ...]:
        kept = self._kept.get(plan.place)
        ports = plan.context.ports
        if kept is not None and kept.fingerprint == fingerprint and kept.holds_among(ports):
            return kept.items
        asked = _RecordedPorts(ports)
        items = render_agent(replace(plan, context=replace(plan.context, ports=asked)))
        self._kept[plan.place] = _Kept(fingerprint, dict(asked.answers), items)
        return items

    def _forget_unless_shared(
        self, settings: Settings, resources: Mapping[tuple[str, ...], KubeObject]
    ) -> None:
        """Forget everything when what agents share has changed."""
        others = sorted(key for key, each in resources.items() if not _is_agent(each))
        shared = (settings.environment, others)
        if shared != self._shared:
            self._kept.clear()
            self._shared = shared


def fingerprint_of(resource: Mapping[str, Any]) -> object:
    """Changes when what a resource declares does, and not with its status."""
    return _fingerprint(resource)


def _fingerprint(resource: Mapping[str, Any]) -> tuple[str, ...]:
    metadata = resource["metadata"]
    meta = {key: metadata.get(key) for key in ("labels", "annotations", "finalizers")}
    if "data" in resource:
        meta["data"] = resource["data"]  # a ConfigMap has no generation
    return (
        str(resource["kind"]),
        str(metadata.get("namespace")),
        str(metadata["name"]),
        str(metadata.get("uid")),
        str(metadata.get("generation")),
        str(metadata.get("deletionTimestamp")),
        msgspec.json.encode(meta, order="sorted").decode(),
    )


def _is_agent(resource: Mapping[str, Any]) -> bool:
    return str(resource["kind"]) == AGENT_KIND


def _place(resource: Mapping[str, Any]) -> NamespacedName:
    return str(resource["metadata"]["namespace"]), str(resource["metadata"]["name"])
