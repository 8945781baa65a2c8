"""What a pack told the engine, as a report: violations taken apart, passes counted, gaps named."""

import pytest
from holdfast.cli.exit_codes import exit_code_of
from holdfast.errors import ExitCode
from holdfast.kube.objects import ObjectRef
from holdfast.operations.policy.model import Verdict, summary_line

from tests.unit.report.policy_runs import (
    DEPLOYMENT,
    END,
    THE_STACK,
    URN,
    deployment,
    report,
    step,
    summary,
    violation,
)

SAME = step("same", deployment(), deployment())
PATH = "spec.template.spec.containers[name=agent].securityContext.privileged"
MESSAGE = f"A container is privileged\n{PATH}: expected false or nothing, got true; remove it"


def test_a_violation_is_taken_apart_and_stands_at_its_line() -> None:
    (found,) = report(SAME, violation(MESSAGE), summary(), THE_STACK, END).findings
    assert (found.rule, found.verdict) == ("pss-privileged", Verdict.VIOLATED)
    assert found.is_mandatory
    assert found.severity == "critical"
    assert (found.ref, found.agent, found.path) == (DEPLOYMENT, "support-rag", PATH)
    assert (found.expected, found.found, found.remedy) == ("false or nothing", "true", "remove it")
    assert str(found.location) == "agents/support-rag.yaml:22:3"


@pytest.mark.parametrize(
    ("text", "path", "expected", "found", "remedy"),
    [
        pytest.param("expected a, got b; do c", "", "a", "b", "do c", id="no path"),
        pytest.param(
            'data["agent.json"]: expected x."y", got nothing; set it: now',
            'data["agent.json"]',
            'x."y"',
            "nothing",
            "set it: now",
            id="odd path",
        ),
        pytest.param(
            'a.b: expected x, got {"k": 1}; y; z', "a.b", "x", '{"k": 1}', "y; z", id="json"
        ),
    ],
)
def test_texts_of_the_pack_are_read_back(
    text: str, path: str, expected: str, found: str, remedy: str
) -> None:
    (one,) = report(SAME, violation(f"About\n{text}"), summary(), THE_STACK, END).findings
    assert (one.path, one.expected, one.found, one.remedy) == (path, expected, found, remedy)


def test_the_text_of_another_pack_stays_whole() -> None:
    event = violation("Buckets must be named.\nSee the wiki.", policyName="naming", severity="")
    (found,) = report(SAME, event, summary(), THE_STACK, END).findings
    assert found.headline == "Buckets must be named. See the wiki."
    assert (found.rule, found.severity, found.path) == ("naming", "high", "")


def test_what_is_waived_stays_visible_and_refuses_nothing() -> None:
    text = f"{MESSAGE} [waived by ann until 2026-12-31: CX-1]"
    found = report(SAME, violation(text, enforcementLevel="advisory"), summary(), THE_STACK, END)
    (one,) = found.findings
    assert (one.verdict, one.remedy) == (Verdict.WAIVED, "remove it")
    assert one.note == "waived by ann until 2026-12-31: CX-1"
    assert exit_code_of(found) == ExitCode.OK


def test_an_ended_waiver_is_a_violation_that_says_so() -> None:
    text = f"{MESSAGE} [its waiver w ended on 2026-01-31]"
    (one,) = report(SAME, violation(text), summary(), THE_STACK, END).findings
    assert (one.verdict, one.note) == (Verdict.VIOLATED, "its waiver w ended on 2026-01-31")


def test_what_cannot_be_decided_is_reported_rule_by_rule_and_is_no_pass() -> None:
    note = violation(
        "Cannot be decided at preview\nimage-digest-pinned: a.b, c.d\njob-bounds: spec.x",
        policyName="undetermined",
        enforcementLevel="advisory",
    )
    events = (SAME, note, summary(failed=("undetermined",)), THE_STACK, END)
    found = report(*events, mandatory=frozenset({"image-digest-pinned"}))
    assert [(one.rule, one.path, one.is_mandatory) for one in found.findings] == [
        ("image-digest-pinned", "a.b, c.d", True),
        ("job-bounds", "spec.x", False),
    ]
    assert {one.verdict for one in found.findings} == {Verdict.UNDETERMINED}
    assert not found.is_complete
    assert exit_code_of(found) == ExitCode.ERROR


