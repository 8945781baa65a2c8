"""The published schema of the drift report: current, closed, and kept by every report."""

import json
from pathlib import Path
from typing import Any

import jsonschema
import pytest
from holdfast.drift.finding import DriftClass, DriftReport
from holdfast.report.documents.drift import drift_json, drift_schema
from holdfast.report.published import FILES
from holdfast.report.text.finding_text import GUIDES, NOT_CHECKED, PAGE, anchor_of

from tests.unit.report.reports import CLEAN, INCOMPLETE, REPORT, REWRITTEN

ROOT = Path(__file__).resolve().parents[2]
PUBLISHED = ROOT / "docs" / "schema" / "drift.schema.json"


def test_the_published_schema_is_current() -> None:
    assert PUBLISHED.read_text() == FILES["docs/schema/drift.schema.json"](), "run `make schema`"


@pytest.mark.parametrize(
    "report",
    [
        pytest.param(REPORT, id="findings"),
        pytest.param(INCOMPLETE, id="incomplete"),
        pytest.param(CLEAN, id="in sync"),
        pytest.param(REWRITTEN, id="both layers"),
    ],
)
def test_every_report_keeps_it(report: DriftReport) -> None:
    schema = drift_schema()
    jsonschema.Draft202012Validator.check_schema(schema)
    jsonschema.validate(json.loads(drift_json(report)), schema)


def damaged(damage: Any) -> dict[str, Any]:
    document: dict[str, Any] = json.loads(drift_json(REPORT))
    damage(document)
    return document


@pytest.mark.parametrize(
    "document",
    [
        pytest.param(damaged(lambda one: one.update(more=1)), id="one key more"),
        pytest.param(damaged(lambda one: one.pop("complete")), id="one key less"),
        pytest.param(damaged(lambda one: one["findings"][0].update(more=1)), id="in a finding"),
        pytest.param(damaged(lambda one: one["findings"][0].update({"class": "x"})), id="class"),
    ],
)
def test_nothing_else_keeps_it(document: dict[str, Any]) -> None:
    with pytest.raises(jsonschema.ValidationError):
        jsonschema.validate(document, drift_schema())


def test_every_class_of_finding_has_its_place_in_the_runbook() -> None:
    headings = {
        line.lstrip("#").strip().lower().replace(" ", "-")
        for line in (ROOT / PAGE).read_text().splitlines()
        if line.startswith("#")
    }
    assert set(GUIDES) == set(DriftClass)
    assert {anchor_of(each) for each in DriftClass} | {NOT_CHECKED} <= headings
