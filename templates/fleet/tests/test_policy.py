"""What the rules refuse: nothing of this repository, and every case in policy-cases/."""

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
import yaml

ROOT = Path(__file__).resolve().parents[1]
STACKS = sorted(each.name.split(".")[1] for each in (ROOT / "stacks").glob("Pulumi.*.yaml"))
CASES = sorted((ROOT / "tests" / "policy-cases").glob("*.yaml"))


def findings(*arguments: str) -> list[dict[str, Any]]:
    """What `holdfast policy check` finds."""
    command = [sys.executable, "-m", "holdfast", "policy", "check", *arguments, "-o", "json"]
    done = subprocess.run(
        command, cwd=ROOT, env=os.environ, capture_output=True, text=True, check=False
    )
    assert done.stdout, done.stderr
    found: list[dict[str, Any]] = json.loads(done.stdout)["findings"]
    return found


@pytest.mark.parametrize("stack", STACKS)
def test_nothing_that_is_declared_is_refused(stack: str) -> None:
    refused = [each for each in findings("-s", stack) if each["level"] == "mandatory"]
    assert [f"{each['rule']}: {each['path']}" for each in refused] == []


@pytest.mark.parametrize("case", CASES, ids=lambda case: case.stem)
def test_a_case_comes_out_as_it_says(case: Path, tmp_path: Path) -> None:
    expected = yaml.safe_load(case.read_text(encoding="utf-8"))
    file = tmp_path / "object.yaml"
    file.write_text(yaml.safe_dump(expected["object"]), encoding="utf-8")
    found = findings("--files", str(file), "--profile", expected["profile"])
    violated = {each["rule"] for each in found if each["verdict"] == "violated"}
    assert set(expected.get("violates", ())) - violated == set()
    assert set(expected.get("passes", ())) & violated == set()
