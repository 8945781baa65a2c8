"""What we write for Prometheus, before Prometheus' own tool: our alerts, and those of agents."""

import json
from pathlib import Path

import pytest
from holdfast.manifest.fleet.loader import load_fleet
from holdfast.render.fleet import render_fleet
from holdfast.render.objects.metric_names import percent, tokens, tool_calls, tool_successes
from holdfast.render.plan.planning import plan_fleet

from tests.e2e.promtool import ROOT, promtool

pytestmark = pytest.mark.e2e

RULES = ROOT / "monitoring" / "holdfast.rules.yaml"


def test_alerts_on_holdfast_fire_when_they_should_and_not_otherwise() -> None:
    promtool("check", "rules", "--lint=all", "--lint-fatal", RULES)
    promtool("test", "rules", RULES.with_name("holdfast.rules.test.yaml"))


def test_a_fault_in_a_rule_is_seen(tmp_path: Path) -> None:
    faulty = tmp_path / "faulty.yaml"
    faulty.write_text(RULES.read_text().replace("sum by (stack) (", "sum by (stack) ((", 1))
    with pytest.raises(AssertionError, match="could not parse expression"):
        promtool("check", "rules", faulty)


def test_rules_that_agents_declare_are_accepted(tmp_path: Path) -> None:
    golden = ROOT / "tests" / "golden"
    rendered = render_fleet(plan_fleet(load_fleet(golden, "full"), "full"))
    rules = [item.manifest for item in rendered if item.manifest["kind"] == "PrometheusRule"]
    assert rules
    for number, each in enumerate(rules):
        file = tmp_path / f"{number}.yaml"
        file.write_text(json.dumps(each["spec"]))
        promtool("check", "rules", "--lint=all", "--lint-fatal", file)


PODS = 'namespace="cx"'
NEWER, OLDER = "gen_ai_execute_tool_duration_seconds", "gen_ai_client_operation_duration_seconds"
INPUT, OUTPUT = (f"gen_ai_client_inference_usage_{of}_tokens_total" for of in ("input", "output"))
USAGE = "gen_ai_client_token_usage_sum"


def calls(metric: str, pod: str, succeeded: int, failed: int) -> dict[str, str]:
    """Series of tool calls: how many a minute succeed and fail."""
    labels = f'namespace="cx",pod="{pod}",gen_ai_tool_name="get"'
    if metric == OLDER:
        labels += ',gen_ai_operation_name="execute_tool"'
    return {
        f"{metric}_count{{{labels}}}": f"0+{succeeded}x20",
        f'{metric}_count{{{labels},error_type="timeout"}}': f"0+{failed}x20",
    }


def used(metric: str, pod: str, each_minute: int, labels: str = "") -> dict[str, str]:
    """Series of tokens."""
    return {f'{metric}{{namespace="cx",pod="{pod}"{labels}}}': f"0+{each_minute}x20"}


GENERATIONS: dict[str, tuple[dict[str, str], dict[str, float | None]]] = {
    "older names": (
        calls(OLDER, "a", 90, 10) | used(USAGE, "a", 30, ',gen_ai_token_type="input"'),
        {"calls": 1000, "success": 90, "tokens": 300},
    ),
    "newer names": (
        calls(NEWER, "a", 90, 10) | used(INPUT, "a", 20) | used(OUTPUT, "a", 10),
        {"calls": 1000, "success": 90, "tokens": 300},
    ),
    "both of one pod, counted once": (
        calls(NEWER, "a", 90, 10)
        | calls(OLDER, "a", 90, 10)
        | used(INPUT, "a", 20)
        | used(OUTPUT, "a", 10)
        | used(USAGE, "a", 30),
        {"calls": 1000, "success": 90, "tokens": 300},
    ),
    "one of each pod, in the middle of a rollout": (
        calls(NEWER, "a", 100, 0)
        | calls(OLDER, "b", 0, 100)
        | used(INPUT, "a", 20)
        | used(USAGE, "b", 30),
        {"calls": 2000, "success": 50, "tokens": 500},
    ),
    "every newer call fails, and an older success is not of it": (
        {name: value for name, value in calls(NEWER, "a", 0, 10).items() if "error_type" in name}
        | calls(OLDER, "a", 90, 10),
        {"calls": 100, "success": 0},
    ),
    "input without output, as embeddings have it": (used(INPUT, "a", 7), {"tokens": 70}),
    "calls of a model are no tool calls": (
        {
            f'{OLDER}_count{{namespace="cx",pod="a",gen_ai_operation_name="chat"}}': "0+50x20",
        },
        {"calls": None, "success": None},
    ),
    "another namespace": (
        {each.replace('"cx"', '"other"'): of for each, of in calls(NEWER, "a", 9, 1).items()},
        {"calls": None, "success": None},
    ),
}


@pytest.mark.parametrize("name", GENERATIONS)
def test_both_generations_of_names_are_read_and_counted_once(name: str, tmp_path: Path) -> None:
    series, expected = GENERATIONS[name]
    over = ("increase", PODS, "10m")
    queries = {
        "calls": tool_calls(*over),
        "success": percent(tool_successes(*over), tool_calls(*over)),
        "tokens": tokens(*over),
    }
    questions = [
        {
            "expr": queries[each],
            "eval_time": "15m",
            "exp_samples": [] if value is None else [{"labels": "{}", "value": value}],
        }
        for each, value in expected.items()
    ]
    scene = {
        "interval": "1m",
        "input_series": [{"series": each, "values": values} for each, values in series.items()],
        "promql_expr_test": questions,
    }
    file = tmp_path / "generations.test.yaml"
    file.write_text(json.dumps({"rule_files": [], "tests": [scene]}))
    promtool("test", "rules", file)
