"""State that is kept in PostgreSQL or in a bucket: the same Holdfast, and clear words where not.

Rows 22 and 23 of the fault matrix, and the second half of row 24, on real servers. The tests of one
backend go on from each other's end.
"""

import json
import os
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import ExitStack
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest
from holdfast.adapters.engine.stack import Stack
from holdfast.adapters.engine.state.checkpoint import decompressed
from holdfast.adapters.engine.state.state_backup import KeptStates
from holdfast.errors import EngineError, ExitCode

from tests.e2e.git_project import GitProject, agent
from tests.e2e.live_sandbox import Kubectl, LiveSandbox
from tests.e2e.object_store import object_store, store_program
from tests.e2e.postgres import needs_postgres, postgres_server
from tests.e2e.pulumi_project import PulumiProject

pytestmark = pytest.mark.e2e

PATIENCE_SECONDS = 400
PASSWORD = "hunter2-of-the-database"
QUICKLY = ("--no-engine", "--no-history")
HOLD = "sandbox.holdfast.dev/hold"


@dataclass(frozen=True)
class Backend:
    """Where state is kept.

    Attributes:
        name: Also the namespace of its agents.
        lose: From now on it cannot be written, nor read.
        regain: It can again.
        because: What the error says then.
    """

    name: str
    lose: Callable[[], None]
    regain: Callable[[], None]
    because: str


@pytest.fixture(
    scope="module",
    params=[
        pytest.param("postgres", marks=needs_postgres),
        pytest.param(
            "bucket",
            marks=pytest.mark.skipif(
                store_program() is None,
                reason="the object store is not built: run `make storetool` first",
            ),
        ),
    ],
)
def backend(request: pytest.FixtureRequest, sandbox: LiveSandbox) -> Iterator[Backend]:
    """A server with nothing in it, which the engine's variables name."""
    assert sandbox
    with ExitStack() as stack:
        patch = stack.enter_context(pytest.MonkeyPatch.context())
        patch.setenv("PULUMI_CONFIG_PASSPHRASE", "correct horse")
        if request.param == "postgres":
            server = stack.enter_context(postgres_server())
            address = f"app:{PASSWORD}@127.0.0.1:{server.port}"
            patch.setenv("PULUMI_BACKEND_URL", f"postgres://{address}/postgres?sslmode=disable")
            yield Backend("postgres", server.stop, server.start, "no connection to 127.0.0.1:")
            return
        program = store_program()
        assert program is not None
        store = stack.enter_context(object_store(program))
        patch.setenv("PULUMI_BACKEND_URL", store.url)
        patch.setenv("AWS_ACCESS_KEY_ID", "somebody")
        patch.setenv("AWS_SECRET_ACCESS_KEY", PASSWORD)

        def expire(*, is_so: bool) -> None:
            store.is_expired = is_so

        yield Backend(
            "bucket",
            lambda: expire(is_so=True),
            lambda: expire(is_so=False),
            "the token has expired",
        )


@pytest.fixture(scope="module")
def project(
    backend: Backend, sandbox: LiveSandbox, tmp_path_factory: pytest.TempPathFactory
) -> GitProject:
    """One agent in a repository, not deployed yet."""
    root = tmp_path_factory.mktemp(backend.name)
    return GitProject.write(root, sandbox, manifest(backend))


def manifest(backend: Backend, *, held: bool = False) -> str:
    """The one agent; a held one is never ready."""
    namespace = f"namespace: {backend.name}"
    if held:
        namespace += f', annotations: {{{HOLD}: "true"}}'
    return agent("bot").replace("namespace: loop", namespace)


def holdfast(project: GitProject, *arguments: str) -> "subprocess.CompletedProcess[str]":
    done = project.project.holdfast(*arguments)
    assert PASSWORD not in done.stdout + done.stderr
    return done


def kept(project: GitProject) -> list[Path]:
    return KeptStates.of(project.project.stack().runner.project.name, "dev").newest_first()


def assert_settled(project: GitProject) -> None:
    """A scan with a baseline finds nothing, and an update has nothing to do."""
    done = holdfast(project, "drift", "-s", "dev", "-o", "json", *QUICKLY)
    assert (done.returncode, json.loads(done.stdout)["findings"]) == (0, []), done.stdout
    assert "no baseline" not in done.stderr
    assert not project.project.stack().preview().steps


