"""The status of teams: how many members are ready."""

from holdfast.adapters.clock import utc_now
from holdfast.controllers.operator.actor import ClusterActor
from holdfast.controllers.operator.agent_store import OWN_GROUP, AgentStore
from holdfast.errors import ClusterError
from holdfast.kube.conditions import Condition, with_times
from holdfast.kube.objects import Identity, KubeObject, mapping_at, reference_of
from holdfast.manifest.agent.agent import AGENT_KIND
from holdfast.manifest.kinds.kinds import AgentTeam


def write_team_statuses(store: AgentStore, actor: ClusterActor) -> None:
    """Write the status of every team whose members changed; what fails is written next time."""
    for team in store.of_kind(OWN_GROUP, AgentTeam.KIND):
        status = _status(team, store)
        if status == team.get("status"):
            continue
        try:
            written = actor.write_status(team, status)
        except ClusterError:
            return
        store.put(reference_of(team).identity, written)


def _status(team: KubeObject, store: AgentStore) -> KubeObject:
    namespace = str(team["metadata"]["namespace"])
    members = mapping_at(team, "spec").get("members") or []
    ready = sum(_is_ready(store, namespace, each) for each in members)
    is_ready = ready == len(members)
    condition = Condition(
        "Ready",
        "True" if is_ready else "False",
        "AllReady" if is_ready else "MembersNotReady",
        f"{ready} of {len(members)} members are ready",
    )
    before = mapping_at(team, "status").get("conditions") or ()
    generation = int(team["metadata"].get("generation") or 0)
    return {
        "observedGeneration": generation,
        "members": len(members),
        "readyMembers": ready,
        "conditions": with_times([condition], before, generation, utc_now()),
    }


def _is_ready(store: AgentStore, namespace: str, member: object) -> bool:
    """Whether a member, named alone or with its namespace, is ready."""
    if isinstance(member, dict):
        namespace, name = str(member.get("namespace") or namespace), str(member.get("name"))
    else:
        name = str(member)
    agent = store.objects.get(Identity(OWN_GROUP, AGENT_KIND, namespace, name), {})
    conditions = mapping_at(agent, "status").get("conditions") or ()
    return any(each["type"] == "Ready" and each["status"] == "True" for each in conditions)
