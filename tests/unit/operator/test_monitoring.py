"""Dashboard and alerts ask for nothing that is not exported, and lead to a page that exists."""

import json
import re
from pathlib import Path
from typing import Any

import yaml
from holdfast.operator.metrics import OPERATOR_METRICS
from holdfast.report.drift_metrics import METRICS

CLONE = Path(__file__).resolve().parents[3]
EXPORTED = METRICS.keys() | OPERATOR_METRICS.keys()
DASHBOARD = json.loads((CLONE / "monitoring" / "holdfast.dashboard.json").read_text())
RULES: dict[str, Any] = yaml.safe_load((CLONE / "monitoring" / "holdfast.rules.yaml").read_text())
ALERTS = [rule for group in RULES["groups"] for rule in group["rules"]]
PAGE = (CLONE / "docs" / "operator.md").read_text()


def asked_for(expression: str) -> set[str]:
    names = re.findall(r"\bholdfast_[a-z_]+", expression)
    return {re.sub(r"_(bucket|sum|count)$", "", name) for name in names}


def test_every_metric_that_the_dashboard_asks_for_is_exported() -> None:
    asked = [target["expr"] for panel in DASHBOARD["panels"] for target in panel["targets"]]
    asked += [
        each["definition"] for each in DASHBOARD["templating"]["list"] if "definition" in each
    ]
    assert all(asked_for(each) for each in asked)
    assert set().union(*(asked_for(each) for each in asked)) <= EXPORTED


def test_every_metric_that_an_alert_asks_for_is_exported_and_told_of() -> None:
    for alert in ALERTS:
        assert asked_for(alert["expr"])
        assert asked_for(alert["expr"]) <= EXPORTED, alert["alert"]
        assert f"`{alert['alert']}`" in PAGE
        file, _, anchor = alert["annotations"]["runbook"].partition("#")
        assert f"### {anchor.replace('-', ' ')}" in (CLONE / file).read_text().lower()


def test_panels_have_names_of_their_own_and_do_not_overlap() -> None:
    panels = DASHBOARD["panels"]
    assert len({panel["id"] for panel in panels}) == len({panel["title"] for panel in panels})
    cells: set[tuple[int, int]] = set()
    for panel in panels:
        place = panel["gridPos"]
        own = {
            (x, y)
            for x in range(place["x"], place["x"] + place["w"])
            for y in range(place["y"], place["y"] + place["h"])
        }
        assert not own & cells
        cells |= own


def test_every_metric_of_the_operator_is_on_its_page() -> None:
    assert [name for name in OPERATOR_METRICS if f"`{name}`" not in PAGE] == []