def test_an_update_is_recorded_and_a_scan_finds_its_baseline(
    project: GitProject, backend: Backend
) -> None:
    done = holdfast(project, "up", "-s", "dev")

    assert done.returncode == 0, done.stderr
    assert_settled(project)
    # Those of the backends before are told, too: project and stack are called the same.
    update = json.loads(holdfast(project, "history", "dev", "-o", "json").stdout)["updates"][0]
    assert (update["outcome"], update["agents"]) == ("succeeded", ["bot"])
    assert {path.stat().st_mode & 0o777 for path in kept(project)} == {0o600}
    assert f'"{backend.name}"' in kept(project)[0].read_text()


def test_what_a_refresh_wrote_is_no_baseline_with_a_copy_here_or_without(
    project: GitProject, backend: Backend, kubectl: Kubectl
) -> None:
    image = "registry.example/any:by-hand"
    kubectl("set", "image", "deployment/bot", f"agent={image}", "-n", backend.name)
    project.project.pulumi("refresh", "--yes", "--skip-preview")
    with_copy = holdfast(project, "drift", "-s", "dev", *QUICKLY)
    folder = kept(project)[0].parent
    folder.rename(folder.with_name("away"))
    without = holdfast(project, "drift", "-s", "dev", *QUICKLY)
    folder.with_name("away").rename(folder)

    assert "no baseline" not in with_copy.stderr
    assert f"no baseline for Deployment {backend.name}/bot: " in without.stderr
    for scan in (with_copy, without):
        assert scan.returncode == ExitCode.DRIFT, scan.stderr
        assert "containers[name=agent].image" in scan.stdout
    reverted = holdfast(project, "drift", "revert", "-s", "dev", "--yes", "--no-history")
    assert reverted.returncode in (ExitCode.OK, ExitCode.DRIFT), reverted.stderr


def test_rows_22_and_23_a_backend_that_is_lost_in_mid_run_costs_nothing(
    project: GitProject, backend: Backend, kubectl: Kubectl
) -> None:
    project.commit("A pod that does not start", manifest(backend, held=True))
    with subprocess.Popen(
        [sys.executable, "-m", "holdfast.cli.main", "up", "-s", "dev"],
        cwd=project.root,
        env=os.environ | {"HOLDFAST_STATE": str(project.project.sandbox.state)},
        stderr=subprocess.PIPE,
        text=True,
    ) as run:
        wait_for_held_pod(kubectl, backend, run)
        beside = holdfast(project, "up", "-s", "dev")
        recovery_beside = holdfast(project, "up", "-s", "dev", "--recover")
        scan = holdfast(project, "drift", "-s", "dev", "-o", "json", *QUICKLY)
        revert = holdfast(project, "drift", "revert", "-s", "dev", "--yes", "--no-history")
        backend.lose()
        kubectl("annotate", "pods", "--all", f"{HOLD}-", "-n", backend.name)
        said = run.communicate(timeout=PATIENCE_SECONDS)[1]
    lost = holdfast(project, "drift", "-s", "dev")
    backend.regain()

    assert beside.returncode == ExitCode.ERROR
    assert "a run is changing stack dev, or was killed while it did" in beside.stderr
    assert "wait for it to end; if none runs, " in beside.stderr
    assert recovery_beside.returncode == ExitCode.ERROR
    assert "stack dev is locked by " in recovery_beside.stderr
    assert "wait for that run to end" in recovery_beside.stderr
    assert scan.returncode == ExitCode.ERROR
    assert "in flight" in json.dumps(json.loads(scan.stdout)["notChecked"])
    assert revert.returncode == ExitCode.ERROR

    assert PASSWORD not in said
    assert run.returncode in (ExitCode.ERROR, ExitCode.AUTHENTICATION), said
    assert f"the state of stack dev cannot be written: {backend.because}" in said
    assert "then run 'holdfast up -s dev --recover'" in said
    copy = next(each for each in kept(project) if each.stem.endswith("-before"))
    assert f"'pulumi stack import -s dev --file {copy}' restores the copy kept here" in said
    assert lost.returncode == run.returncode, "what cannot be read is not called clean"
    assert f"the backend of stack dev cannot be read: {backend.because}" in lost.stderr

    refused = holdfast(project, "up", "-s", "dev")
    assert "if none runs, run 'holdfast up -s dev --recover'" in refused.stderr
    project.commit("A pod that starts", manifest(backend))
    done = holdfast(project, "up", "-s", "dev", "--recover")
    assert done.returncode == 0, done.stderr
    assert "recovery: removed the lock of " in done.stderr
    assert_settled(project)


