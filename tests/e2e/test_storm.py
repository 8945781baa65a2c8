"""After a storm all is as declared: `bench/storm.py` for less than a minute.

Edits of every kind, restarts of every program (API server, etcd, controllers, operator, loop, the
engine in the middle of an update) and faults of the API; `make soak` raises ten minutes of it,
another one each time. Here it is always the same, as far as the machine's pace allows.
"""

import json
import subprocess
import sys
from pathlib import Path

import pytest

pytestmark = pytest.mark.e2e

CLONE = Path(__file__).parents[2]
SECONDS = 40
SEED = 11


def test_nothing_is_lost_doubled_or_left_after_a_storm(tmp_path: Path) -> None:
    report = tmp_path / "storm.json"
    command = [sys.executable, "-m", "bench.storm", str(SECONDS), str(report), "--agents", "2"]
    command += ["--seed", str(SEED)]
    done = subprocess.run(
        command, cwd=CLONE, capture_output=True, text=True, check=False, timeout=1800
    )
    assert done.returncode == 0, done.stderr
    document = json.loads(report.read_text())
    assert document["problems"] == [], done.stderr
    figures = document["figures"]
    assert figures["storm: edits"] >= 5
    assert figures["storm: restarts"] >= 8
    assert figures["storm: faults"] >= 3
    # Who cannot renew its lease for ten seconds ends, as it must; nothing else ends by itself.
    assert document["tracebacks"] == {"operator": [], "loop": []}
    assert figures["storm: ended by itself, loop"] == 0
