"""The engine as Holdfast runs it: the real one, on a real API server."""

import os
import signal
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest
from holdfast.engine import leftovers, process
from holdfast.engine.baseline import BaselineObject, choose_baseline, read_baseline
from holdfast.engine.environment import PROVIDER_PLUGIN
from holdfast.engine.events import Event, StepDone
from holdfast.engine.executable import PROVIDER_PROGRAM
from holdfast.engine.failures import RunFailedError
from holdfast.engine.leftovers import session_members
from holdfast.engine.remote_backend import RemoteHistory
from holdfast.engine.stack import Stack, open_stack
from holdfast.engine.toolchain import find_program
from holdfast.errors import EngineError, ExitCode

from tests.e2e.live_sandbox import Kubectl, LiveSandbox, run_holdfast
from tests.e2e.pulumi_project import PulumiProject

pytestmark = pytest.mark.e2e

SIDECAR = (
    '[{"op":"add","path":"/spec/template/spec/containers/-","value":{"name":"evil","image":"e:1"}}]'
)


@pytest.fixture(scope="module", autouse=True)
def engine_of_the_toolchain(sandbox: LiveSandbox) -> Iterator[None]:
    """The built engine with the defaults, whatever the shell of the tests has chosen."""
    with pytest.MonkeyPatch.context() as patch:
        for name in [name for name in os.environ if name.startswith("PULUMI_")]:
            patch.delenv(name)
        patch.delenv("HOLDFAST_PULUMI", raising=False)
        yield


@pytest.fixture
def project(sandbox: LiveSandbox, namespace: str, tmp_path: Path) -> PulumiProject:
    project = PulumiProject(tmp_path / "project", sandbox.context, sandbox.kubeconfig(), namespace)
    project.create()
    text = (project.root / "Pulumi.yaml").read_text()
    (project.root / "Pulumi.yaml").write_text(text.replace("scratch", f"scratch-{namespace}"))
    return project


@pytest.fixture(autouse=True)
def nothing_is_left_running(monkeypatch: pytest.MonkeyPatch) -> Iterator[list[int]]:
    """After each test: no process of any session that a run has had."""
    sessions: list[int] = []

    def record(session: int) -> tuple[int, ...]:
        sessions.append(session)
        return leftovers.end_session(session)

    monkeypatch.setattr(process, "end_session", record)
    yield sessions
    assert sessions
    assert [session_members(session) for session in sessions] == [()] * len(sessions)


