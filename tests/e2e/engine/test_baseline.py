"""The baseline, from the states that the real engine leaves."""

import pytest
from holdfast.adapters.engine.backend.remote_backend import RemoteHistory
from holdfast.adapters.engine.stack import Stack
from holdfast.adapters.engine.state.baseline import BaselineObject, choose_baseline, read_baseline

from tests.e2e.live_sandbox import Kubectl
from tests.e2e.pulumi_project import PulumiProject

pytestmark = [
    pytest.mark.e2e,
    pytest.mark.usefixtures("engine_of_the_toolchain", "nothing_is_left_running"),
]

SIDECAR = (
    '[{"op":"add","path":"/spec/template/spec/containers/-","value":{"name":"evil","image":"e:1"}}]'
)


def test_the_baseline_is_what_the_last_update_left_and_no_refresh_rewrites_it(
    project: PulumiProject, kubectl: Kubectl
) -> None:
    project.declare(project.deployment("app", "registry/app:1"), project.secret("key", k="hunter2"))
    stack = project.stack()
    assert read_baseline(project.root, "dev").reason == (
        "the stack has never been updated successfully"
    )
    stack.up()
    first = read_baseline(project.root, "dev")
    kubectl("-n", project.namespace, "patch", "deployment", "app", "--type=json", "-p", SIDECAR)

    refresh(stack)
    refreshed = read_baseline(project.root, "dev")
    stack.up()  # changes nothing, and carries the refreshed record on
    carried_on = read_baseline(project.root, "dev")
    stack.up(options=["--refresh"])
    at_last = read_baseline(project.root, "dev")

    for baseline in (first, refreshed, carried_on, at_last):
        assert names_of_containers(baseline.objects) == ["agent"]
    state = next(r for r in stack.export().resources if r.urn.endswith("::app"))
    recorded = state.kubernetes_object()
    assert recorded is not None
    assert len(recorded.live["spec"]["template"]["spec"]["containers"]) == 2
    assert [change.kind for change in refreshed.later_changes] == ["refresh"]
    assert carried_on.later_changes == ()
    assert {b.field_manager for b in at_last.objects} == {"holdfast"}
    assert all(b.object["metadata"]["uid"] for b in at_last.objects)
    assert "hunter2" not in str(at_last)


def test_a_backend_elsewhere_gives_the_same_baseline_or_says_what_it_cannot_know(
    project: PulumiProject, kubectl: Kubectl
) -> None:
    project.declare(project.deployment("app", "registry/app:1"), project.config_map("one", a="1"))
    stack = project.stack()
    stack.up()
    local = read_baseline(project.root, "dev")
    assert choose_baseline(RemoteHistory(stack)).objects == local.objects
    assert len(local.objects) == 2

    kubectl("-n", project.namespace, "patch", "deployment", "app", "--type=json", "-p", SIDECAR)
    refresh(stack)
    refreshed = choose_baseline(RemoteHistory(stack))
    stack.up()
    carried_on = choose_baseline(RemoteHistory(stack))

    # Only the files of a local backend still hold what the first update left of it.
    for baseline in (refreshed, carried_on):
        assert [reference.name for reference in baseline.untrusted] == ["app"]
        assert [each.reference.name for each in baseline.objects] == ["one"]


def test_a_changed_program_moves_the_baseline_on(project: PulumiProject, kubectl: Kubectl) -> None:
    project.declare(project.deployment("app", "registry/app:1"))
    stack = project.stack()
    stack.up()
    kubectl("-n", project.namespace, "annotate", "deployment", "app", "note=by-hand")
    project.declare(project.deployment("app", "registry/app:2"))

    stack.up(options=["--refresh"])
    (app,) = read_baseline(project.root, "dev").objects

    assert app.object["spec"]["template"]["spec"]["containers"][0]["image"] == "registry/app:2"


def test_a_destroyed_stack_has_no_baseline(project: PulumiProject, kubectl: Kubectl) -> None:
    project.declare(project.config_map("one", a="1"))
    stack = project.stack()
    stack.up()

    done = stack.destroy()

    assert done.counts["delete"] == 3
    assert "destroyed" in read_baseline(project.root, "dev").reason
    assert kubectl("-n", project.namespace, "get", "configmap", "one", "--ignore-not-found") == ""


def refresh(stack: Stack) -> None:
    """A refresh that writes what it finds into the state; Holdfast itself never runs one."""
    arguments = ["refresh", "--yes", "--skip-preview", "--stack", stack.name]
    assert stack.runner.run(arguments, lambda _line: None).exit_code == 0


def names_of_containers(objects: tuple[BaselineObject, ...]) -> list[str]:
    (app,) = [each.object for each in objects if each.reference.kind == "Deployment"]
    return [container["name"] for container in app["spec"]["template"]["spec"]["containers"]]
