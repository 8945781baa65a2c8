"""All agents at a glance: which are in sync, which not, and of which nothing can be said. Pure."""

from collections import Counter
from collections.abc import Collection, Iterable, Mapping
from typing import Any, Final

from holdfast.drift.finding import AgentState, AgentStatus, DriftReport
from holdfast.kube.objects import Identity, mapping_at, reference_of
from holdfast.manifest.types.agent_label import agent_of

TEAM_LABEL: Final = "holdfast.dev/owner"


def agents_of(
    desired: Iterable[Mapping[str, Any]],
    report: DriftReport,
    unread: Collection[Identity],
    *,
    is_blind: bool = False,
) -> tuple[AgentStatus, ...]:
    """State of every agent that declared objects name, sorted by name.

    Law: an agent of which an object could not be read is never in sync.

    Args:
        desired: Declared objects.
        report: What was found.
        unread: Identities that could not be looked at.
        is_blind: Nothing can be said of the stack as a whole.
    """
    drift = Counter(finding.agent for finding in report.drift)
    teams: dict[str, str] = {}
    unknown: set[str] = set()
    for one in desired:
        name = agent_of(one)
        if not name:
            continue
        team = str(mapping_at(one, "metadata", "labels").get(TEAM_LABEL) or "")
        teams[name] = teams.get(name) or team
        if unread and reference_of(one).identity in unread:
            unknown.add(name)
    return tuple(
        AgentStatus(
            name,
            teams[name],
            _state(drift[name], is_unknown=is_blind or name in unknown),
            drift[name],
        )
        for name in sorted(teams)
    )


def _state(findings: int, *, is_unknown: bool) -> AgentState:
    if findings:
        return AgentState.OUT_OF_SYNC
    return AgentState.UNKNOWN if is_unknown else AgentState.SYNCED


def by_team(agents: Iterable[AgentStatus]) -> dict[str, Counter[AgentState]]:
    """How many agents of each team are in each state."""
    teams: dict[str, Counter[AgentState]] = {}
    for agent in agents:
        teams.setdefault(agent.team, Counter())[agent.state] += 1
    return teams
