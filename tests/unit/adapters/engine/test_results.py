import msgspec
from holdfast.adapters.engine.results import RunRecorder, RunResult, read_result
from holdfast.adapters.engine.run.events import (
    Diagnostic,
    Event,
    PolicySummary,
    PolicyViolation,
    PropertyDifference,
    ResourceStep,
    StepDone,
    StepFailed,
    StepStarted,
    Summary,
)

IMAGE = (PropertyDifference("spec.image", "update"),)


def step(
    name: str,
    operation: str,
    differences: tuple[PropertyDifference, ...] = (),
    *,
    ready: bool = True,
) -> ResourceStep:
    errors = () if ready else ("not ready",)
    return ResourceStep(f"urn::{name}", "t", operation, None, differences, errors)


def recorded(*events: Event) -> RunResult:
    recorder = RunRecorder("preview")
    for event in events:
        recorder.add(event)
    return recorder.result(seconds=1.5)


def test_a_step_reported_twice_counts_once_with_its_last_word() -> None:
    first, last = step("a", "update"), step("a", "update", IMAGE)

    result = recorded(StepStarted(first), StepDone(last), StepDone(last))

    assert result.steps == (last,)
    assert result.steps


def test_what_stays_the_same_is_no_change() -> None:
    same = step("a", "same")

    result = recorded(StepStarted(same), StepDone(same), Summary({"same": 1}))

    assert not result.steps
    assert result.counts == {"same": 1}


def test_a_step_that_failed_is_among_the_changes() -> None:
    assert recorded(StepFailed(step("a", "create"))).steps == (step("a", "create"),)


def test_a_refresh_before_a_preview_is_drift_and_the_plan_is_a_change() -> None:
    result = recorded(
        StepStarted(step("a", "refresh")),
        StepDone(step("a", "refresh", IMAGE)),
        StepStarted(step("a", "update", IMAGE)),
        StepDone(step("a", "update", IMAGE)),
    )

    assert result.drifted == (step("a", "refresh", IMAGE),)
    assert result.steps == (step("a", "update", IMAGE),)


def test_an_object_that_is_gone_has_drifted() -> None:
    result = recorded(StepStarted(step("a", "refresh")), StepDone(step("a", "delete")))

    assert [each.operation for each in result.drifted] == ["delete"]
    assert not result.steps


def test_an_object_that_is_only_not_ready_has_not_drifted() -> None:
    unready = step("a", "update", ready=False)

    result = recorded(StepStarted(step("a", "refresh")), StepDone(unready))

    assert not result.has_drift
    assert result.unhealthy == (unready,)


def test_errors_and_mandatory_violations_are_distinguished_from_the_rest() -> None:
    advisory = PolicyViolation("p", "pack", "advisory", "m")
    mandatory = PolicyViolation("p", "pack", "mandatory", "m")
    error, warning = Diagnostic("error", "e"), Diagnostic("warning", "w")

    result = recorded(advisory, error, mandatory, warning)

    assert result.violations == (advisory, mandatory)
    assert result.mandatory_violations == (mandatory,)
    assert result.errors == (error,)
    assert result.seconds == 1.5


def test_what_passed_and_what_was_judged_are_kept_of_unchanged_resources_too() -> None:
    summary = PolicySummary("pack", ("rule",), (), "urn::a")

    result = recorded(StepDone(step("a", "same")), summary)

    assert result.judged == (summary,)
    assert result.resources == {"urn::a": step("a", "same")}
    assert not result.has_ended


def test_saved_lines_give_the_result_again() -> None:
    lines = [b"", b'{"summaryEvent": {"resourceChanges": {"same": 3}}}']

    result = read_result("preview", lines)

    assert result.counts == {"same": 3}
    assert result.has_ended


def test_lines_that_cannot_be_read_are_a_warning_that_names_them() -> None:
    secret = b'{"resOutputsEvent":{"metadata":{"op":"create","token":"hunter2"}}}'

    result = read_result("preview", [b"prose", secret, secret, b'{"policyEvent":{}}'])

    assert result.unread == {"": 1, "resOutputsEvent": 2, "policyEvent": 1}
    (warning,) = result.diagnostics
    assert (warning.severity, warning.message) == (
        "warning",
        "lines of the engine that could not be read: 4 (no event, policyEvent, resOutputsEvent); "
        "what they say is missing; update Holdfast",
    )
    assert result.unread_events == "1 policyEvent, 2 resOutputsEvent"
    assert result.has_unread_verdicts


def test_prose_between_the_events_takes_nothing_from_them() -> None:
    result = read_result("preview", [b"Previewing update (dev):"])

    assert (result.unread_events, result.has_unread_verdicts) == ("", False)


def test_objects_are_counted_without_components_and_providers() -> None:
    summary = b'{"summaryEvent": {"resourceChanges": {"create": 3, "same": 2}}}'
    objects = read_result("up", [summary])
    component = ResourceStep("urn::c", "holdfast:index:Agent", "create")
    result = msgspec.structs.replace(objects, steps=(component,))
    assert result.object_counts == {"create": 2, "same": 2}
