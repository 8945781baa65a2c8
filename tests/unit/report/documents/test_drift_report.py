import json
from dataclasses import replace

import jsonschema
import pytest
from holdfast.drift.finding import (
    Actor,
    DriftClass,
    DriftReport,
    EvidenceSource,
    ExpectedBy,
    Finding,
    Layer,
    NotChecked,
    Severity,
)
from holdfast.kube.objects import ObjectRef
from holdfast.kube.paths import parse_path
from holdfast.report.documents.drift import drift_json
from holdfast.report.text.drift_text import drift_text

REF = ObjectRef("cx", "Deployment", "support-rag", "apps/v1")
ACTOR = Actor(
    "kubectl-patch",
    "Update",
    "",
    "2026-11-21T10:45:00Z",
    "alice@example.test",
    EvidenceSource.AUDIT,
)
SIDECAR = Finding(
    REF,
    "support-rag",
    DriftClass.ADDED,
    parse_path("spec.template.spec.containers[name=evil]"),
    None,
    {"name": "evil", "image": "x:y"},
    Severity.CRITICAL,
    ("image-digest-pinned",),
    (ACTOR,),
    ExpectedBy.NOBODY,
)
REMARK = Finding(REF, "", DriftClass.RECREATED, severity=Severity.INFO)
REPORT = DriftReport((SIDECAR, REMARK), (), 2)

TEXT = {"type": "string"}
CONTRACT = {
    "type": "object",
    "additionalProperties": False,
    "required": ["schemaVersion", "complete", "notChecked", "findings"],
    "properties": {
        "schemaVersion": {"const": "holdfast.dev/drift/v1"},
        "complete": {"type": "boolean"},
        "notChecked": {
            "items": {
                "type": "object",
                "additionalProperties": False,
                "required": ["scope", "reason"],
                "properties": {"scope": TEXT, "reason": TEXT},
            }
        },
        "findings": {
            "items": {
                "type": "object",
                "additionalProperties": False,
                "required": [
                    "object", "agent", "class", "path", "desired", "live", "severity", "policies",
                    "actors", "seenBy",
                ],
                "properties": {
                    "object": {
                        "additionalProperties": False,
                        "required": ["apiVersion", "kind", "namespace", "name"],
                        "properties": dict.fromkeys(
                            ["apiVersion", "kind", "namespace", "name"], TEXT
                        ),
                    },
                    "agent": TEXT,
                    "class": {"enum": [each.value for each in DriftClass]},
                    "path": TEXT,
                    "desired": {},
                    "live": {},
                    "severity": {"enum": ["critical", "high", "medium", "low", "info"]},
                    "policies": {"items": TEXT},
                    "actors": {
                        "items": {
                            "additionalProperties": False,
                            "required": [
                                "manager", "operation", "subresource", "time", "user", "source",
                            ],
                            "properties": {
                                **dict.fromkeys(
                                    ["manager", "operation", "subresource", "time", "user"], TEXT
                                ),
                                "source": {"enum": ["managedFields", "audit"]},
                            },
                        }
                    },
                    "seenBy": {"items": {"enum": ["holdfast", "pulumi"]}},
                },
            }
        },
    },
}  # fmt: skip


@pytest.mark.parametrize(
    "report",
    [
        pytest.param(REPORT, id="findings"),
        pytest.param(DriftReport(), id="empty"),
        pytest.param(DriftReport((), (NotChecked("Secret in cx", "forbidden"),)), id="incomplete"),
    ],
)
def test_json_is_the_contract_and_nothing_besides(report: DriftReport) -> None:
    jsonschema.validate(json.loads(drift_json(report)), CONTRACT)


