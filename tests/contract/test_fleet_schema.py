"""The published schema of a fleet's report: current, closed, and kept by every report."""

import json
from pathlib import Path
from typing import Any

import jsonschema
import pytest
from holdfast.operations.describe.fleet import FleetReport
from holdfast.report.documents.fleet import fleet_json, fleet_schema
from holdfast.report.published import FILES

from tests.unit.report.fleets import BLIND, EVERYTHING, FINE, attacked, fleet, large_fleet

NAME = "docs/schema/fleet.schema.json"
PUBLISHED = Path(__file__).resolve().parents[2] / NAME


def document(report: FleetReport) -> dict[str, Any]:
    plain: dict[str, Any] = json.loads(fleet_json(report))
    return plain


def test_the_published_schema_is_current() -> None:
    assert PUBLISHED.read_text() == FILES[NAME](), "run `make schema`"


@pytest.mark.parametrize(
    "report",
    [
        pytest.param(EVERYTHING, id="every state"),
        pytest.param(fleet(BLIND), id="nothing was looked at"),
        pytest.param(large_fleet(40, 3), id="many agents"),
        pytest.param(attacked("<script>\x1b"), id="attacked"),
        pytest.param(fleet(), id="no stack"),
    ],
)
def test_every_report_keeps_it(report: FleetReport) -> None:
    jsonschema.Draft202012Validator.check_schema(fleet_schema())
    jsonschema.validate(document(report), fleet_schema())


@pytest.mark.parametrize(
    "change",
    [
        pytest.param(lambda one: one.update(more=1), id="one key more"),
        pytest.param(lambda one: one["stacks"][0].pop("lookedAt"), id="one key less"),
        pytest.param(lambda one: one["stacks"][0]["agents"][0].update(sync="Fine"), id="state"),
        pytest.param(lambda one: one["stacks"][0]["agents"][0].update(more=1), id="in an agent"),
    ],
)
def test_what_is_not_in_it_is_refused(change: Any) -> None:
    plain = document(fleet(FINE))
    change(plain)
    assert not jsonschema.Draft202012Validator(fleet_schema()).is_valid(plain)


def test_it_holds_what_the_page_shows() -> None:
    _, drifted, blind = document(EVERYTHING)["stacks"]
    by_name = {each["name"]: each for each in drifted["agents"]}
    assert by_name["support-rag"]["drift"] == {
        "findings": 3,
        "worst": "critical",
        "since": "2026-11-19T12:00:00Z",
    }
    assert by_name["coder"]["version"] == {"declared": "2.1.0", "live": None}
    assert drifted["counts"]["policy"]["newlyBroken"] == 2
    assert [each["severity"] for each in drifted["drift"]] == ["critical", "high", "medium"]
    assert drifted["drift"][0]["ageSeconds"] == 172_800
    assert blind["lookedAt"] == ""
    assert blind["notChecked"][0]["reason"] == "not checked: no such context"
