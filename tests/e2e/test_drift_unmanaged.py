"""What runs in a declared namespace although nobody declared it."""

import json
import secrets
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from tests.e2e.live_sandbox import Kubectl, LiveSandbox, run_holdfast

pytestmark = pytest.mark.e2e


@pytest.fixture
def declared(kubectl: Kubectl, tmp_path: Path) -> Iterator[tuple[str, Path]]:
    """A namespace of the declaration's own, and a Deployment whose pods run in it."""
    name = f"owned-{secrets.token_hex(4)}"
    labels = {"app": "agent"}
    container = {"name": "agent", "image": "registry.example.test/agent:1"}
    objects: list[dict[str, Any]] = [
        {"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": name}},
        {
            "apiVersion": "apps/v1",
            "kind": "Deployment",
            "metadata": {"name": "agent", "namespace": name},
            "spec": {
                "selector": {"matchLabels": labels},
                "template": {"metadata": {"labels": labels}, "spec": {"containers": [container]}},
            },
        },
    ]
    file = tmp_path / "objects.json"
    file.write_text(json.dumps({"apiVersion": "v1", "kind": "List", "items": objects}))
    kubectl("apply", "--server-side", "--field-manager=holdfast", "-f", str(file))
    kubectl("-n", name, "rollout", "status", "deployment/agent", "--timeout=60s")
    yield name, file
    kubectl("delete", "namespace", name, "--wait=false")


def test_a_rogue_pod_is_found_and_the_agents_own_pods_are_not(
    declared: tuple[str, Path], kubectl: Kubectl, sandbox: LiveSandbox
) -> None:
    namespace, file = declared
    arguments = ["drift", "--desired", str(file), "--kubeconfig", str(sandbox.kubeconfig())]
    assert run_holdfast(*arguments).returncode == 0

    kubectl("-n", namespace, "run", "rogue", "--image=registry.example.test/tap:1", user="alice")
    done = run_holdfast(*arguments, "--audit-log", str(sandbox.audit_log), "-o", "json")
    assert done.returncode == 7
    (finding,) = json.loads(done.stdout)["findings"]
    assert (finding["class"], finding["object"]["kind"]) == ("unmanaged", "Pod")
    assert finding["actors"][0]["user"] == "alice@example.test"

    reverted = run_holdfast("drift", "revert", *arguments[1:], "--yes")
    assert "not declared: declare it, or delete it" in reverted.stderr
    assert reverted.returncode == 7
