import json
from typing import Any

import pytest
from holdfast.errors import InputError
from holdfast.report.documents.drift import drift_json, read_drift_json

from tests.unit.report.reports import ATTACKS, CLEAN, INCOMPLETE, REPORT, REWRITTEN, attack


@pytest.mark.parametrize(
    "report",
    [
        pytest.param(REPORT, id="findings"),
        pytest.param(INCOMPLETE, id="incomplete"),
        pytest.param(CLEAN, id="in sync"),
        pytest.param(REWRITTEN, id="both layers"),
        *(
            pytest.param(attack(text), id=f"attack {at}")
            for at, text in enumerate(ATTACKS)
            if "]" not in text  # no merge key holds one: names of Kubernetes cannot
        ),
    ],
)
def test_a_saved_report_says_again_what_it_said(report: Any) -> None:
    saved = drift_json(report)
    assert drift_json(read_drift_json(saved.encode(), "drift.json")) == saved


def with_value(key: str, value: Any) -> str:
    return json.dumps(json.loads(drift_json(REPORT)) | {key: value})


@pytest.mark.parametrize(
    ("text", "message"),
    [
        pytest.param("", "drift.json: no drift report", id="empty"),
        pytest.param("{", "drift.json: no drift report", id="cut off"),
        pytest.param("[]", "drift.json: no drift report", id="a list"),
        pytest.param(
            with_value("schemaVersion", "v9"),
            "drift.json: expected schemaVersion holdfast.dev/drift/v1, got 'v9'",
            id="another version",
        ),
        pytest.param(with_value("findings", [1]), "at `$.findings[0]`", id="no finding"),
        pytest.param(with_value("complete", False), "complete is false", id="a contradiction"),
        pytest.param("\ud800", "drift.json: no drift report", id="no UTF-8"),
    ],
)
def test_what_is_no_report_is_refused_by_name(text: str, message: str) -> None:
    with pytest.raises(InputError) as refused:
        read_drift_json(text.encode("utf-8", "surrogatepass"), "drift.json")
    assert message in str(refused.value)
    assert refused.value.remedy == "write it with `holdfast drift -o json`"


def test_a_key_of_a_later_version_is_skipped() -> None:
    saved = drift_json(REPORT)
    assert drift_json(read_drift_json(with_value("later", 1).encode(), "drift.json")) == saved
