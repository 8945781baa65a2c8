"""The published schema of policy reports: current, closed, and kept by every report."""

import json
from dataclasses import replace
from pathlib import Path
from typing import Any

import jsonschema
import pytest
from holdfast.operations.policy.model import PolicyReport
from holdfast.report.documents.policy import policy_schema
from holdfast.report.exchange.formats import write_policy
from holdfast.report.exchange.policy_notices import PAGES
from holdfast.report.published import FILES
from holdfast_policies.table import RULES

from tests.unit.report.policy_runs import (
    END,
    NEW_IMAGE,
    THE_STACK,
    deployment,
    report,
    step,
    summary,
    violation,
)

NAME = "docs/schema/policy.schema.json"
PUBLISHED = Path(__file__).resolve().parents[2] / NAME
TEXT = "About\nspec.x: expected nothing, got true; remove it"
WHOLE = report(
    step("update", deployment(), deployment(image=NEW_IMAGE)),
    violation(TEXT),
    violation(TEXT, urn=""),
    summary("job-bounds"),
    THE_STACK,
    END,
)


def document(found: PolicyReport) -> dict[str, Any]:
    plain: dict[str, Any] = json.loads(write_policy(found, "json", RULES, pages=PAGES))
    return plain


def test_the_published_schema_is_current() -> None:
    assert PUBLISHED.read_text() == FILES[NAME](), "run `make schema`"


@pytest.mark.parametrize(
    "found",
    [
        pytest.param(WHOLE, id="everything"),
        pytest.param(replace(WHOLE, changes=None), id="without a preview"),
        pytest.param(report(END), id="incomplete"),
    ],
)
def test_every_report_keeps_it(found: PolicyReport) -> None:
    jsonschema.Draft202012Validator.check_schema(policy_schema())
    jsonschema.validate(document(found), policy_schema())


@pytest.mark.parametrize(
    "change",
    [
        pytest.param(lambda one: one.update(more=1), id="one key more"),
        pytest.param(lambda one: one.pop("complete"), id="one key less"),
        pytest.param(lambda one: one["findings"][0].update(more=1), id="in a finding"),
        pytest.param(lambda one: one["findings"][0].update(verdict="x"), id="verdict"),
        pytest.param(lambda one: one["changes"][0].update(operation="x"), id="operation"),
    ],
)
def test_nothing_else_keeps_it(change: Any) -> None:
    damaged = document(WHOLE)
    change(damaged)
    with pytest.raises(jsonschema.ValidationError):
        jsonschema.validate(damaged, policy_schema())