def wait_for_held_pod(
    kubectl: Kubectl, backend: Backend, run: "subprocess.Popen[str]"
) -> dict[str, Any]:
    """Wait until the update waits for a pod that does not start."""
    deadline = time.monotonic() + PATIENCE_SECONDS
    while True:
        for pod in kubectl.get("pods", "-n", backend.name)["items"]:
            if HOLD in pod["metadata"].get("annotations", {}):
                return dict(pod)
        assert run.poll() is None, run.communicate()[1]
        assert time.monotonic() < deadline
        time.sleep(0.5)


def test_the_copy_that_is_kept_is_a_state_that_the_engine_takes(project: GitProject) -> None:
    project.project.pulumi("stack", "import", "--file", str(kept(project)[0]))

    assert_settled(project)


def test_a_state_is_recreated_from_files_and_cluster(project: GitProject) -> None:
    there = holdfast(project, "recover", "-s", "dev")
    done = holdfast(project, "recover", "-s", "dev", "--replace", "-o", "json")
    project.project.pulumi("stack", "rm", "--force", "--yes", "--preserve-config")
    gone = holdfast(project, "drift", "-s", "dev")
    again = holdfast(project, "recover", "-s", "dev", "-o", "json")

    assert there.returncode == ExitCode.BAD_INPUT
    assert "add --replace" in there.stderr
    assert done.returncode == 0, done.stderr
    assert "the old state is kept as " in done.stderr
    assert json.loads(done.stdout)["source"] == "cluster"
    assert gone.returncode == ExitCode.NO_STACK
    assert again.returncode == 0, again.stderr
    assert json.loads(again.stdout)["recovered"] == json.loads(done.stdout)["recovered"]


@pytest.mark.parametrize(
    ("passphrase", "has_pulled"),
    [
        pytest.param("old", True, id="old-passphrase"),
        pytest.param("new", False, id="old-stack-file"),
        pytest.param("old", False, id="old-passphrase-and-stack-file"),
    ],
)
def test_row_24_a_rotated_secrets_provider_ends_a_run_before_it_writes(
    rotated: "Rotated",
    monkeypatch: pytest.MonkeyPatch,
    passphrase: str,
    *,
    has_pulled: bool,
) -> None:
    monkeypatch.setenv("PULUMI_CONFIG_PASSPHRASE", passphrase)
    rotated.stack_file.write_text(rotated.new_file if has_pulled else rotated.old_file)
    before = rotated.state()

    for run in (rotated.stack.preview, rotated.stack.up):
        with pytest.raises(EngineError, match="passphrase of stack dev is wrong") as raised:
            run()
        assert raised.value.exit_code is ExitCode.AUTHENTICATION
        assert "after a 'pulumi stack change-secrets-provider' the new one" in str(raised.value)

    assert rotated.state() == before
    assert b"hunter2" not in before


def test_row_24_the_new_passphrase_with_the_new_stack_file_goes_on(
    rotated: "Rotated", monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("PULUMI_CONFIG_PASSPHRASE", "new")
    rotated.stack_file.write_text(rotated.new_file)

    assert not rotated.stack.up().steps


@dataclass(frozen=True)
class Rotated:
    """A stack with a secret, whose passphrase has been changed."""

    project: PulumiProject
    stack_file: Path
    old_file: str
    new_file: str

    @property
    def stack(self) -> Stack:
        """The stack, under the passphrase of now."""
        return self.project.stack()

    def state(self) -> bytes:
        """The state as it lies there."""
        files = self.stack.files
        assert files is not None
        path = files.current_path()
        assert path is not None
        return decompressed(path.read_bytes(), str(path))


@pytest.fixture(scope="module")
def rotated(sandbox: LiveSandbox, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Rotated]:
    root = tmp_path_factory.mktemp("rotated") / "project"
    project = PulumiProject(root, sandbox.context, sandbox.kubeconfig(), "default")
    project.create()
    with pytest.MonkeyPatch.context() as patch:
        # That of the tests above lasts until the end of the module.
        patch.delenv("PULUMI_BACKEND_URL", raising=False)
        patch.setenv("PULUMI_CONFIG_PASSPHRASE", "old")
        stack = project.stack()
        stack.up()
        file = root / "stacks" / "Pulumi.dev.yaml"
        old = file.read_text()
        done = subprocess.run(
            [
                *(stack.runner.environment.pulumi.path, "stack", "change-secrets-provider"),
                *("passphrase", "--stack", "dev", "--non-interactive"),
            ],
            cwd=root,
            env=stack.runner.variables,
            input="new\n",
            capture_output=True,
            text=True,
            check=False,
        )
        assert done.returncode == 0, done.stderr
        yield Rotated(project, file, old, file.read_text())
