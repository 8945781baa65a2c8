"""Waivers: one object may break a rule until a day; nothing is hidden, nothing outlives its end."""

from datetime import date
from pathlib import Path

import pytest
from holdfast_policies.evaluation import judge
from holdfast_policies.evaluation.profile import Profile, profile_of
from holdfast_policies.evaluation.waivers import (
    Waiver,
    WaiverFileError,
    Waivers,
    compiled,
    read_waivers,
)
from holdfast_policies.evaluation.weakened import RULE_WEAKENED
from holdfast_policies.model.rule import Level
from holdfast_policies.model.subject import Subject
from holdfast_policies.pack.sdk import proto
from holdfast_policies.pack.servicer import Servicer

from tests.policies.pack_engine import POD, Context, pod, struct

RULE = "pss-privileged"
PRIVILEGED = pod("/spec/containers/0/securityContext/privileged", True)
WAIVER = Waiver(
    name="legacy-driver",
    rules=(RULE,),
    kind="Pod",
    namespace="agents",
    object_name="agent",
    reason="the driver of the old scanner",
    owner="radiology",
    ticket="SEC-12",
    approver="alice",
    expires=date(2026, 5, 30),
)


def profile(*waivers: Waiver, today: date) -> Profile:
    only = profile_of("prod", {"all": "disabled", RULE: "mandatory"})
    return Profile(only.environment, only.rulings, Waivers(waivers, today))


def test_a_waived_violation_is_advisory_and_says_who_granted_it() -> None:
    (found,) = judge.violations(PRIVILEGED, profile(WAIVER, today=date(2026, 5, 30)))
    assert found.is_waived
    assert found.level is Level.ADVISORY
    assert "[waived until 2026-05-30 by alice for radiology (SEC-12): the driver" in found.message


def test_a_waiver_grants_nothing_from_the_day_after_its_last() -> None:
    (found,) = judge.violations(PRIVILEGED, profile(WAIVER, today=date(2026, 5, 31)))
    assert not found.is_waived
    assert found.level is Level.MANDATORY
    assert "[its waiver legacy-driver ended on 2026-05-30]" in found.message


@pytest.mark.parametrize(
    "other",
    [
        pytest.param({"metadata": {"name": "other", "namespace": "agents"}}, id="another name"),
        pytest.param({"metadata": {"name": "agent", "namespace": "ops"}}, id="another namespace"),
    ],
)
def test_a_waiver_is_for_one_object(other: dict[str, object]) -> None:
    (found,) = judge.violations({**PRIVILEGED, **other}, profile(WAIVER, today=date(2026, 1, 1)))
    assert found.level is Level.MANDATORY
    assert found.waiver is None


def test_a_waiver_is_for_the_rules_it_names() -> None:
    waived = Waivers((WAIVER,), date(2026, 1, 1))
    subject = Subject.of(PRIVILEGED)
    assert waived.of(subject, RULE) == WAIVER
    assert waived.of(subject, "pss-host-path") is None


def test_what_is_compiled_is_read_back_whatever_the_order() -> None:
    other = Waiver(**{name: getattr(WAIVER, name) for name in WAIVER.__slots__} | {"name": "a"})
    assert compiled((WAIVER, other)) == compiled((other, WAIVER))


def test_the_compiled_file_is_read_back(tmp_path: Path) -> None:
    file = tmp_path / "waivers.yaml"
    assert read_waivers(file) == ()
    file.write_text(compiled((WAIVER,)))
    assert read_waivers(file) == (WAIVER,)


@pytest.mark.parametrize("text", ["", "[]", '{"waivers": [{"name": "x"}]}', "waivers: []"])
def test_a_file_manually_is_refused(tmp_path: Path, text: str) -> None:
    file = tmp_path / "waivers.yaml"
    file.write_text(text)
    with pytest.raises(WaiverFileError, match="run `holdfast validate --write-waivers`"):
        read_waivers(file)


def verdicts(properties: dict[str, object], today: date) -> list[tuple[str, int]]:
    """What a preview with the waiver says, resource first, then stack."""
    servicer = Servicer(Waivers((WAIVER,), today))
    settings = '{"rules": {"all": {"enforcementLevel": "disabled"}, "pss-privileged": "mandatory"}}'
    request = proto.AnalyzerStackConfigureRequest(stack="prod", project="p", dry_run=True)
    request.config["holdfast:policy"] = settings
    servicer.ConfigureStack(request, Context())
    urn = f"urn:pulumi:prod::p::{POD}::x"
    resource = proto.AnalyzeRequest(type=POD, name="x", urn=urn)
    resource.properties.CopyFrom(struct(properties))
    answers = [servicer.Analyze(resource, Context())]
    answers.append(servicer.AnalyzeStack(proto.AnalyzeStackRequest(), Context()))
    found = [each for answer in answers for each in answer.diagnostics]
    told = [each for each in found if each.policyName != RULE_WEAKENED]
    return [(each.policyName, each.enforcementLevel) for each in told]


def test_the_pack_tells_a_waiver_that_is_used_unused_or_ended() -> None:
    early, late = date(2026, 1, 1), date(2027, 1, 1)
    assert verdicts(PRIVILEGED, early) == [(RULE, proto.ADVISORY)]
    assert verdicts(pod(), early) == [("waiver-unused", proto.MANDATORY)]
    assert verdicts(PRIVILEGED, late) == [
        (RULE, proto.MANDATORY),
        ("waiver-expired", proto.MANDATORY),
    ]
