"""What the project ships is what it preaches: samples load, render and pass the pack."""

from pathlib import Path

import pytest
import yaml
from holdfast.manifest.fleet.loader import load_fleet
from holdfast.manifest.stack.names import stack_names
from holdfast.render.fleet import render_fleet
from holdfast.render.plan.planning import plan_fleet
from holdfast_policies.evaluation.judge import judge_stack, violations
from holdfast_policies.evaluation.profile import profile_of
from holdfast_policies.model.rule import Level
from holdfast_policies.model.subject import Options

ROOT = Path(__file__).resolve().parents[2]
STACKS = ("dev", "prod", "staging")


def test_there_is_a_stack_for_every_environment() -> None:
    assert tuple(sorted(stack_names(ROOT))) == STACKS


@pytest.mark.parametrize(
    ("stack", "judged_as"), [("dev", "dev"), ("staging", "prod"), ("prod", "prod")]
)
def test_the_samples_break_no_mandatory_rule(stack: str, judged_as: str) -> None:
    fleet = load_fleet(ROOT, stack)
    rendered = render_fleet(plan_fleet(fleet, stack))
    profile = profile_of(judged_as, fleet.environment.policy.rules)
    broken = [
        each
        for one in rendered
        for each in violations(one.manifest, profile, options=Options(one.is_protected))
    ]
    broken += judge_stack([one.manifest for one in rendered], profile)
    mandatory = [each for each in broken if each.level is Level.MANDATORY]
    assert [f"{each.rule} {each.subject.name}: {each.message}" for each in mandatory] == []


@pytest.mark.parametrize("stack", STACKS)
def test_every_rendered_name_is_unique_within_its_kind_and_namespace(stack: str) -> None:
    rendered = render_fleet(plan_fleet(load_fleet(ROOT, stack), stack))
    names = [
        (
            item.manifest["kind"],
            item.manifest["metadata"].get("namespace"),
            item.manifest["metadata"]["name"],
        )
        for item in rendered
    ]
    assert len(names) == len(set(names)) >= 40
    resources = [f"{item.agent}-{item.role}" for item in rendered]
    assert len(resources) == len(set(resources))


@pytest.mark.parametrize("folder", ["agents", "stacks"])
def test_every_sample_names_its_schema_for_editors(folder: str) -> None:
    for sample in (ROOT / folder).glob("*.yaml"):
        first = sample.read_text().splitlines()[0]
        assert first.startswith("# yaml-language-server: $schema="), sample.name
        schema = sample.parent / first.split("=", 1)[1]
        assert schema.resolve().is_file(), f"{sample.name} names {schema}"


def test_the_project_names_its_program_and_its_stacks() -> None:
    project = yaml.safe_load((ROOT / "Pulumi.yaml").read_text())
    assert (project["main"], project["stackConfigDir"]) == ("infra/", "stacks")
