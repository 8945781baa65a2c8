"""A change as data, judged by the rules, settings and waivers of its base.

The base's code reads and renders the change's manifests. Nothing that the change brings is run:
not its program, not its policy pack, not its own rules.
"""

from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

from holdfast_policies.evaluation.profile import PolicyConfigError, Profile, profile_of
from holdfast_policies.evaluation.weakened import RULE_WEAKENED, weakenings_between

from holdfast.drift.finding import Severity
from holdfast.errors import InputError, SourceLocation
from holdfast.kube.objects import ObjectRef
from holdfast.manifest.fleet.fleet import Fleet
from holdfast.manifest.fleet.loader import load_fleet
from holdfast.operations.policy.model import PolicyFinding, Verdict
from holdfast.operations.policy.sources import PolicyInput, judged_objects
from holdfast.operations.stack.context import StackContext
from holdfast.render.fleet import render_fleet
from holdfast.render.objects.rule_set import rules_of
from holdfast.render.plan.planning import plan_fleet
from holdfast.render.provenance.origins import Origins


def fleet_of_change(base: StackContext, change: Path) -> Fleet:
    """The fleet that a change declares for a stack, with the own rules of the base in its place.

    Args:
        base: The stack in the base's project.
        change: Folder of the change's Pulumi.yaml.

    Raises:
        InvalidFilesError: the change's manifests are not valid.
    """
    return replace(load_fleet(change, base.name), rule_files=base.fleet.rule_files)


def objects_of_change(fleet: Fleet) -> PolicyInput:
    """What a change stands for."""
    rendered = render_fleet(plan_fleet(fleet, fleet.stack))
    return PolicyInput(tuple(judged_objects(rendered, Origins(fleet, fleet.stack))))


def findings_of_change(base: StackContext, fleet: Fleet, change: Path) -> Iterator[PolicyFinding]:
    """What a change takes away from the rules: mandatory, whatever the change says of itself.

    Args:
        base: The stack in the base's project.
        fleet: The change's, as `fleet_of_change` reads it.
        change: Folder of the change's Pulumi.yaml.

    Raises:
        InputError: the change's settings of rules are not what rules take.
    """
    before = _profile(base.fleet, base.name)
    after = _profile(fleet, base.name)
    found = [str(each) for each in weakenings_between(before, after)]
    if found:
        place = fleet.setting_location("policy.rules")
        yield _finding(
            "the levels, parameters and limits of the base", f"{', '.join(found)}", place
        )
    theirs = {each.name: each.text for each in load_fleet(change, base.name).rule_files}
    for file in base.fleet.rule_files:
        if file.name not in theirs:
            yield _finding(
                "the own rules of the base", f"{file.name} is removed", SourceLocation(file.name)
            )
        elif theirs[file.name] != file.text:
            yield _finding(
                "the own rules of the base", f"{file.name} differs", SourceLocation(file.name, 1)
            )


def _profile(fleet: Fleet, stack: str) -> Profile:
    policy = fleet.environment.policy
    try:
        return profile_of(fleet.environment.profile_for(stack), policy.rules, rules_of(fleet))
    except PolicyConfigError as error:
        raise InputError("\n".join(error.faults), remedy="run `holdfast validate`") from error


def _finding(expected: str, found: str, place: SourceLocation | None) -> PolicyFinding:
    return PolicyFinding(
        rule=RULE_WEAKENED,
        verdict=Verdict.VIOLATED,
        is_mandatory=True,
        severity=Severity.HIGH,
        ref=ObjectRef("", "", "", ""),
        expected=expected,
        found=f"by this change: {found}",
        remedy="merge it by itself, reviewed by the owners of the policy",
        location=place,
    )
