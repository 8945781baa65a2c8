"""The same checks over all agents, with a roll-up: how many are in which state, by team."""

import copy
import json
from pathlib import Path
from typing import Any

import pytest
from holdfast.cli.main import run

from tests.unit.cli.drift_files import write

AGENTS = 100
TEAMS = ("care", "platform")
MUTATED = (3, 50, 51)


def config_of(number: int) -> dict[str, Any]:
    name = f"agent-{number:03}"
    labels = {"holdfast.dev/agent": name, "holdfast.dev/owner": TEAMS[number % len(TEAMS)]}
    metadata = {"name": name, "namespace": "fleet", "labels": labels}
    return {"apiVersion": "v1", "kind": "ConfigMap", "metadata": metadata, "data": {"a": "1"}}


def listed(objects: list[dict[str, Any]]) -> dict[str, Any]:
    return {"apiVersion": "v1", "kind": "List", "items": objects}


def test_a_hundred_agents_of_which_three_were_changed(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    declared = [config_of(number) for number in range(AGENTS)]
    found = copy.deepcopy(declared)
    for number in MUTATED:
        found[number]["data"]["a"] = "2"
    desired = write(tmp_path, "desired.json", listed(declared))
    live = write(tmp_path, "live.json", listed(found))
    assert run(["drift", "--desired", desired, "--live", live, "-o", "json"]) == 7
    agents = json.loads(capsys.readouterr().out)["agents"]
    assert agents["counts"] == {"Synced": 97, "OutOfSync": 3, "Unknown": 0}
    assert agents["teams"] == {
        "care": {"Synced": 49, "OutOfSync": 1, "Unknown": 0},
        "platform": {"Synced": 48, "OutOfSync": 2, "Unknown": 0},
    }
    names = [each["name"] for each in agents["notSynced"]]
    assert names == [f"agent-{number:03}" for number in MUTATED]
