"""The pack's verdict on a live object: what is waived is named, and weakens nothing."""

from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest
from holdfast.manifest.fleet.fleet import Fleet
from holdfast.manifest.fleet.loader import load_fleet
from holdfast.operations.stack.declared_stack import judge_of

from tests.unit.manifest.projects import EXCEPTION, MANIFEST, agent, write

LIVE = {
    "apiVersion": "apps/v1",
    "kind": "Deployment",
    "metadata": {"name": "triage", "namespace": "agents"},
    "spec": {"template": {"spec": {"hostNetwork": True, "containers": []}}},
}


def fleet(root: Path, ends_in_days: int) -> Fleet:
    write(root, MANIFEST, agent(spec="owner: sre"))
    day = datetime.now(UTC).date() + timedelta(days=ends_in_days)
    text = EXCEPTION.replace("2026-05-30", str(day)).replace("NetworkPolicy", "Deployment")
    write(root, "agents/waiver.yaml", text.replace("egress-scoped", "pss-host-namespaces"))
    return load_fleet(root)


@pytest.mark.parametrize(
    ("ends_in_days", "refuses"),
    [pytest.param(0, False, id="its last day"), pytest.param(-1, True, id="the day after")],
)
def test_a_waiver_holds_for_what_is_live_until_it_ends(
    tmp_path: Path, ends_in_days: int, refuses: bool
) -> None:
    broken = judge_of("prod", {}, lambda: fleet(tmp_path, ends_in_days))(LIVE)[
        "pss-host-namespaces"
    ]
    assert broken.is_mandatory is refuses


def test_another_object_is_not_waived_with_it(tmp_path: Path) -> None:
    other = LIVE | {"metadata": {"name": "other", "namespace": "agents"}}
    broken = judge_of("prod", {}, lambda: fleet(tmp_path, 30))(other)["pss-host-namespaces"]
    assert broken.is_mandatory