def test_a_violation_of_the_stack_has_no_object() -> None:
    event = violation(MESSAGE, urn="", policyName="waiver-expired")
    (one,) = report(SAME, event, THE_STACK, END).findings
    assert (one.subject, one.location) == ("the stack as a whole", None)


def test_a_resource_that_is_no_object_goes_by_its_type_and_name() -> None:
    urn = "urn:pulumi:dev::p::aws:s3/bucket:Bucket::logs"
    (one,) = report(SAME, violation(MESSAGE, urn=urn), summary(), THE_STACK, END).findings
    assert one.ref == ObjectRef("", "Bucket", "logs", "pulumi")


def test_passes_are_counted_for_each_object() -> None:
    found = report(SAME, summary("pss-privileged", "job-bounds"), THE_STACK, END)
    assert [(each.ref, each.passed) for each in found.objects] == [
        (DEPLOYMENT, ("pss-privileged", "job-bounds")),
        (ObjectRef("", "", "", ""), ("stack-trust-zones",)),
    ]
    assert summary_line(found) == "no violation, 3 passed (1 object, profile prod)"
    assert exit_code_of(found) == ExitCode.OK


def test_objects_stand_in_their_own_order_whatever_the_engine_s_is() -> None:
    urns = [f"urn:pulumi:dev::p::kubernetes:v1:X::{name}" for name in "cab"]
    summaries = [summary("a", urn=urn) for urn in urns]
    one, other = report(*summaries, THE_STACK, END), report(THE_STACK, *summaries[::-1], END)
    assert one.objects == other.objects
    assert [each.ref.name for each in one.objects] == ["a", "b", "c", ""]


@pytest.mark.parametrize(
    ("events", "failure", "scope", "reason"),
    [
        pytest.param((SAME, END), "", "every rule", "no policy pack judged this run", id="no pack"),
        pytest.param(
            (SAME, summary("a"), THE_STACK), "", "the rest of the stack", "last word", id="cut off"
        ),
        pytest.param(
            (SAME, summary("a"), END), "", "rules about the whole stack", "ended", id="no stack"
        ),
        pytest.param(
            (SAME, summary("a"), THE_STACK, END),
            "the program failed: x",
            "the rest of the stack",
            "the preview failed: the program failed: x",
            id="failed",
        ),
        pytest.param(
            (SAME, summary("a"), {"policyEvent": {"message": ["x"]}}, THE_STACK, END),
            "",
            "verdicts of the policy pack",
            "events of the engine could not be read: 1 policyEvent",
            id="a violation that cannot be read",
        ),
    ],
)
def test_what_was_not_judged_is_never_taken_for_fine(
    events: tuple[object, ...], failure: str, scope: str, reason: str
) -> None:
    found = report(*events, failure=failure)
    (gap,) = found.not_checked
    assert gap.scope == scope
    assert reason in gap.reason
    assert exit_code_of(found) == ExitCode.ERROR


def test_a_mandatory_violation_counts_before_what_is_missing() -> None:
    assert exit_code_of(report(SAME, violation(MESSAGE), summary(), END)) == ExitCode.POLICY


def test_the_same_event_twice_is_one_finding() -> None:
    events = (SAME, violation(MESSAGE), violation(MESSAGE), summary(), THE_STACK, END)
    assert len(report(*events).findings) == 1


def test_near_places_are_asked_only_about_what_is_not_refused() -> None:
    advisory = violation(MESSAGE, enforcementLevel="advisory", policyName="job-bounds")
    found = report(SAME, violation(MESSAGE), advisory, summary(), THE_STACK, END, is_exact=False)
    assert [str(each.location) for each in found.findings] == [
        "agents/support-rag.yaml:22:3",
        "agents/support-rag.yaml:1:1",
    ]


def test_what_a_rule_remediates_is_reported_field_by_field_and_no_secret_with_it() -> None:
    before = deployment(env=[{"name": "API_TOKEN", "value": "hunter2"}])
    after = deployment(env=[{"name": "API_TOKEN", "value": "hunter2"}], tty=False)
    event = {
        "policyName": "emptydir-bounded",
        "policyPackName": "holdfast",
        "resourceUrn": URN,
        "before": before,
        "after": after,
    }
    found = report(SAME, {"policyRemediationEvent": event}, summary("a"), THE_STACK, END)
    assert "hunter" not in repr(found)
    assert found.remarks[-1] == (
        "emptydir-bounded remediates Deployment cx/support-rag "
        "spec.template.spec.containers[name=agent].tty: nothing becomes false"
    )
