"""Rows 1 to 5 and 7 of the fault matrix: runs that are killed.

For all rows, here and in the modules beside this one: what failed is named with its cause and a
command; nothing is lost or doubled; a second run converges.
"""

import json
import os
import signal
import socket
import time
from collections.abc import Iterator
from contextlib import contextmanager

import pytest
from holdfast.adapters.engine.stack import Stack
from holdfast.adapters.engine.state.baseline import read_baseline
from holdfast.adapters.engine.state.interrupted import interrupted
from holdfast.adapters.engine.state.rebuilding import rebuild
from holdfast.errors import ExitCode, InputError

from tests.e2e.engine.runs import PATIENCE_SECONDS, driven, started, wait_until
from tests.e2e.engine.states import assert_converges, names_in_state, recovered
from tests.e2e.live_sandbox import Kubectl
from tests.e2e.pulumi_project import PulumiProject

pytestmark = pytest.mark.e2e

IMAGE = "registry/app:1"


def test_row_1_killed_before_the_object_is_made(project: PulumiProject, kubectl: Kubectl) -> None:
    held = project.config_map("held", a="1")
    held["metadata"]["labels"] = {"held": "yes"}
    project.declare(held)
    stack = project.stack()
    named = f"ConfigMap {project.namespace}/held"

    with admission_that_never_answers(kubectl), started(stack) as run:
        run.wait_for_pending(f"creating {named}")
        run.kill()

    refusal = interrupted(stack).refusal("dev")
    assert refusal is not None
    assert "stack dev is locked by" in str(refusal)
    assert "that process has ended: run 'holdfast up -s dev --recover'" in str(refusal)
    lock, taken_up = recovered(stack)
    assert lock.startswith("removed the lock of ")
    assert taken_up == f"resumed: creating {named}"
    assert_converges(project, stack, "held")


def test_row_2_killed_after_the_object_is_made(project: PulumiProject, kubectl: Kubectl) -> None:
    project.declare(project.config_map("one", a="1"), project.deployment("app", IMAGE, held=True))
    stack = project.stack()
    deployment = ("deployment", "app", "-n", project.namespace)

    with started(stack) as run:
        run.wait_for_pending(f"creating Deployment {project.namespace}/app")
        wait_until(lambda: kubectl.run("get", *deployment).returncode == 0)
        run.kill()
    made = kubectl.get(*deployment)["metadata"]["uid"]
    # The scan does not take it for drift, nor for an object of nobody.
    assert [ref.name for ref in read_baseline(project.root, "dev").pending] == ["app"]
    recovered(stack)
    project.declare(project.config_map("one", a="1"), project.deployment("app", IMAGE))

    assert_converges(project, stack, "app", "one")
    assert kubectl.get(*deployment)["metadata"]["uid"] == made


def test_row_3_without_checkpoints_nothing_runs_unless_forced_and_then_a_list_is_recreated(
    project: PulumiProject, kubectl: Kubectl, monkeypatch: pytest.MonkeyPatch
) -> None:
    project.declare(project.config_map("one", a="1"), project.deployment("app", IMAGE, held=True))
    stack = project.stack()
    with monkeypatch.context() as patch:
        patch.setenv("PULUMI_SKIP_CHECKPOINTS", "true")
        with pytest.raises(InputError, match="a killed run would lose the whole state"):
            project.stack().up()

    with started(stack, PULUMI_SKIP_CHECKPOINTS="true", PULUMI_EXPERIMENTAL="true") as run:
        # That a creation is said does not mean that the cluster has the object yet.
        wanted = ("deployment/app", "configmap/one", "-n", project.namespace)
        wait_until(lambda: kubectl.run("get", *wanted).returncode == 0, run.process)
        run.kill()
    assert names_in_state(stack) == []
    recovered(stack)
    rebuild(stack)

    assert names_in_state(stack) == ["app", "one"]
    project.declare(project.config_map("one", a="1"), project.deployment("app", IMAGE))
    assert_converges(project, stack, "app", "one")


def test_row_4_a_killed_program_ends_the_run_with_a_state_that_is_good(
    project: PulumiProject, updated: Stack
) -> None:
    project.declare(project.config_map("two", a="1"), before="import time; time.sleep(600)")

    with started(updated) as run:
        os.kill(run.member("pulumi-language-python-exec"), signal.SIGKILL)
        said = run.end()

    assert run.process.returncode != 0
    assert "error" in said
    assert names_in_state(updated) == ["one"]
    assert interrupted(updated).refusal("dev") is None
    project.declare(project.config_map("one", a="1"), project.config_map("two", a="1"))
    assert_converges(project, updated, "one", "two")


def test_row_5_a_killed_provider_leaves_what_it_had_begun(
    project: PulumiProject, kubectl: Kubectl
) -> None:
    project.declare(project.deployment("app", IMAGE, held=True))
    stack = project.stack()

    with started(stack) as run:
        run.wait_for_pending(f"creating Deployment {project.namespace}/app")
        os.kill(run.member("pulumi-resource-kubernetes"), signal.SIGKILL)
        run.end()

    assert run.process.returncode != 0
    project.declare(project.deployment("app", IMAGE))
    if interrupted(stack).pending:
        recovered(stack)
    assert_converges(project, stack, "app")
    assert len(kubectl.get("deployment", "-n", project.namespace)["items"]) == 1


def test_row_7_a_second_signal_ends_it_at_once_and_says_what_to_do(project: PulumiProject) -> None:
    project.declare(project.deployment("app", IMAGE, held=True))
    stack = project.stack()
    with driven(project) as driver:
        wait_until(lambda: bool(interrupted(stack).pending), driver)
        driver.send_signal(signal.SIGINT)
        time.sleep(0.2)  # two signals at once are one
        driver.send_signal(signal.SIGINT)
        said = driver.communicate(timeout=PATIENCE_SECONDS)[1]

    assert driver.returncode == ExitCode.CANCELLED, said
    assert "up was cancelled" in said
    project.declare(project.deployment("app", IMAGE))
    if interrupted(stack).refusal("dev"):
        recovered(stack)
    assert_converges(project, stack, "app")


@contextmanager
def admission_that_never_answers(kubectl: Kubectl) -> Iterator[None]:
    """Objects labelled `held` wait before they are stored; nobody answers."""
    with socket.create_server(("127.0.0.1", 0)) as silent:
        port = silent.getsockname()[1]
        name = f"held-{port}.example.test"
        rule = {
            "apiGroups": [""],
            "apiVersions": ["v1"],
            "operations": ["CREATE"],
            "resources": ["configmaps"],
        }
        webhook = {
            "name": name,
            "admissionReviewVersions": ["v1"],
            "sideEffects": "None",
            "timeoutSeconds": 30,
            "clientConfig": {"url": f"https://127.0.0.1:{port}/"},
            "objectSelector": {"matchLabels": {"held": "yes"}},
            "rules": [rule],
        }
        kind = "ValidatingWebhookConfiguration"
        kubectl.apply(
            {
                "apiVersion": "admissionregistration.k8s.io/v1",
                "kind": kind,
                "metadata": {"name": name},
                "webhooks": [webhook],
            }
        )
        metadata = {"name": "held", "namespace": "default", "labels": {"held": "yes"}}
        held = {"apiVersion": "v1", "kind": "ConfigMap", "metadata": metadata}
        probe = ("create", "--dry-run=server", "--request-timeout=2s", "-f", "-")
        # A webhook is known to the API server a moment after it is stored.
        wait_until(lambda: bool(kubectl.run(*probe, stdin=json.dumps(held)).returncode))
        try:
            yield
        finally:
            kubectl("delete", kind, name)