def test_a_finding_reads_in_json_as_the_contract_shows_it() -> None:
    finding = json.loads(drift_json(REPORT))["findings"][0]
    assert finding == {
        "object": {
            "apiVersion": "apps/v1", "kind": "Deployment", "namespace": "cx", "name": "support-rag"
        },
        "agent": "support-rag",
        "class": "added",
        "path": "spec.template.spec.containers[name=evil]",
        "desired": None,
        "live": {"name": "evil", "image": "x:y"},
        "severity": "critical",
        "policies": ["image-digest-pinned"],
        "actors": [
            {
                "manager": "kubectl-patch", "operation": "Update", "subresource": "",
                "time": "2026-11-21T10:45:00Z", "user": "alice@example.test", "source": "audit",
            }
        ],
        "seenBy": ["holdfast"],
    }  # fmt: skip


def test_what_is_incomplete_is_not_called_complete() -> None:
    report = DriftReport((), (NotChecked("Secret in cx", "forbidden"),))
    assert json.loads(drift_json(report))["complete"] is False
    text = drift_text(report)
    assert "NOT CHECKED  Secret in cx: forbidden" in text
    assert "in sync" not in text
    assert "INCOMPLETE" in text


def test_text_says_what_where_who_when_and_which_rule() -> None:
    assert drift_text(REPORT) == (
        "Deployment cx/support-rag  (agent support-rag)\n"
        "  critical  added    spec.template.spec.containers[name=evil]\n"
        '            live     {"name":"evil","image":"x:y"}\n'
        "            by       alice@example.test, kubectl-patch Update, 2026-11-21T10:45:00Z\n"
        "            breaks   image-digest-pinned\n"
        "  info      recreated\n"
        "            by       unknown\n"
        "\n"
        "1 finding in 1 object: 1 critical (2 objects checked); 1 remark\n"
    )


def test_a_manager_without_an_audit_entry_is_marked_as_a_hint() -> None:
    hint = Actor("kubectl-edit", "Update", "scale", "2026-11-21T10:45:00Z")
    text = drift_text(DriftReport((Finding(REF, "", DriftClass.CHANGED, actors=(hint,)),)))
    assert "kubectl-edit Update of scale, 2026-11-21T10:45:00Z (no audit entry)" in text


def test_in_sync_is_one_line() -> None:
    assert drift_text(DriftReport(objects_checked=1)) == "in sync (1 object checked)\n"


def test_colour_only_where_it_is_wanted() -> None:
    assert "\x1b[" not in drift_text(REPORT)
    assert "\x1b[" in drift_text(REPORT, colour=True)


def test_text_of_the_cluster_cannot_write_to_the_terminal() -> None:
    evil = Finding(
        ObjectRef("cx", "ConfigMap", "a\x1b[2J", "v1"),
        "",
        DriftClass.CHANGED,
        ("data", "k\nfake: line"),
        "a",
        "b\r\u202e",
        actors=(Actor("m\x07"),),
    )
    text = drift_text(DriftReport((evil,), (NotChecked("s\x1b", "r\n"),)))
    assert all(character.isprintable() or character == "\n" for character in text)
    assert "fake: line" in text
    assert "\nfake: line" not in text


def test_the_layers_are_reported_when_there_was_a_choice() -> None:
    layers = (Layer("holdfast", True, "compared 2 objects"), Layer("pulumi", False, "--no-engine"))
    report = DriftReport((), (), 2, layers)
    assert "layers" not in json.loads(drift_json(REPORT))
    assert json.loads(drift_json(report))["layers"] == [
        {"name": "holdfast", "ran": True, "detail": "compared 2 objects"},
        {"name": "pulumi", "ran": False, "detail": "--no-engine"},
    ]
    assert drift_text(report).splitlines() == [
        "layer holdfast: ran: compared 2 objects",
        "layer pulumi: not asked: --no-engine",
        "in sync (2 objects checked)",
    ]


def test_a_finding_about_the_record_says_so() -> None:
    one = Finding(REF, "", DriftClass.CHANGED, parse_path("spec.replicas"), 1, 3)
    report = DriftReport((replace(one, expected_by=ExpectedBy.RECORD),), (), 1)
    assert json.loads(drift_json(report))["findings"][0]["about"] == "record"
    assert "recorded 3" in drift_text(report)