def test_previews_updates_and_finds_nothing_more_to_do_without_telling_a_secret(
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
    assert not again.has_changes
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


def test_a_preview_that_refreshes_explains_the_conflict_it_runs_into(
    project: PulumiProject, kubectl: Kubectl
) -> None:
    project.declare(project.deployment("app", "registry/app:1"))
    stack = project.stack()
    stack.up()
    kubectl("-n", project.namespace, "set", "image", "deployment/app", "agent=registry/app:2")

    with pytest.raises(RunFailedError) as raised:
        stack.preview(refresh=True)

    assert str(raised.value).startswith(
        f"{project.namespace}/app: field manager kubectl-set has changed "
        '.spec.template.spec.containers[name="agent"].image, which holdfast declares; '
        "run 'holdfast drift -s dev'"
    )
    drifted = raised.value.result.drifted
    assert [d.path for d in drifted[0].differences] == ["spec.template.spec.containers[0].image"]


def test_a_mandatory_violation_ends_in_the_exit_code_of_policy(project: PulumiProject) -> None:
    project.declare(project.config_map("big", a="1", b="2", c="3"), project.config_map("ok", a="1"))
    stack = project.stack()
    pack = project.root / "pack"

    with pytest.raises(RunFailedError) as raised:
        stack.preview(policy_pack=pack)
    (project.root / "config.json").write_text('{"small-maps": "advisory"}')
    advised = stack.preview(policy_pack=pack, policy_config=project.root / "config.json")

    assert raised.value.exit_code == ExitCode.POLICY
    assert "[small-maps] big: big: more than two keys; split it" in str(raised.value)
    assert [(v.policy, v.level) for v in advised.violations] == [("small-maps", "advisory")]
    assert [v.policy for v in raised.value.result.mandatory_violations] == ["small-maps"]


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
    assert "checkpoint" in choose_baseline(RemoteHistory(stack)).reason
    stack.up()
    carried_on = choose_baseline(RemoteHistory(stack))

    # Only the files of a local backend still hold what the first update left of it.
    assert [reference.name for reference in carried_on.untrusted] == ["app"]
    assert [each.reference.name for each in carried_on.objects] == ["one"]


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


def test_a_signal_ends_the_run_saves_what_was_done_and_frees_the_lock(
    project: PulumiProject,
) -> None:
    project.declare(
        project.config_map("one", a="1"), project.deployment("app", "registry/app:1", held=True)
    )
    stack = project.stack()
    with driven_up(project) as driver:
        wait_for_line(driver, "StepDone one")

        with pytest.raises(
            EngineError, match=r"dev is locked by \S+ \(process \d+\) since"
        ) as held:
            stack.up()
        driver.send_signal(signal.SIGINT)
        said = driver.communicate(timeout=60)[1]

    assert "run 'pulumi cancel -s dev'" in str(held.value)
    assert driver.returncode == ExitCode.CANCELLED, said
    assert "cancelled; what was done is saved" in said
    assert "one" in {resource.urn.rpartition("::")[2] for resource in stack.export().resources}
    project.declare(project.config_map("one", a="1"), project.deployment("app", "registry/app:1"))
    stack.up()


def test_a_time_out_ends_the_run_in_its_exit_code(project: PulumiProject) -> None:
    project.declare(project.deployment("app", "registry/app:1", held=True))

    with pytest.raises(EngineError, match="up did not end in time") as raised:
        project.stack().up(timeout_seconds=4)

    assert raised.value.exit_code == ExitCode.TIMEOUT


def test_what_a_program_leaves_running_is_ended(project: PulumiProject) -> None:
    project.declare(before="import subprocess; subprocess.Popen(['sleep', '600'])")

    project.stack().preview()


@pytest.mark.parametrize(
    ("before", "says", "code"),
    [
        pytest.param(
            "import sys; print('error: agents/x.yaml:3: bad', file=sys.stderr); sys.exit(2)",
            "agents/x.yaml:3: bad",
            ExitCode.BAD_INPUT,
            id="it-refuses-its-input",
        ),
        pytest.param(
            "from holdfast.errors import InputError\nraise InputError('two agents named x')",
            "two agents named x",
            ExitCode.BAD_INPUT,
            id="it-raises-an-error-of-ours",
        ),
        pytest.param(
            "raise KeyError('x')",
            "the program failed: KeyError: 'x'",
            ExitCode.ERROR,
            id="it-raises-another",
        ),
    ],
)
def test_a_failing_program_is_told_in_its_own_words(
    project: PulumiProject, before: str, says: str, code: ExitCode
) -> None:
    project.declare(before=before)

    with pytest.raises(RunFailedError) as raised:
        project.stack().preview()

    assert (str(raised.value), raised.value.exit_code) == (says, code)


def test_a_stack_that_is_not_there_is_said(project: PulumiProject) -> None:
    stack = open_stack(project.root, "nowhere", kubeconfig=project.kubeconfig)

    with pytest.raises(
        EngineError, match="no stack named nowhere; run 'pulumi stack init"
    ) as raised:
        stack.refresh_preview()

    assert raised.value.exit_code == ExitCode.NO_STACK


def test_a_wrong_passphrase_is_said_before_anything_is_written(
    project: PulumiProject, monkeypatch: pytest.MonkeyPatch
) -> None:
    project.stack()
    monkeypatch.setenv("PULUMI_CONFIG_PASSPHRASE", "wrong")

    with pytest.raises(EngineError, match="passphrase of stack dev is wrong") as raised:
        project.stack().up()

    assert raised.value.exit_code == ExitCode.AUTHENTICATION


def test_a_cluster_that_cannot_be_read_is_an_error_and_never_clean(
    project: PulumiProject, tmp_path: Path
) -> None:
    project.declare(project.config_map("one", a="1"))
    project.stack().up()
    broken = tmp_path / "broken.kubeconfig"
    stack = open_stack(project.root, "dev", kubeconfig=broken)
    good = project.kubeconfig.read_text()

    broken.write_text(good.replace("127.0.0.1:", "127.0.0.1:1"))
    with pytest.raises(EngineError, match="cluster of stack dev cannot be reached") as unreachable:
        stack.refresh_preview()
    broken.write_text(good.replace(project.context, "another"))
    with pytest.raises(EngineError, match="the kubeconfig has no context 'holdfast-"):
        stack.refresh_preview()

    assert unreachable.value.exit_code == ExitCode.ERROR


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


@pytest.mark.usefixtures("project")
def test_the_command_line_refuses_an_old_pulumi(
    tmp_path: Path, nothing_is_left_running: list[int]
) -> None:
    nothing_is_left_running.append(os.getpid())  # no run of ours at all
    old = tmp_path / "pulumi"
    old.write_text("#!/bin/sh\necho v3.200.0\n")
    old.chmod(0o755)

    done = run_holdfast("env", variables={"HOLDFAST_PULUMI": str(old)})

    assert done.returncode == ExitCode.ERROR
    assert "Pulumi 3.227 or newer is needed" in done.stderr


def built_programs(pattern: str) -> list[Path]:
    return sorted(find_program("pulumi").parent.glob(pattern))


DRIVER = """
import sys
from pathlib import Path
from holdfast.engine.stack import open_stack
from holdfast.errors import HoldfastError

def show(event):
    step = getattr(event, "step", None)
    print(type(event).__name__, step.name if step else "", flush=True)

try:
    open_stack(Path(sys.argv[1]), "dev", kubeconfig=Path(sys.argv[2])).up(on_event=show)
except HoldfastError as error:
    print(error, file=sys.stderr)
    sys.exit(int(error.exit_code))
"""


def driven_up(project: PulumiProject) -> "subprocess.Popen[str]":
    """An update in a process of its own, as the command line runs it."""
    return subprocess.Popen(
        [sys.executable, "-c", DRIVER, project.root, project.kubeconfig],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )


def wait_for_line(driver: "subprocess.Popen[str]", line: str) -> None:
    assert driver.stdout is not None
    for each in driver.stdout:
        if each.strip() == line:
            return
    pytest.fail(f"the run ended before {line!r}: {driver.communicate()[1]}")


def refresh(stack: Stack) -> None:
    """A refresh that writes what it finds into the state; Holdfast itself never runs one."""
    arguments = ["refresh", "--yes", "--skip-preview", "--stack", stack.name]
    assert stack.runner.run(arguments, lambda _line: None).exit_code == 0


def names_of_containers(objects: tuple[BaselineObject, ...]) -> list[str]:
    (app,) = [each.object for each in objects if each.reference.kind == "Deployment"]
    return [container["name"] for container in app["spec"]["template"]["spec"]["containers"]]
