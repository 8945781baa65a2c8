import json
from dataclasses import replace

import jsonschema
from holdfast.drift.finding import Actor, EvidenceSource, NotChecked
from holdfast.drift.record.ledger import Transition
from holdfast.drift.record.watch_report import Status, WatchState
from holdfast.report.documents.drift_event import (
    cause_cloud_event,
    cloud_event,
    event_json,
    state_json,
)
from holdfast.report.documents.json_text import json_line
from holdfast.report.text.event_text import (
    cause_text,
    event_text,
    phase_lines,
    seconds_text,
    state_text,
)

from tests.unit.report.watched import at, cause, event, look

CLOUD_EVENT_SCHEMA = {
    "type": "object",
    "required": ["specversion", "id", "source", "type"],
    "properties": {
        "specversion": {"const": "1.0"},
        "id": {"type": "string", "minLength": 1},
        "source": {"type": "string", "minLength": 1},
        "type": {"type": "string", "minLength": 1},
        "subject": {"type": "string", "minLength": 1},
        "time": {"type": "string", "pattern": r"^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$"},
        "datacontenttype": {"const": "application/json"},
    },
}


def test_one_line_says_when_what_where_and_who() -> None:
    assert event_text(event()) == (
        "10:00:00Z opened  high     Deployment cx/support spec.replicas: 2 -> x:hotfix"
        " by alice (kubectl-set) breaks image-digest-pinned"
    )


def test_a_closed_finding_says_how_long_it_was_open() -> None:
    assert event_text(event(Transition.CLOSED, until=4)).endswith(
        "Deployment cx/support spec.replicas after 4.0 s"
    )


def test_many_findings_of_one_cause_are_one_line() -> None:
    assert cause_text(cause(Transition.OPENED, "abcde")) == (
        "10:00:00Z opened  high     one cause: changed spec.replicas in 5 objects"
        " of kind Deployment by alice through kubectl-set  x:hotfix: cx/a, cx/b, cx/c and 2 more"
        "  breaks image-digest-pinned"
    )
    assert cause_text(cause(Transition.CLOSED, "ab", until=4)).endswith(
        "in 2 objects of kind Deployment by alice through kubectl-set after 4.0 s"
    )


def test_a_cause_names_its_findings_as_data() -> None:
    document = cause_cloud_event("ab-7", cause(Transition.OPENED, "ab"), "dev")
    jsonschema.validate(document, CLOUD_EVENT_SCHEMA)
    assert document["type"] == "dev.holdfast.drift.cause.opened"
    assert document["data"]["objects"] == 2
    assert [each["object"]["name"] for each in document["data"]["findings"]] == ["a", "b"]


def test_values_from_the_cluster_cannot_write_lines_of_their_own() -> None:
    text = event_text(event(live="x\n2026 IN SYNC \x1b[2J\u202e"))
    assert "\n" not in text
    assert "\x1b" not in text
    assert "\u202e" not in text
    line = json_line(event_json(look(), event(live="x\ny"), "dev"))
    assert "\n" not in line


def test_json_holds_the_finding_as_the_report_has_it() -> None:
    document = event_json(look(), event(Transition.CLOSED, until=4), "dev")
    assert document["schemaVersion"] == "holdfast.dev/drift-event/v1"
    assert (document["type"], document["id"], document["stack"]) == (
        "finding.closed",
        "ab-1",
        "dev",
    )
    assert document["dwellSeconds"] == 4.0
    assert document["finding"]["object"]["name"] == "support"


def test_cloud_events_are_valid_and_each_has_an_id_of_its_own() -> None:
    sent = [cloud_event(look(), event(), number, "dev") for number in (1, 2)]
    for document in sent:
        jsonschema.validate(json.loads(json_line(document)), CLOUD_EVENT_SCHEMA)
    assert [document["id"] for document in sent] == ["ab-1.1", "ab-1.2"]
    assert sent[0]["source"] == "/holdfast/drift/dev"
    assert cloud_event(look(), event(), 1, "")["source"] == "/holdfast/drift"


def test_phases_are_in_order_and_under_one_id() -> None:
    lines = phase_lines(look(event()))
    assert [line.split("phase=")[1].split()[0] for line in lines] == [
        "watch", "observe", "diff", "report",
    ]  # fmt: skip
    assert all("id=ab-1" in line for line in lines)
    assert "changes=3 waited=0.100s" in lines[1]
    assert "opened=1 changed=0 closed=0" in lines[3]


def test_unknown_says_what_is_not_known() -> None:
    state = WatchState(Status.UNKNOWN, (NotChecked("ConfigMap in cx", "nothing heard"),), 2, 40)
    assert state_text(state, at(0).time) == (
        "2026-11-21T10:00:00.000Z  UNKNOWN  2 findings, 40 objects watched\n"
        "    not checked: ConfigMap in cx: nothing heard"
    )
    document = state_json(state, at(0).time, "dev")
    assert document["status"] == "unknown"
    assert document["notChecked"] == [{"scope": "ConfigMap in cx", "reason": "nothing heard"}]


def test_times_are_in_a_unit_that_suits_them() -> None:
    shown = [seconds_text(seconds) for seconds in (0.04, 9.9, 10, 61, 3600, 7384)]
    assert shown == ["0.0 s", "9.9 s", "10 s", "1 min 1 s", "1 h 0 s", "2 h 3 min 4 s"]


def test_a_finding_that_only_a_client_names_says_so_and_fits_80_columns() -> None:
    alone = Actor("kubectl-edit", "Update", "", "2026-11-21T10:00:00Z")
    found = replace(event().finding, live=5, policies=(), actors=(alone,))
    text = event_text(replace(event(), finding=found))
    assert text.endswith("spec.replicas: 2 -> 5 by kubectl-edit, no audit entry")
    audited = replace(alone, manager="", user="alice", source=EvidenceSource.AUDIT)
    assert len(event_text(replace(event(), finding=replace(found, actors=(audited,))))) <= 80
