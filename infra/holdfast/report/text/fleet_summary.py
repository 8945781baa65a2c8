"""A fleet in a sentence and in lines: what a person should know before anything else."""

from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from holdfast.drift.finding import AgentState, Severity
from holdfast.kube.text import counted, safe_text
from holdfast.kube.workload_status import Health
from holdfast.operations.describe.fleet import FleetAgent, FleetReport, FleetStack, worst_first


@dataclass(frozen=True)
class FleetVerdict:
    """The fleet in a word and a sentence.

    Attributes:
        tone: Severity, `fine` or `unknown`: never fine while something was not checked.
        word: Such as `Drifted`.
        sentence: What stands at the top of the page.
    """

    tone: str
    word: str
    sentence: str


def verdict_of(stacks: Sequence[FleetStack]) -> FleetVerdict:
    """What comes first, of one stack or several.

    Law: it is fine only when everything was checked and all of it is as declared, healthy and
    compliant.
    """
    agents = [agent for stack in stacks for agent in stack.agents]
    total = len(agents)
    concerns = Counter(concern for each in agents for concern in each.concerns)
    severities = Counter(each.severity for stack in stacks for each in stack.drift.drift)
    worst = next((each for each in Severity if severities[each]), None)
    refused = sum(stack.refused for stack in stacks)
    is_complete = not any(stack.not_checked for stack in stacks)
    unseen = "" if is_complete else ", and not everything could be checked"
    if worst is not None:
        count = concerns["drift"]
        who = f"{count} of {counted(total, 'agent')} drifted" if count else "The fleet drifted"
        return FleetVerdict(worst.value, "Drifted", f"{who}, the worst {worst.value}{unseen}")
    if refused:
        what = f"{counted(refused, 'mandatory rule')} broken by what is declared"
        return FleetVerdict("high", "Not compliant", f"{what}{unseen}")
    if concerns["health"]:
        tone = "critical" if any(each.health.health is Health.DEGRADED for each in agents) else ""
        who = f"{concerns['health']} of {counted(total, 'agent')} not healthy"
        return FleetVerdict(tone or "medium", "Not healthy", f"{who}{unseen}")
    if unseen or concerns["unknown"]:
        who = f"{concerns['unknown']} of {counted(total, 'agent')} not known"
        is_partly = not concerns["unknown"]
        sentence = "Not everything could be checked" if is_partly else f"{who}{unseen}"
        return FleetVerdict("unknown", "Not known", sentence)
    if not agents:
        return FleetVerdict("unknown", "Empty", "No agent is declared")
    who = "1 agent is" if total == 1 else f"All {total} agents are"
    return FleetVerdict("fine", "In sync", f"{who} in sync, healthy and compliant")


def fleet_text(report: FleetReport) -> str:
    """A few lines a stack and one for each agent that needs a look; ending in a line end."""
    lines = [f"{report.project}: {verdict_of(report.stacks).sentence[:1].lower()}"]
    lines[0] += verdict_of(report.stacks).sentence[1:]
    for stack in report.stacks:
        lines += ["", *_stack_lines(stack)]
    return "\n".join(lines) + "\n"


def _stack_lines(stack: FleetStack) -> Iterator[str]:
    sync = ", ".join(f"{stack.sync[each]} {each.value}" for each in AgentState)
    health = ", ".join(f"{stack.health[each]} {each.value}" for each in Health)
    drift = ", ".join(
        f"{stack.severities[each]} {each.value}" for each in Severity if stack.severities[each]
    )
    yield f"stack {stack.name}: {counted(len(stack.agents), 'agent')}: {sync}; {health}"
    yield f"  drift: {drift or ('none' if stack.looked_at else 'not checked')}"
    yield (
        f"  policy ({stack.profile}): {stack.refused} refused, {stack.warned} warned, "
        f"{stack.newly_broken} newly broken by what runs"
    )
    for agent in worst_first(stack.agents):
        if agent.concerns:
            yield f"  {_agent_line(agent)}"
    for each in stack.not_checked:
        yield f"  not checked: {safe_text(each.scope)}: {safe_text(each.reason)}"


def _agent_line(agent: FleetAgent) -> str:
    words = [agent.sync.value, agent.health.health.value]
    if agent.worst is not None:
        words.append(f"{counted(len(agent.drift), 'finding')}, the worst {agent.worst.value}")
    if agent.oldest is not None:
        words.append(f"for {agent.oldest.age}")
    return f"{safe_text(agent.namespace)}/{safe_text(agent.name)}: {', '.join(words)}"
