"""The engine as Holdfast runs it: the real one, on a real API server."""

from pathlib import Path

import pytest
from holdfast.adapters.engine.run.environment import PROVIDER_PLUGIN
from holdfast.adapters.engine.run.events import Event, StepDone
from holdfast.adapters.engine.run.executable import PROVIDER_PROGRAM
from holdfast.adapters.engine.run.toolchain import find_program

from tests.e2e.live_sandbox import Kubectl
from tests.e2e.pulumi_project import PulumiProject

pytestmark = [
    pytest.mark.e2e,
    pytest.mark.usefixtures("engine_of_the_toolchain", "nothing_is_left_running"),
]

SIDECAR = (
    '[{"op":"add","path":"/spec/template/spec/containers/-","value":{"name":"evil","image":"e:1"}}]'
)


def test_previews_updates_and_finds_nothing_more_to_do_without_showing_a_secret(
    project: PulumiProject,
) -> None:
    project.declare(
        project.config_map("one", a="1"),
        project.deployment("app", "registry/app:1"),
        project.secret("key", password="correct-horse"),
    )
    stack = project.stack()
    events: list[Event] = []

    planned = stack.preview(on_event=events.append)
    done = stack.up(on_event=events.append)
    again = stack.up(on_event=events.append)

    assert {str(step): step.operation for step in planned.steps if step.reference} == {
        f"ConfigMap {project.namespace}/one": "create",
        f"Deployment {project.namespace}/app": "create",
        f"Secret {project.namespace}/key": "create",
    }
    assert done.counts == planned.counts == {"create": 5}
    assert not again.steps
    assert planned.unread == done.unread == again.unread == {}
    assert stack.outputs() == {"answer": 42, "hidden": "[secret]"}
    assert any(isinstance(event, StepDone) for event in events)
    for secret in ("hunter2", "correct-horse"):
        assert secret not in str(events)


def test_a_refresh_sees_declared_fields_and_deletions_with_their_paths(
    project: PulumiProject, kubectl: Kubectl
) -> None:
    project.declare(
        project.config_map("one", a="1"),
        project.config_map("two", a="1"),
        project.deployment("app", "registry/app:1"),
    )
    stack = project.stack()
    stack.up()
    assert not stack.refresh_preview().has_drift

    inside = ("-n", project.namespace)
    kubectl(*inside, "patch", "configmap", "one", "-p", '{"data":{"a":"2"}}')
    kubectl(*inside, "delete", "configmap", "two")
    kubectl(*inside, "patch", "deployment", "app", "--type=json", "-p", SIDECAR)
    found = {
        step.name: (step.operation, [(d.path, d.kind) for d in step.differences])
        for step in stack.refresh_preview().drifted
    }

    # The appended sidecar is not among it: Pulumi compares declared fields only.
    assert found == {"one": ("update", [("data.a", "update")]), "two": ("delete", [])}


def test_what_a_program_leaves_running_is_ended(project: PulumiProject) -> None:
    project.declare(before="import subprocess; subprocess.Popen(['sleep', '600'])")

    project.stack().preview()


def test_somebodys_own_pulumi_is_used_with_its_own_home(
    project: PulumiProject, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    own, home = tmp_path / "own", tmp_path / "home"
    plugin = home / "plugins" / PROVIDER_PLUGIN
    own.mkdir()
    plugin.mkdir(parents=True)
    for program in built_programs("pulumi*"):
        folder = plugin if program.name == PROVIDER_PROGRAM else own
        (folder / program.name).hardlink_to(program)
    monkeypatch.setenv("HOLDFAST_PULUMI", str(own))
    monkeypatch.setenv("PULUMI_HOME", str(home))
    project.declare(project.config_map("one", a="1"))

    stack = project.stack()

    assert stack.runner.environment.pulumi.path == own / "pulumi"
    assert stack.up().counts == {"create": 3}
    assert (home / "logs").is_dir()


def built_programs(pattern: str) -> list[Path]:
    return sorted(find_program("pulumi").parent.glob(pattern))
