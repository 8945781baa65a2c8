"""Several stacks on one page: what is behind drift on many of them, then each by itself.

A finding that a cause explains is listed with that cause and nowhere else.
"""

from collections import Counter
from collections.abc import Collection, Iterable, Iterator, Sequence

from holdfast.drift.cause.stack_causes import SharedCause, StackDrift, shared_causes
from holdfast.drift.finding import AgentState, AgentStatus, Finding
from holdfast.kube.text import safe_text, value_words
from holdfast.kube.workload_status import Health
from holdfast.report.text.drift_text import severity_colour, summary_line
from holdfast.report.text.finding_text import actor_words, headline, policy_words
from holdfast.report.text.table import styled, table

_MOST_OBJECTS_NAMED = 5
SortKey = tuple[str, str, str, str, str, str]


def stacks_text(stacks: Sequence[StackDrift], *, colour: bool = False) -> str:
    """The whole report, ending in a line end."""
    causes = shared_causes(stacks)
    listed = {(stack, finding.sort_key) for cause in causes for stack, finding in cause.findings}
    lines: list[str] = []
    for cause in causes:
        lines += [*_shared_cause(cause), ""]
    for each in stacks:
        lines += [*_stack(each, listed, colour=colour), ""]
    lines += _totals(stacks)
    return "\n".join(lines) + "\n"


def _shared_cause(cause: SharedCause) -> Iterator[str]:
    _, finding = cause.findings[0]
    value = f": {value_words(finding.live)}" if finding.live is not None else ""
    yield f"one cause: {safe_text(cause.summary, longest=400)}, {cause.first}{value}"
    for stack in cause.stacks:
        found = (finding for where, finding in cause.findings if where == stack)
        yield f"  {safe_text(stack)}: {_names(found)}"
    if finding.policies:
        yield f"  breaks {policy_words(finding)}"


def _names(findings: Iterable[Finding]) -> str:
    names = sorted({str(finding.ref) for finding in findings})
    more = len(names) - _MOST_OBJECTS_NAMED
    shown = ", ".join(names[:_MOST_OBJECTS_NAMED]) + (f" and {more} more" if more > 0 else "")
    return safe_text(shown, longest=400)


def _stack(
    each: StackDrift, listed: Collection[tuple[str, SortKey]], *, colour: bool
) -> Iterator[str]:
    title = f"stack {safe_text(each.stack)}"
    yield f"{styled(title, colour=colour)}: {summary_line(each.report)}"
    agents = [agent for agent in each.agents if not agent.is_fine]
    if agents:
        yield from table(("AGENT", "SYNC", "HEALTH", "REASON"), map(_cells, agents), "  ")
    known: set[SortKey] = set()
    for cause in each.report.causes:
        alone = [one for one in cause.findings if (each.stack, one.sort_key) not in listed]
        if alone:
            remedy = f"; {cause.remedy}" if cause.remedy else ""
            summary = safe_text(cause.summary, longest=400)
            yield f"  one cause: {summary}: {_names(cause.findings)}{remedy}"
        known |= {one.sort_key for one in cause.findings}
    for finding in each.report.drift:
        if (each.stack, finding.sort_key) not in listed and finding.sort_key not in known:
            yield from _finding(finding, colour=colour)
    for item in each.report.not_checked:
        yield f"  not checked: {safe_text(item.scope)}: {safe_text(item.reason)}"


def _cells(agent: AgentStatus) -> tuple[str, ...]:
    health = agent.health
    return agent.name, agent.state.value, health.health.value, safe_text(health.reason)


def _finding(finding: Finding, *, colour: bool) -> Iterator[str]:
    colour_name = severity_colour(finding.severity)
    severity = styled(f"{finding.severity:<8}", colour_name, colour=colour)
    yield f"  {severity}  {safe_text(str(finding.ref))}  {headline(finding)}"
    yield from (f"            by {actor_words(actor)}" for actor in finding.actors)
    if finding.policies:
        yield f"            breaks {policy_words(finding)}"


def _totals(stacks: Sequence[StackDrift]) -> Iterator[str]:
    agents = [agent for each in stacks for agent in each.agents]
    yield f"{len(stacks)} stacks, {len(agents)} agents: {_counts(agents)}"
    teams = sorted({agent.team for agent in agents})
    for team in teams if len(teams) > 1 else ():
        own = [agent for agent in agents if agent.team == team]
        if not all(agent.is_fine for agent in own):
            yield f"  team {safe_text(team or '(none)')}: {_counts(own)}"
    blind = [each.stack for each in stacks if not each.report.is_complete]
    if blind:
        yield f"INCOMPLETE: not everything could be checked on {safe_text(', '.join(blind))}"


def _counts(agents: Iterable[AgentStatus]) -> str:
    each = list(agents)
    sync, health = Counter(one.state for one in each), Counter(one.health.health for one in each)
    states = [f"{sync[state]} {state.value}" for state in AgentState if sync[state]]
    healths = [f"{health[state]} {state.value}" for state in Health if health[state]]
    return "; ".join(", ".join(part) for part in (states, healths) if part)
