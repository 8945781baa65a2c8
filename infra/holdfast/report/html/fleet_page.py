"""A fleet as one HTML page: what needs attention first, then all of it, and what is not checked."""

from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from typing import Any, Final

from holdfast.drift.finding import AgentState, Severity
from holdfast.drift.record.finding_history import short_duration
from holdfast.kube.scalars import parse_timestamp
from holdfast.kube.text import safe_text
from holdfast.kube.workload_status import Health
from holdfast.operations.deploy.recorder import changes_in_words
from holdfast.operations.describe.fleet import FleetAgent, FleetReport, OpenDrift
from holdfast.report.html.page import page
from holdfast.report.html.stack_view import StackView
from holdfast.report.html.team_map import CARD_WIDTH
from holdfast.report.html.topology_drawing import BOX_HEIGHT, BOX_WIDTH
from holdfast.report.text.fleet_summary import verdict_of

TEMPLATE: Final = "fleet.html"

MOST_UNFOLDED: Final = 20
MOST_REFERENCES: Final = 200
MOST_UNSEEN: Final = 50
_LONGEST_VALUE: Final = 90
_SYNC_MARKS: Final = {
    AgentState.SYNCED: "✓",
    AgentState.OUT_OF_SYNC: "≠",
    AgentState.UNKNOWN: "?",
}
_HEALTH_MARKS: Final = {
    Health.HEALTHY: "✓",
    Health.PROGRESSING: "◐",
    Health.UNKNOWN: "?",
    Health.DEGRADED: "✕",
}
_CONCERNS: Final = {
    "drift": "Drifted",
    "health": "Not healthy",
    "policy": "Refused by policy",
    "unknown": "Not known",
}
_KINDS: Final = {
    "Agent": "agent",
    "MCPServer": "tool server",
    "ModelConfig": "model",
    "Service": "service",
    "Address": "address",
    "Gateway": "gateway",
    "Namespace": "namespace",
}


def fleet_page(report: FleetReport) -> str:
    """The whole page, ending in a line end."""
    parts: dict[str, Any] = {
        "report": report,
        "verdict": verdict_of(report.stacks),
        "stacks": [StackView(stack, at) for at, stack in enumerate(report.stacks, 1)],
        "severities": [each for each in Severity if each is not Severity.INFO],
        "sync_marks": _SYNC_MARKS,
        "health_marks": _HEALTH_MARKS,
        "agent_states": tuple(AgentState),
        "healths": tuple(Health),
        "concerns": [
            (name, words, sum(name in each.concerns for each in report.agents))
            for name, words in _CONCERNS.items()
        ],
        "kinds": _KINDS,
        "sizes": {"width": BOX_WIDTH, "height": BOX_HEIGHT, "card": CARD_WIDTH},
        "limits": {"references": MOST_REFERENCES, "unseen": MOST_UNSEEN, "findings": MOST_UNFOLDED},
    }
    return page(TEMPLATE, parts, _FILTERS)


def _when(moment: str) -> str:
    """A moment as people read it, to the minute."""
    try:
        return parse_timestamp(moment).strftime("%Y-%m-%d %H:%M")
    except ValueError:
        return safe_text(moment)


def _age(moment: str, now: str) -> str:
    """How long ago it was; empty when that is not known."""
    try:
        seconds = int((parse_timestamp(now) - parse_timestamp(moment)).total_seconds())
    except ValueError:
        return ""
    return f"{short_duration(seconds)} ago" if seconds >= 0 else ""


def _oldest(drift: Sequence[OpenDrift]) -> str:
    seen = [each.history for each in drift if each.history is not None]
    return max(seen, key=lambda each: each.age_seconds).age if seen else ""


def _problems(agents: Sequence[FleetAgent]) -> list[tuple[str, str, int]]:
    """Words, tone and number of what is the matter in a group, and of what is fine."""
    concerns = Counter(concern for each in agents for concern in each.concerns)
    fine = sum(not each.concerns for each in agents)
    listed = [
        ("≠ drifted", "high", concerns["drift"]),
        ("✕ not healthy", "critical", concerns["health"]),
        ("✕ refused", "high", concerns["policy"]),
        ("? not known", "unknown", concerns["unknown"]),
        ("✓ fine", "fine", fine),
    ]
    return [(words, tone, count) for words, tone, count in listed if count]


_TONES: Final = {
    AgentState.SYNCED: "fine",
    AgentState.OUT_OF_SYNC: "high",
    AgentState.UNKNOWN: "unknown",
    Health.HEALTHY: "fine",
    Health.PROGRESSING: "medium",
    Health.UNKNOWN: "unknown",
    Health.DEGRADED: "critical",
}


def _tone(of: AgentState | Health | FleetAgent) -> str:
    """Class of the colour in which something is shown."""
    if not isinstance(of, FleetAgent):
        return _TONES[of]
    if of.worst is not None:
        return of.worst.value
    for concern, tone in (("health", "medium"), ("policy", "high"), ("unknown", "unknown")):
        if concern in of.concerns:
            return "critical" if of.health.health is Health.DEGRADED else tone
    return "fine"


_FILTERS: Final[Mapping[str, Callable[..., Any]]] = {
    "safe_text": safe_text,
    "when": _when,
    "age": _age,
    "short": lambda text: safe_text(text, _LONGEST_VALUE),
    "changes": changes_in_words,
    "tone": _tone,
    "oldest": _oldest,
    "problems": _problems,
}
"""What the template calls words for values by."""
