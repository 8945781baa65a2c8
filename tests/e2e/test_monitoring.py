"""What we write for Prometheus, before Prometheus' own tool: our alerts, and those of agents."""

import json
from pathlib import Path

import pytest
from holdfast.manifest.fleet.loader import load_fleet
from holdfast.render.fleet import render_fleet
from holdfast.render.plan.declared import plan_fleet

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
