"""A whole fleet to its objects."""

from collections.abc import Iterable
from dataclasses import dataclass, field, replace
from typing import Literal

from holdfast.errors import RenderError
from holdfast.kube.objects import Identity, NamespacedName, reference_of
from holdfast.manifest.agent.agent import AGENT_KIND
from holdfast.manifest.stack.environment import NamespaceLimits
from holdfast.manifest.types.ordering import cycles, waves
from holdfast.render.objects.admission import AdmissionPlan, render_admission
from holdfast.render.objects.agent_resources import render_agent_resource, with_commit
from holdfast.render.objects.namespaces import render_limits, render_namespaces
from holdfast.render.objects.stack_declaration import render_declaration
from holdfast.render.plan.dependencies import needed_first
from holdfast.render.plan.metadata import Provenance, RenderedObject, revised
from holdfast.render.plan.plan import AgentPlan
from holdfast.render.plan.render_agent import render_agent


@dataclass(frozen=True)
class FleetPlan:
    """All agents of a stack, ready to be rendered.

    Attributes:
        agents: Sorted by name; after them the tool servers.
        are_namespaces_managed: Whether the stack declares the agents' namespaces.
        are_namespaces_protected: Whether deleting one of those by accident is refused.
        namespace_limits: What each of those may take.
        resource_mode: Whether agents are resources of the cluster too, and who applies their
            objects: off, observe or expand.
        shared_resources: What agents share, as such resources; empty where that is off.
        commit: What an update deploys, and says so; empty where nothing is deployed by this plan.
        admission: The rules that the cluster is held to; None where the stack does not say.
    """

    agents: tuple[AgentPlan, ...]
    origin: Provenance
    are_namespaces_managed: bool = True
    are_namespaces_protected: bool = False
    namespace_limits: NamespaceLimits = field(default_factory=NamespaceLimits)
    resource_mode: Literal["off", "observe", "expand"] = "off"
    shared_resources: tuple[RenderedObject, ...] = ()
    commit: str = ""
    admission: AdmissionPlan | None = None

    @property
    def namespaces(self) -> set[str]:
        """Where the stack has objects."""
        shared = {item.manifest["metadata"]["namespace"] for item in self.shared_resources}
        return shared | {agent.meta.namespace for agent in self.agents}

    def namespace_objects(self) -> tuple[RenderedObject, ...]:
        """The namespaces that the stack declares; none when they exist already."""
        if not self.are_namespaces_managed:
            return ()
        return tuple(
            # A deleted namespace takes its claims along, also those of agents removed long ago, and
            # what others have in it.
            replace(revised(item), is_retained=True, is_protected=self.are_namespaces_protected)
            for item in render_namespaces(self.namespaces, self.origin)
        )

    def limit_objects(self) -> tuple[RenderedObject, ...]:
        """What holds the declared namespaces to their limits."""
        if not self.are_namespaces_managed:
            return ()
        limits = render_limits(self.namespaces, self.namespace_limits, self.origin)
        return tuple(revised(item) for item in limits)

    def resource_objects(self) -> tuple[RenderedObject, ...]:
        """Agents and what they share as resources of the cluster; none where that is off.

        The first names all that an operator believes; the last says that all of it is there.
        """
        if self.resource_mode == "off":
            return ()
        is_expanded = self.resource_mode == "expand"
        agents = (
            render_agent_resource(each, is_expanded=is_expanded)
            for each in self.agents
            if each.kind == AGENT_KIND
        )
        shared = tuple(with_commit(item, self.commit) for item in self.shared_resources)
        resources = (*shared, *agents)
        declared, deployed = render_declaration(resources, self.resource_mode, self.origin.stack)
        return (declared, *resources, deployed)

    def start_needs(self) -> dict[NamespacedName, tuple[NamespacedName, ...]]:
        """Agent to the agents and tool servers of the fleet that must be up before it starts."""
        places = {agent.place for agent in self.agents}
        needed = {
            agent.place: needed_first(agent.meta, agent.spec, agent.context)
            for agent in self.agents
        }
        return {
            place: tuple(dict.fromkeys(each.place for each in peers if each.place in places))
            for place, peers in needed.items()
        }

    def in_start_order(self) -> list[AgentPlan]:
        """The agents, each after those that it needs.

        Raises:
            RenderError: agents wait for one another.
        """
        needs = self.start_needs()
        if found := cycles(needs):
            way = " -> ".join(name for _, name in [*found[0], found[0][0]])
            raise RenderError(
                f"agents wait for one another: {way}", remedy="remove one of these dependencies"
            )
        agents = {agent.place: agent for agent in self.agents}
        return [agents[place] for wave in waves(needs) for place in wave]


def render_fleet(plan: FleetPlan) -> tuple[RenderedObject, ...]:
    """Every object of a stack: namespaces first, then agent by agent.

    Law: equal plans give equal objects, byte for byte, whatever the order of the files.

    Raises:
        RenderError: two agents would have an object of one name, or one of them cannot be rendered.
    """
    return _rendered(plan, plan.agents)


def render_delivered(plan: FleetPlan) -> tuple[RenderedObject, ...]:
    """What somebody has to deliver of a stack: in mode expand the operator makes agents' objects.

    Raises:
        RenderError: as above.
    """
    if plan.resource_mode != "expand":
        return render_fleet(plan)
    return _rendered(plan, (each for each in plan.agents if each.kind != AGENT_KIND))


def _rendered(plan: FleetPlan, agents: Iterable[AgentPlan]) -> tuple[RenderedObject, ...]:
    rendered = (
        *plan.namespace_objects(),
        *plan.limit_objects(),
        *plan.resource_objects(),
        *(render_admission(plan.admission) if plan.admission else ()),
        *(item for agent in agents for item in render_agent(agent)),
    )
    _refuse_shared_names(rendered)
    return rendered


def _refuse_shared_names(rendered: Iterable[RenderedObject]) -> None:
    """Agent `x` with a volume `y-data` and agent `x-y` with a volume `data` mean one claim."""
    owners: dict[Identity, str] = {}
    for item in rendered:
        ref = reference_of(item.manifest)
        owner = owners.setdefault(ref.identity, item.agent)
        if owner != item.agent:
            raise RenderError(
                f"agents {owner} and {item.agent} would both have {ref}",
                remedy="rename one of the agents, or the volume or configuration entry",
            )
