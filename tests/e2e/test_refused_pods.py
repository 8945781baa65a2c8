"""A rollout whose pods the cluster refuses, on the real engine: the update ends, and says why.

The field that spoils it was added by hand: an update does not remove what it does not declare, and
drift is not reverted while an update runs.
"""

import json
import time
from pathlib import Path

import pytest

from tests.e2e.git_project import GitProject, agent
from tests.e2e.live_sandbox import Kubectl, LiveSandbox

pytestmark = pytest.mark.e2e

ENFORCE = "pod-security.kubernetes.io/enforce"
DEADLINE_SECONDS = 600  # of the Deployment: the engine alone would wait as long


def test_an_update_ends_soon_when_the_pods_of_a_rollout_are_refused(
    tmp_path: Path, sandbox: LiveSandbox, kubectl: Kubectl
) -> None:
    project = GitProject.write(tmp_path, sandbox, agent("refused"))
    first = project.project.holdfast("up", "-s", "dev")
    assert first.returncode == 0, first.stderr
    kubectl("label", "namespace", "loop", f"{ENFORCE}=restricted", "--overwrite")
    spoiled = {
        "apiVersion": "apps/v1",
        "kind": "Deployment",
        "metadata": {"name": "refused", "namespace": "loop"},
        "spec": {"template": {"spec": {"hostNetwork": True}}},
    }
    # What was written by a client-side update the engine takes over, and removes; not this.
    apply = ("apply", "--server-side", "--force-conflicts", "--field-manager=alice", "-f", "-")
    kubectl(*apply, stdin=json.dumps(spoiled))

    project.commit("Move to 2.0.0", agent("refused", "2.0.0"))
    begun = time.monotonic()
    refused = project.project.holdfast("up", "-s", "dev")

    assert refused.returncode == 4, refused.stderr
    assert time.monotonic() - begun < DEADLINE_SECONDS / 3
    assert "waiting: Deployment loop/refused cannot create its pods: " in refused.stderr
    assert "up was stopped: Deployment loop/refused cannot create its pods: " in refused.stderr
    assert "violates PodSecurity" in refused.stderr
    assert "run `holdfast drift -s dev`" in refused.stderr

    kubectl("label", "namespace", "loop", f"{ENFORCE}-")  # of other tests, too
    without = [{"op": "remove", "path": "/spec/template/spec/hostNetwork"}]
    kubectl(
        "patch", "deployment", "refused", "-n", "loop", "--type=json", f"-p={json.dumps(without)}"
    )
    again = project.project.holdfast("up", "-s", "dev")
    assert again.returncode == 0, again.stderr
    (pod,) = kubectl.get("pods", "-n", "loop", "-l", "app.kubernetes.io/name=refused")["items"]
    assert pod["metadata"]["labels"]["app.kubernetes.io/version"] == "2.0.0"
