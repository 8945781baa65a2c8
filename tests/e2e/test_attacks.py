"""Attacks on a real API server, each in effect before the scan, beside twins that are no drift."""

from dataclasses import dataclass

import pytest

from tests.e2e.attacks.rows import ATTACKS, CASES
from tests.e2e.live_sandbox import LiveSandbox
from tests.e2e.taxonomy.case import Case
from tests.e2e.taxonomy.replay import Replay

pytestmark = pytest.mark.e2e

NAMESPACE = "attacked"


@dataclass(frozen=True)
class Judged:
    """Names of the objects about which a scan reports drift, with the paths."""

    paths: dict[str, list[str]]


@pytest.fixture(scope="module")
def judged(sandbox: LiveSandbox, tmp_path_factory: pytest.TempPathFactory) -> Judged:
    replay = Replay(sandbox, NAMESPACE, CASES, tmp_path_factory.mktemp(NAMESPACE))
    replay.run()
    _, report = replay.scan()
    paths: dict[str, list[str]] = {}
    for finding in report["findings"]:
        if finding["severity"] != "info" and finding["class"] != "unmanaged":
            said = f"{finding['class']} {finding['path']}"
            paths.setdefault(finding["object"]["name"], []).append(said)
    return Judged(paths)


def test_every_attack_has_a_name_of_its_own() -> None:
    assert len({case.name for case in ATTACKS}) == len(ATTACKS) >= 40


@pytest.mark.parametrize("case", [pytest.param(each, id=each.name) for each in ATTACKS])
def test_an_attack_is_reported_and_its_twin_is_not(case: Case, judged: Judged) -> None:
    found = judged.paths.get(case.name, [])
    assert bool(found) is case.title.startswith("drift"), found
