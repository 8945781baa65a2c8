"""The published schema of a watch's events: current, closed, and kept by every event."""

import json
from pathlib import Path
from typing import Any

import jsonschema
import pytest
from holdfast.drift.finding import NotChecked
from holdfast.drift.record.ledger import Transition
from holdfast.drift.record.watch_report import Status, WatchState
from holdfast.report.documents.drift_event import (
    cause_cloud_event,
    cloud_event,
    drift_event_schema,
    event_json,
    state_json,
)
from holdfast.report.published import FILES

from tests.unit.report.watched import at, cause, event, look

ROOT = Path(__file__).resolve().parents[2]
NAME = "docs/schema/drift-event.schema.json"
UNKNOWN = WatchState(Status.UNKNOWN, (NotChecked("ConfigMap in cx", "nothing heard"),), 2, 40)
STATE = state_json(UNKNOWN, at(0).time, "dev")
OPENED = event_json(look(), event(), "dev")


def keeps(document: dict[str, Any]) -> bool:
    validator = jsonschema.Draft202012Validator(drift_event_schema())
    return bool(validator.is_valid(json.loads(json.dumps(document))))


def test_the_published_schema_is_current() -> None:
    assert (ROOT / NAME).read_text() == FILES[NAME](), "run `make schema`"
    jsonschema.Draft202012Validator.check_schema(drift_event_schema())


@pytest.mark.parametrize("turn", Transition)
def test_findings_and_causes_keep_it_at_every_turn_and_in_cloud_events(turn: Transition) -> None:
    of_finding, of_cause = event(turn, until=4), cause(turn, "ab", until=4)

    assert keeps(event_json(look(), of_finding, "dev"))
    assert keeps(cloud_event(look(), of_finding, 1, "")["data"])
    assert keeps(cause_cloud_event("ab-7", of_cause, "dev")["data"])


@pytest.mark.parametrize("status", Status)
def test_every_state_keeps_it(status: Status) -> None:
    assert keeps(state_json(WatchState(status, (), 0, 40), at(0).time, "dev"))
    assert keeps(STATE)


@pytest.mark.parametrize(
    "document",
    [
        pytest.param({**STATE, "more": 1}, id="one-key-more"),
        pytest.param({key: STATE[key] for key in STATE if key != "status"}, id="one-key-less"),
        pytest.param({**STATE, "status": "fine"}, id="a-status-of-its-own"),
        pytest.param({**OPENED, "type": "finding.seen"}, id="no-such-turn"),
        pytest.param({**OPENED, "type": "state"}, id="another-s-type"),
        pytest.param({**OPENED, "finding": {}}, id="an-empty-finding"),
    ],
)
def test_nothing_else_keeps_it(document: dict[str, Any]) -> None:
    assert not keeps(document)
