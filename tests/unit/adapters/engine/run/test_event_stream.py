import json
from typing import Any

import msgspec
import pytest
from holdfast.adapters.engine.run.event_stream import decode_event
from holdfast.adapters.engine.run.events import (
    Diagnostic,
    Inputs,
    PolicySummary,
    PolicyViolation,
    PropertyDifference,
    ResourceStep,
    StepDone,
    StepFailed,
    StepStarted,
    Summary,
    UnreadLine,
)
from holdfast.kube.objects import ObjectRef

URN = "urn:pulumi:dev::p::kubernetes:apps/v1:Deployment::app"
INPUTS = {
    "apiVersion": "apps/v1",
    "kind": "Deployment",
    "metadata": {"namespace": "n", "name": "a"},
}


def line(**event: Any) -> bytes:
    return json.dumps({"sequence": 7, "timestamp": 1} | event).encode()


def metadata(**parts: Any) -> dict[str, Any]:
    state = {"type": "x", "urn": URN, "inputs": INPUTS, "outputs": {"a": 1}}
    whole = {"op": "update", "urn": URN, "type": "kubernetes:apps/v1:Deployment", "new": state}
    return {"metadata": whole | parts}


def test_a_step_has_its_object_and_its_differences_in_order() -> None:
    differences = {
        "spec.b": {"diffKind": "update", "inputDiff": True},
        "spec.a": {"diffKind": "add"},
    }

    event = decode_event(line(resOutputsEvent=metadata(detailedDiff=differences)))

    assert event == StepDone(
        ResourceStep(
            urn=URN,
            type="kubernetes:apps/v1:Deployment",
            operation="update",
            reference=ObjectRef("n", "Deployment", "a", "apps/v1"),
            differences=(
                PropertyDifference("spec.a", "add"),
                PropertyDifference("spec.b", "update"),
            ),
            after=Inputs(msgspec.Raw(json.dumps(INPUTS).encode())),
        )
    )
    assert str(event.step) == "Deployment n/a"


@pytest.mark.parametrize(
    ("name", "kind"),
    [
        ("resourcePreEvent", StepStarted),
        ("resOutputsEvent", StepDone),
        ("resOpFailedEvent", StepFailed),
    ],
)
def test_a_step_starts_and_is_done_or_fails(name: str, kind: type) -> None:
    assert isinstance(decode_event(line(**{name: metadata()})), kind)


def test_a_refresh_that_finds_nothing_is_a_deletion() -> None:
    event = decode_event(
        line(resOutputsEvent=metadata(op="refresh", new=None, old={"inputs": INPUTS}))
    )

    assert isinstance(event, StepDone)
    assert event.step.operation == "delete"
    assert event.step.reference == ObjectRef("n", "Deployment", "a", "apps/v1")


@pytest.mark.parametrize(
    "inputs",
    [
        pytest.param({}, id="nothing"),
        pytest.param({"kind": 3, "metadata": []}, id="other-types"),
        pytest.param({"kind": "Deployment", "metadata": {}}, id="a-name-not-yet-known"),
    ],
)
def test_a_step_without_an_identity_has_no_object(inputs: Any) -> None:
    event = decode_event(line(resOutputsEvent=metadata(new={"inputs": inputs})))

    assert isinstance(event, StepDone)
    assert event.step.reference is None
    assert str(event.step) == "Deployment app"


def test_a_message_is_stripped_and_keeps_its_resource() -> None:
    event = decode_event(line(diagnosticEvent={"message": "no\n", "severity": "error", "urn": URN}))

    assert event == Diagnostic("error", "no", URN)


@pytest.mark.parametrize(
    "message",
    [
        pytest.param({"severity": "debug", "message": "password=hunter2"}, id="debug"),
        pytest.param(
            {"severity": "info", "message": "Skipping", "ephemeral": True}, id="ephemeral"
        ),
    ],
)
def test_messages_that_nobody_should_see_are_dropped(message: dict[str, Any]) -> None:
    assert decode_event(line(diagnosticEvent=message)) is None


