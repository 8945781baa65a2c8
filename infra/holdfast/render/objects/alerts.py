"""Alerts on burning error budgets: the rules of an agent's service level objectives.

A budget is what may go wrong in the window: 0.5 % of requests at an availability of 99.5 %. It
burns at rate 1 when it is used up just at the window's end. Each alert evaluates a long and a short
time: the long one says that it matters, the short one that it goes on.

Source: Google, The Site Reliability Workbook, chapter 5, "Multiwindow, Multi-Burn-Rate Alerts";
the factors there are for 30 days and are scaled here to the window.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Final

from holdfast.kube.objects import KubeObject
from holdfast.manifest.agent.slo import ServiceObjectives
from holdfast.render.objects import metric_names

_WORKBOOK_DAYS: Final = 30
RATIO: Final = "holdfast_agent:slo_errors:ratio_rate"
"""Recorded share of bad events; the time it is taken over is appended, such as `5m`."""


@dataclass(frozen=True, slots=True)
class _Burn:
    """One alert: which share of the budget is used up in the long time when it fires."""

    long: str
    short: str
    factor: float
    severity: str
    wait: str


_BURNS: Final = (
    _Burn("1h", "5m", 14.4, "critical", "2m"),
    _Burn("6h", "30m", 6, "critical", "15m"),
    _Burn("3d", "6h", 1, "warning", "1h"),
)
_TIMES: Final = ("5m", "30m", "1h", "6h", "3d")


@dataclass(frozen=True, slots=True)
class _Objective:
    """One objective.

    Attributes:
        name: As it stands in labels.
        target: Share of good events in percent.
        bad: PromQL of the rate of bad events, with TIME for the time it is taken over.
        all: PromQL of the rate of all events.
        words: What goes wrong.
    """

    name: str
    target: float
    bad: str
    all: str
    words: str


def objective_rules(
    objectives: ServiceObjectives, pods: str, labels: dict[str, str]
) -> tuple[list[KubeObject], list[KubeObject]]:
    """Recording rules and alerts of an agent's objectives.

    Args:
        objectives: What it promises.
        pods: Matcher that selects its series, such as `namespace="a",holdfast_dev_agent="b"`.
        labels: Labels of every rule.
    """
    records: list[KubeObject] = []
    alerts: list[KubeObject] = []
    for each in _objectives(objectives, pods):
        marked = labels | {"slo": each.name}
        for time in _TIMES:
            ratio = f"({each.bad} or vector(0)) / ({each.all} > 0)".replace("TIME", time)
            records.append({"record": f"{RATIO}{time}", "expr": ratio, "labels": marked})
        alerts += [_alert(each, burn, objectives, marked) for burn in _BURNS]
    return records, alerts


def _alert(
    objective: _Objective, burn: _Burn, objectives: ServiceObjectives, labels: dict[str, str]
) -> KubeObject:
    # A longer window has the larger budget: the same share of it burns faster.
    factor = burn.factor * objectives.window_days / _WORKBOOK_DAYS
    budget = 1 - objective.target / 100
    # A rate of errors cannot exceed 1: an alert beyond that would never fire.
    threshold = min(factor * budget, 0.99)
    matcher = ",".join(f'{name}="{value}"' for name, value in sorted(labels.items()))
    expression = " and ".join(
        f"{RATIO}{time}{{{matcher}}} > {threshold:.6g}" for time in (burn.long, burn.short)
    )
    annotations = {
        "summary": f"{labels['agent']}: {objective.words}; the error budget of "
        f"{objectives.window_days} days burns {factor:.3g} times too fast",
        "description": f"objective {objective.name} is {objective.target:g} %; evaluated over "
        f"{burn.long} and {burn.short}",
    }
    if objectives.runbook_url:
        annotations["runbook_url"] = objectives.runbook_url
    return {
        "alert": "AgentErrorBudgetBurns",
        "expr": expression,
        "for": burn.wait,
        "labels": labels | {"severity": burn.severity, "long_window": burn.long},
        "annotations": annotations,
    }


def _objectives(objectives: ServiceObjectives, pods: str) -> Iterator[_Objective]:
    requests = _rate(metric_names.REQUESTS, pods)
    if objectives.availability is not None:
        failed = _rate(metric_names.REQUESTS, pods, metric_names.FAILED_REQUESTS)
        words = "requests fail"
        yield _Objective("availability", objectives.availability, failed, requests, words)
    if objectives.latency is not None:
        seconds = objectives.latency.threshold_ms / 1000
        fast = _rate(metric_names.REQUEST_BUCKETS, pods, f'le="{seconds:g}"')
        words = f"requests take longer than {objectives.latency.threshold_ms} ms"
        slow = f"({requests} - {fast})"
        yield _Objective("latency", objectives.latency.target, slow, requests, words)
    if objectives.tool_success is not None:
        calls = metric_names.tool_calls("rate", pods, "TIME")
        good = metric_names.tool_successes("rate", pods, "TIME")
        bad = f"({calls} - ({good} or vector(0)))"
        yield _Objective("tool-success", objectives.tool_success, bad, calls, "tool calls fail")


def _rate(metric: str, *matchers: str) -> str:
    return f"sum(rate({metric}{{{','.join(matchers)}}}[TIME]))"
