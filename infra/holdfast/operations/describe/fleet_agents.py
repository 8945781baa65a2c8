"""The agents of a stack, each with all that is known of it."""

from collections.abc import Iterable, Iterator

from holdfast.adapters.engine.update_record import UpdateRecord
from holdfast.drift.finding import AgentState
from holdfast.kube.workload_status import WorkloadState
from holdfast.manifest.agent.agent import AGENT_KIND
from holdfast.manifest.fleet.fleet import DeclaredAgent, Fleet
from holdfast.manifest.kinds.kinds import ModelConfig
from holdfast.operations.describe.fleet import FleetAgent, Replicas, open_drift
from holdfast.operations.describe.fleet_seen import Seen
from holdfast.operations.policy.heat_map import state_of
from holdfast.operations.policy.model import PolicyReport


def fleet_agents(
    fleet: Fleet,
    chosen: Iterable[DeclaredAgent],
    seen: Seen,
    updates: Iterable[UpdateRecord],
    policy: PolicyReport | None = None,
) -> Iterator[FleetAgent]:
    """Agents, and tool servers that the stack runs.

    Args:
        fleet: What they are declared among.
        chosen: Which of them are wanted.
        seen: What runs.
        updates: Of the stack, oldest first.
        policy: What the rules say of what is declared; None where that was not asked.
    """
    drift = open_drift(seen.report, seen.context)
    said = _said(policy) if policy is not None else {}
    changed: dict[str, UpdateRecord] = {}
    for record in updates:
        if record.has_succeeded:
            changed |= dict.fromkeys(record.agents or (), record)
    for agent in chosen:
        spec, live = agent.spec, seen.health_of(agent.name)
        provider, model = _model(agent, fleet)
        team = fleet.team_of(agent) if agent.kind == AGENT_KIND else None
        yield FleetAgent(
            name=agent.name,
            namespace=agent.namespace,
            type=spec.type if agent.kind == AGENT_KIND else "tool server",
            team=team.name if team else "",
            owner=spec.owner or (team.spec.owner if team else None) or "",
            version=spec.version,
            live_version=live.version,
            provider=provider,
            model_name=model,
            replicas=_replicas(agent, live.workloads),
            sync=seen.sync.get(agent.name, AgentState.UNKNOWN),
            health=live.health,
            drift=drift.get(agent.name, ()),
            policy=said.get(agent.name, {}),
            update=changed.get(agent.name),
        )


def _said(policy: PolicyReport) -> dict[str, dict[str, int]]:
    """Agent to what the rules say of its objects."""
    said: dict[str, dict[str, int]] = {}
    for each in policy.findings:
        counted = said.setdefault(each.agent, {})
        counted[state_of(each)] = counted.get(state_of(each), 0) + 1
    for judged in policy.objects:
        counted = said.setdefault(judged.agent, {})
        counted["passed"] = counted.get("passed", 0) + len(judged.passed)
    return said


def _model(agent: DeclaredAgent, fleet: Fleet) -> tuple[str, str]:
    """Provider and name."""
    model = agent.spec.model
    if model is None:
        return "", ""
    shared = fleet.find(ModelConfig, model.ref, agent.namespace) if model.ref is not None else None
    chosen = shared.spec if shared is not None else model
    return chosen.provider or "", chosen.name or ""


def _replicas(agent: DeclaredAgent, workloads: Iterable[WorkloadState]) -> Replicas:
    """As declared, and as they run now."""
    running = [each for each in workloads if each.desired is not None]
    desired = sum(each.desired or 0 for each in running) if running else None
    ready = sum(each.ready or 0 for each in running) if running else None
    if agent.spec.type == "Job":
        return Replicas(desired=desired, ready=ready)
    scaling = agent.spec.scaling
    return Replicas(scaling.fewest_replicas, scaling.most_replicas, desired, ready)