def test_a_violation_has_its_rule_level_and_resource() -> None:
    policy = {
        "resourceUrn": URN,
        "message": "Images.\nnot allowed\n",
        "policyName": "image",
        "policyPackName": "pack",
        "enforcementLevel": "mandatory",
        "severity": "high",
    }

    event = decode_event(line(policyEvent=policy))

    assert event == PolicyViolation(
        "image", "pack", "mandatory", "Images.\nnot allowed", "high", URN
    )
    assert event.is_mandatory


@pytest.mark.parametrize("name", ["policyAnalyzeSummaryEvent", "policyAnalyzeStackSummaryEvent"])
def test_a_judgement_lists_what_passed_and_failed(name: str) -> None:
    event = decode_event(line(**{name: {"policyPackName": "pack", "passed": ["a", "b"]}}))

    assert event == PolicySummary("pack", ("a", "b"), ())


def test_the_last_word_counts_operations() -> None:
    event = decode_event(line(summaryEvent={"resourceChanges": {"same": 3}, "result": "succeeded"}))

    assert event == Summary({"same": 3}, "succeeded")


@pytest.mark.parametrize(
    "text",
    [
        pytest.param(b"", id="empty"),
        pytest.param(b'{"cancelEvent":{}}', id="cancel"),
        pytest.param(b'{"eventOfTheFuture":{"a":1},"sequence":1}', id="unknown"),
    ],
)
def test_what_is_no_event_of_ours_is_passed_over(text: bytes) -> None:
    assert decode_event(text) is None


MESSAGE_AS_A_LIST = (
    b'{"policyEvent":{"message":["no"],"policyName":"a","policyPackName":"p",'
    b'"enforcementLevel":"mandatory"}}'
)


@pytest.mark.parametrize(
    ("text", "kind", "is_verdict"),
    [
        pytest.param(b"Updating (dev):", "", False, id="prose"),
        pytest.param(b"[1]", "", False, id="other-json"),
        pytest.param(b'{"resOutputsEvent":{"metadata":{}}}', "resOutputsEvent", False, id="parts"),
        pytest.param(MESSAGE_AS_A_LIST, "policyEvent", True, id="a-violation-of-another-format"),
        pytest.param(b'{"sequence":3,"policyEvent":{"mess', "policyEvent", True, id="cut-off"),
        pytest.param(
            b'{"policyAnalyzeSummaryEvent":{"policyPackName":1}}',
            "policyAnalyzeSummaryEvent",
            True,
            id="a-judgement-of-another-format",
        ),
    ],
)
def test_a_line_that_cannot_be_read_is_counted_by_its_event(
    text: bytes, kind: str, *, is_verdict: bool
) -> None:
    event = decode_event(text)

    assert event == UnreadLine(kind)
    assert event.is_verdict is is_verdict


def test_inputs_are_kept_of_what_changes_and_shown_by_no_log() -> None:
    inputs = INPUTS | {"stringData": {"token": "hunter2"}}
    changed = decode_event(line(resourcePreEvent=metadata(old={"inputs": inputs})))
    same = decode_event(line(resourcePreEvent=metadata(op="same", old={"inputs": inputs})))

    assert isinstance(changed, StepStarted)
    assert isinstance(same, StepStarted)
    assert changed.step.before is not None
    assert "hunter2" in bytes(changed.step.before.text).decode()
    assert "hunter2" not in repr(changed)
    assert (same.step.before, same.step.after) == (None, None)


@pytest.mark.parametrize("labels", [None, [], "x", {"holdfast.dev/agent": "a", "odd": 1}])
def test_labels_are_those_that_are_texts(labels: Any) -> None:
    inputs = INPUTS | {"metadata": {"name": "a", "labels": labels}}
    event = decode_event(line(resourcePreEvent=metadata(new={"inputs": inputs})))
    assert isinstance(event, StepStarted)
    expected = {"holdfast.dev/agent": "a"} if isinstance(labels, dict) else {}
    assert event.step.labels == expected
