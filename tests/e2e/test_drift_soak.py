"""No false alarm while everything moves that may move: `bench/soak.py` for less than a minute.

`make soak` runs ten.
"""

import json
import subprocess
import sys
from pathlib import Path

import pytest

pytestmark = pytest.mark.e2e

CLONE = Path(__file__).parents[2]
SECONDS = 40


def test_rollouts_autoscaling_and_controllers_raise_no_alarm(tmp_path: Path) -> None:
    report = tmp_path / "soak.json"
    command = [sys.executable, "-m", "bench.soak", str(SECONDS), str(report), "--agents", "3"]
    done = subprocess.run(
        command, cwd=CLONE, capture_output=True, text=True, check=False, timeout=400
    )
    assert done.returncode == 0, done.stderr
    document = json.loads(report.read_text())
    assert document["alarms"] == []
    assert document["blind"] == []
    assert document["figures"]["soak: rollouts"] >= 1
    assert document["figures"]["soak: writes of the autoscaler"] >= 3
