"""A stack that Flux has delivered, delivered by Holdfast from now on."""

import json
from pathlib import Path

import pytest

from tests.e2e.git_project import GitProject, agent
from tests.e2e.live_sandbox import Kubectl, LiveSandbox

pytestmark = pytest.mark.e2e

ENGINE = "kustomize-controller"


def test_what_flux_has_delivered_is_taken_over_on_request_and_not_before(
    sandbox: LiveSandbox, kubectl: Kubectl, tmp_path: Path
) -> None:
    project = GitProject.write(tmp_path, sandbox, agent("mover")).project
    items = json.loads(project.holdfast("render", "-s", "dev", "-o", "json").stdout)["items"]
    for part in ([one for one in items if one["kind"] == "Namespace"], items):
        listed = json.dumps({"apiVersion": "v1", "kind": "List", "items": part})
        options = ("--server-side", "--force-conflicts", "--validate=false", "-f", "-")
        kubectl("apply", *options, f"--field-manager={ENGINE}", stdin=listed)

    refused = project.holdfast("up", "-s", "dev")
    assert refused.returncode == 2, refused.stderr
    assert f"these objects are already managed by Flux ({ENGINE}): " in refused.stderr

    done = project.holdfast("up", "-s", "dev", "--take-over")
    assert done.returncode == 0, done.stderr
    again = project.holdfast("up", "-s", "dev")
    assert again.returncode == 0, again.stderr
    assert "preview: no changes" in again.stderr
    assert project.drift()[0] == 0
