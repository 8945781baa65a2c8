"""Manifests of real projects, as their authors run them: judged as they stand, no rule fails."""

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
import yaml
from holdfast_policies.evaluation import judge
from holdfast_policies.evaluation.profile import profile_of
from holdfast_policies.model.rule import Environment
from holdfast_policies.model.subject import Subject

from tests.policies.test_judge import faults
from tests.shared_material import shared_folder


def documents(folder: Path) -> Iterator[tuple[Path, list[dict[str, Any]]]]:
    for path in sorted(folder.rglob("*.yaml")):
        if path.parent.name != "crds":
            loaded = yaml.load_all(path.read_text(), Loader=yaml.CSafeLoader)  # safe
            yield path, [document for document in loaded if isinstance(document, dict)]


@pytest.fixture(scope="module")
def files() -> list[tuple[Path, list[dict[str, Any]]]]:
    return list(documents(shared_folder("corpus")))


@pytest.mark.parametrize("environment", list(Environment))
def test_no_rule_fails(
    environment: Environment, files: list[tuple[Path, list[dict[str, Any]]]]
) -> None:
    profile = profile_of(environment)
    assert len(files) > 50
    for path, objects in files:
        found = judge.judge_stack(objects, profile)
        found += [each for one in objects for each in judge.violations(one, profile)]
        assert not faults(found), path


def test_every_violation_stands_at_a_place_of_its_object(
    files: list[tuple[Path, list[dict[str, Any]]]],
) -> None:
    """What is missing stands below something that is there."""
    for path, objects in files:
        for kube_object in objects:
            for violation in judge.violations(kube_object, "prod"):
                first = violation.path.partition(".")[0].partition("[")[0]
                assert first in kube_object, (path, violation.path)
                assert violation.message.isprintable()


def test_what_runs_with_all_of_the_node_is_found(
    files: list[tuple[Path, list[dict[str, Any]]]],
) -> None:
    """Read by hand: one DaemonSet and one Sandbox of the corpus ask for rights on the node."""
    critical = {"pss-privileged", "pss-host-namespaces", "pss-host-path"}
    found = {
        Subject.of(one).label
        for _, objects in files
        for one in objects
        if critical & {each.rule for each in judge.violations(one, "dev")}
    }
    assert found == {"DaemonSet kube-system/node-tuner-ds", "Sandbox windows-sandbox"}
