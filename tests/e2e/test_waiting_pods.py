"""Pods that do not start, on the real engine: `up` says within seconds what they wait for."""

import subprocess
import time
from pathlib import Path

import pytest

from tests.e2e.git_project import GitProject, agent
from tests.e2e.live_sandbox import LiveSandbox

pytestmark = pytest.mark.e2e

UNSCHEDULABLE = """\
  pod: {overrides: {nodeSelector: {disk: none-has-this}}}
  rollout: {progressDeadlineSeconds: 30}
"""


def test_a_pod_that_no_node_takes_is_named_by_up_and_by_status(
    tmp_path: Path, sandbox: LiveSandbox
) -> None:
    project = GitProject.write(tmp_path, sandbox, agent("placeless", more=UNSCHEDULABLE))
    begun = time.monotonic()
    done: subprocess.CompletedProcess[str] = project.project.holdfast("up", "-s", "dev")
    assert done.returncode != 0
    assert time.monotonic() - begun < 300
    lines = [line for line in done.stderr.splitlines() if "waiting: " in line]
    assert len(lines) == 1, done.stderr
    assert "waiting: Deployment loop/placeless: pod placeless-" in lines[0]
    assert "Unschedulable: 0/" in lines[0]
    said = project.project.holdfast("status", "placeless", "-s", "dev")
    assert "Unschedulable" in said.stdout, said.stdout
