"""Dashboard and alerts ask for nothing that is not exported, and lead to a page that exists."""

import json
import re
from pathlib import Path
from typing import Any

import yaml
from holdfast.controllers.gitops.loop_state import METRICS as LOOP_METRICS
from holdfast.controllers.operator.metrics import OPERATOR_METRICS
from holdfast.report.exchange.prometheus import METRICS
from jsonschema import Draft202012Validator

CLONE = Path(__file__).resolve().parents[4]
EXPORTED = METRICS.keys() | OPERATOR_METRICS.keys() | LOOP_METRICS.keys()
DASHBOARD = json.loads((CLONE / "monitoring" / "holdfast.dashboard.json").read_text())
RULES: dict[str, Any] = yaml.safe_load((CLONE / "monitoring" / "holdfast.rules.yaml").read_text())
ALERTS = [rule for group in RULES["groups"] for rule in group["rules"]]
PAGE = (CLONE / "docs" / "operator.md").read_text()
LOOP_PAGE = (CLONE / "docs" / "loop.md").read_text()
PROMETHEUS = "prometheus"
SOURCE = {
    "type": "object",
    "required": ["type", "uid"],
    "properties": {"type": {"enum": [PROMETHEUS, "loki", "tempo"]}, "uid": {"pattern": "^[$]{"}},
}
WHOLE = {"type": "integer", "minimum": 0}
PANEL = {
    "type": "object",
    "required": [
        "id",
        "title",
        "description",
        "type",
        "datasource",
        "gridPos",
        "targets",
        "fieldConfig",
    ],
    "properties": {
        "id": {"type": "integer", "minimum": 1},
        "title": {"type": "string", "minLength": 1},
        "type": {"enum": ["stat", "timeseries", "logs", "table"]},
        "datasource": SOURCE,
        "gridPos": {
            "required": ["x", "y", "w", "h"],
            "additionalProperties": False,
            "properties": {
                "x": {**WHOLE, "maximum": 23},
                "y": WHOLE,
                "w": {"type": "integer", "minimum": 1, "maximum": 24},
                "h": {"type": "integer", "minimum": 1},
            },
        },
        "targets": {
            "type": "array",
            "minItems": 1,
            "items": {
                "required": ["refId"],
                "oneOf": [{"required": ["expr"]}, {"required": ["query", "queryType"]}],
                "properties": {"refId": {"pattern": "^[A-Z]$"}, "expr": {"minLength": 1}},
            },
        },
        "fieldConfig": {
            "required": ["defaults", "overrides"],
            "properties": {"defaults": {"required": ["unit"]}, "overrides": {"type": "array"}},
        },
    },
}
DASHBOARD_SCHEMA = {
    "type": "object",
    "required": ["title", "uid", "schemaVersion", "time", "refresh", "templating", "panels"],
    "properties": {
        "uid": {"pattern": "^[A-Za-z0-9_-]{1,40}$"},
        "id": False,
        "schemaVersion": {"type": "integer", "minimum": 36},
        "time": {"required": ["from", "to"]},
        "refresh": {"pattern": "^[0-9]+[smh]$"},
        "templating": {
            "properties": {
                "list": {
                    "items": {
                        "required": ["name", "type", "query"],
                        "properties": {"type": {"enum": ["datasource", "query"]}},
                    }
                }
            }
        },
        "panels": {"type": "array", "minItems": 1, "items": PANEL},
    },
}
"""What Grafana needs of a dashboard that is imported, by its documentation, "JSON model"."""


def asked_for(expression: str) -> set[str]:
    names = re.findall(r"\bholdfast_[a-z_]+", expression)
    return {re.sub(r"_(bucket|sum|count)$", "", name) for name in names}


def test_every_metric_that_the_dashboard_asks_for_is_exported() -> None:
    asked = [
        target["expr"]
        for panel in DASHBOARD["panels"]
        if panel["datasource"]["type"] == PROMETHEUS
        for target in panel["targets"]
    ]
    asked += [
        each["definition"] for each in DASHBOARD["templating"]["list"] if "definition" in each
    ]
    assert all(asked_for(each) for each in asked)
    assert set().union(*(asked_for(each) for each in asked)) <= EXPORTED


def test_every_metric_that_an_alert_asks_for_is_exported_and_reported() -> None:
    for alert in ALERTS:
        assert asked_for(alert["expr"])
        assert asked_for(alert["expr"]) <= EXPORTED, alert["alert"]
        assert f"`{alert['alert']}`" in PAGE
        file, _, anchor = alert["annotations"]["runbook"].partition("#")
        assert f"### {anchor.replace('-', ' ')}" in (CLONE / file).read_text().lower()


def test_the_dashboard_is_one_that_grafana_takes() -> None:
    Draft202012Validator.check_schema(DASHBOARD_SCHEMA)
    assert list(Draft202012Validator(DASHBOARD_SCHEMA).iter_errors(DASHBOARD)) == []
    declared = {f"${{{each['name']}}}" for each in DASHBOARD["templating"]["list"]}
    assert {panel["datasource"]["uid"] for panel in DASHBOARD["panels"]} <= declared


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


def test_every_metric_of_the_loop_is_on_its_page() -> None:
    assert [name for name in LOOP_METRICS if not re.search(rf"`{name}[`{{]", LOOP_PAGE)] == []


def test_every_alert_has_a_test_that_it_fires_and_one_that_it_does_not() -> None:
    file = CLONE / "monitoring" / "holdfast.rules.test.yaml"
    tests = yaml.safe_load(file.read_text())["tests"]
    cases = [case for test in tests for case in test["alert_rule_test"]]
    names = {alert["alert"] for alert in ALERTS}
    assert {case["alertname"] for case in cases if case["exp_alerts"]} == names
    assert {case["alertname"] for case in cases if not case["exp_alerts"]} == names
