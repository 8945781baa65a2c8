"""One stack: preview, refresh, update, destroy, export, each with its outcome as data."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import msgspec

from holdfast.adapters.engine.backend.file_backend import FILE_SCHEME, FileHistory
from holdfast.adapters.engine.failures.failures import command_failure, run_failure
from holdfast.adapters.engine.project import read_project
from holdfast.adapters.engine.results import RunRecorder, RunResult
from holdfast.adapters.engine.run.environment import engine_environment, prepare_engine
from holdfast.adapters.engine.run.event_stream import decode_event
from holdfast.adapters.engine.run.events import Event
from holdfast.adapters.engine.run.executable import find_pulumi
from holdfast.adapters.engine.run.process import Finished
from holdfast.adapters.engine.run.runner import EngineRunner
from holdfast.adapters.engine.state.checkpoint import Deployment, decode_export
from holdfast.errors import EngineError, ExitCode

EventHandler = Callable[[Event], None]

_COMMAND_TIMEOUT_SECONDS = 300.0


@dataclass(frozen=True)
class Stack:
    """One stack of one project; `open_stack` makes it.

    Attributes:
        runner: Runs the engine for the project.
        name: Name of the stack, such as `dev`.
        resume_command: What resumes after a killed run, as errors say; default `holdfast up`.
    """

    runner: EngineRunner
    name: str
    resume_command: str = ""

    @property
    def files(self) -> FileHistory | None:
        """The files of the stack; None when its backend is no folder of this machine."""
        url = self.runner.environment.backend_url
        if not url.startswith(FILE_SCHEME):
            return None
        return FileHistory.at(url, self.runner.project.name, self.name)

    def init_if_absent(self) -> bool:
        """Create the stack when its backend does not have it.

        Returns:
            Whether it was created.

        Raises:
            EngineError: the backend cannot be read or written.
        """
        if self._exists():
            return False
        done, _ = self._capture(["stack", "init", self.name, "--no-select"])
        if done.exit_code and "already exists" in done.errors:
            return False
        self._raise_for("stack init", done)
        return True

    def undo_init(self) -> None:
        """Remove the stack that `init_if_absent` has just created; it was never updated.

        Where the backend keeps a history of a stack of this name, the stack stays: removing it
        would remove that, too.

        Raises:
            EngineError: the backend cannot be read or written.
        """
        if self.files is not None:
            for path in self.files.state_paths():
                path.unlink(missing_ok=True)
            return
        if self.history_records(1):
            return
        arguments = ["stack", "rm", "--yes", "--preserve-config", "--stack", self.name]
        done, _ = self._capture(arguments)
        self._raise_for("stack rm", done)

    def _exists(self) -> bool:
        """Whether the backend has it.

        Asked first: where `stack init` cannot see whether there is a state, it writes an empty.
        """
        if self.files is not None:
            return self.files.current_path() is not None
        return self.export_if_there() is not None

    def preview(
        self,
        *,
        policy_pack: Path | None = None,
        policy_config: Path | None = None,
        refresh: bool = False,
        on_event: EventHandler | None = None,
        timeout_seconds: float | None = None,
    ) -> RunResult:
        """Say what an update would do, judged by the policy pack; nothing is written.

        Args:
            policy_pack: Folder of the pack; default none.
            policy_config: Its JSON configuration.
            refresh: Look at the cluster first: drift is reported, and planned to be put back.
            on_event: Called with each event as it comes.
            timeout_seconds: When to give up; default never.

        Raises:
            EngineError: the run failed; a `RunFailedError` tells what was found until then.
        """
        flags = _policy_flags(policy_pack, policy_config) + (["--refresh"] if refresh else [])
        return self._run("preview", flags, on_event, timeout_seconds)

    def refresh_preview(
        self,
        *,
        targets: Sequence[str] = (),
        on_event: EventHandler | None = None,
        timeout_seconds: float | None = None,
    ) -> RunResult:
        """Compare the record of the last update with the cluster; nothing is written.

        What Pulumi itself sees of drift: `drifted` of the result, each with its paths. It takes no
        lock, runs no program and no policy.

        Args:
            targets: URNs of the resources to look at; all when empty.
            on_event: Called with each event as it comes.
            timeout_seconds: When to give up; default never.

        Raises:
            EngineError: the cluster cannot be read; never reported as "no drift".
        """
        flags = ["--preview-only", *(f"--target={urn}" for urn in targets)]
        return self._run("refresh", flags, on_event, timeout_seconds)

    def refresh(self, *, targets: Sequence[str] = ()) -> RunResult:
        """Write into the state what the cluster has; what it has not is struck out.

        For a state that is made anew, and for objects that a killed run was deleting: after it,
        nobody can tell any more what an update had left of them.

        Args:
            targets: URNs of the resources to look at; all when empty.

        Raises:
            EngineError: the cluster cannot be read, or the state not written.
        """
        flags = ["--yes", "--skip-preview", *(f"--target={urn}" for urn in targets)]
        return self._run("refresh", flags, None, None)

    def up(
        self,
        *,
        policy_pack: Path | None = None,
        policy_config: Path | None = None,
        options: Sequence[str] = (),
        on_event: EventHandler | None = None,
        timeout_seconds: float | None = None,
    ) -> RunResult:
        """Update the cluster to what the program declares.

        Args:
            policy_pack: Folder of the pack; a resource that breaks a mandatory rule is not created,
                but what was done before it stays: preview first.
            policy_config: Its JSON configuration.
            options: Further flags of `pulumi up`, such as `--refresh` or `--target=URN`.
            on_event: Called with each event as it comes.
            timeout_seconds: When to stop; the steps in flight are finished and the state is saved.

        Raises:
            EngineError: the run failed; a `RunFailedError` tells what was done until then.
        """
        flags = [*_policy_flags(policy_pack, policy_config), *options]
        return self._run("up", ["--yes", "--skip-preview", *flags], on_event, timeout_seconds)

    def destroy(
        self,
        *,
        options: Sequence[str] = (),
        on_event: EventHandler | None = None,
        timeout_seconds: float | None = None,
    ) -> RunResult:
        """Delete everything that the stack has created.

        Raises:
            EngineError: the run failed; what was deleted until then is saved.
        """
        flags = ["--yes", "--skip-preview", *options]
        return self._run("destroy", flags, on_event, timeout_seconds)

    def set_tag(self, name: str, value: str) -> None:
        """Set a tag of the stack.

        Raises:
            EngineError: there is no such stack, or its backend refuses.
        """
        done, _ = self._capture(["stack", "tag", "set", name, value, "--stack", self.name])
        self._raise_for("stack tag set", done)

    def export(self, version: int | None = None) -> Deployment:
        """The state of the stack, secrets left encrypted.

        Args:
            version: An older version, where the backend keeps them; default the current one.

        Raises:
            EngineError: there is no such stack or version, or it cannot be read.
        """
        text = self.export_text(version)
        return decode_export(text, place=f"the export of stack {self.name}")

    def export_if_there(self) -> Deployment | None:
        """The state of the stack; None when its backend has no such stack.

        Raises:
            EngineError: it cannot be read.
        """
        try:
            return self.export()
        except EngineError as error:
            if error.exit_code is not ExitCode.NO_STACK:
                raise
            return None

    def export_text(self, version: int | None = None) -> bytes:
        """The same as the engine prints it, for `pulumi stack import`.

        Raises:
            EngineError: there is no such stack or version, or it cannot be read.
        """
        which = [f"--version={version}"] if version is not None else []
        return b"\n".join(self._query(["stack", "export", *which]))

    def outputs(self) -> dict[str, Any]:
        """Outputs of the stack; secret ones are masked by the engine.

        Raises:
            EngineError: there is no such stack, or it cannot be read.
        """
        lines = self._query(["stack", "output", "--json"])
        return msgspec.json.decode(b"\n".join(lines) or b"{}", type=dict[str, Any])

    def history_records(self, limit: int) -> list[dict[str, Any]]:
        """The newest changes of the stack, newest first, as the backend records them.

        Raises:
            EngineError: there is no such stack, or it cannot be read.
        """
        lines = self._query(["stack", "history", "--json", f"--page-size={limit}"])
        return msgspec.json.decode(b"\n".join(lines) or b"[]", type=list[dict[str, Any]])

    def _query(self, arguments: Sequence[str]) -> list[bytes]:
        done, lines = self._capture([*arguments, "--stack", self.name])
        self._raise_for(" ".join(arguments[:2]), done)
        return lines

    def _capture(self, arguments: Sequence[str]) -> tuple[Finished, list[bytes]]:
        lines: list[bytes] = []
        return self.runner.run(arguments, lines.append, _COMMAND_TIMEOUT_SECONDS), lines

    def _raise_for(self, command: str, finished: Finished) -> None:
        if error := command_failure(command, self.name, finished):
            raise error

    def _run(
        self,
        action: str,
        flags: Sequence[str],
        on_event: EventHandler | None,
        timeout_seconds: float | None,
    ) -> RunResult:
        self.runner.refuse_unready(changes_state=action in ("up", "destroy"))
        recorder = RunRecorder(action)

        def take(line: bytes) -> None:
            if (event := decode_event(line)) is not None:
                recorder.add(event)
                if on_event is not None:
                    on_event(event)

        arguments = [action, "--json", *flags, "--stack", self.name]
        finished = self.runner.run(arguments, take, timeout_seconds)
        result = recorder.result(finished.seconds)
        if error := run_failure(self.name, finished, result, self.resume_command):
            raise error
        return result


def open_stack(
    project_root: Path,
    name: str,
    *,
    kubeconfig: Path | None = None,
    variables: Mapping[str, str] | None = None,
) -> Stack:
    """Make ready to run the engine on a stack: find it, set its variables, create its folders.

    Args:
        project_root: Folder of `Pulumi.yaml`.
        name: Name of the stack.
        kubeconfig: Kubeconfig of the sandbox that the stack lives in, if it does.
        variables: Further variables of every run.

    Raises:
        ToolchainError: there is no usable `pulumi`, or its folders cannot be written.
        InputError: there is no project in that folder.
    """
    project = read_project(project_root)
    environment = engine_environment(
        find_pulumi(), project_backend=project.backend_url, kubeconfig=kubeconfig
    )
    prepare_engine(environment)
    environment = replace(environment, variables={**environment.variables, **(variables or {})})
    return Stack(EngineRunner(project, environment), name)


def _policy_flags(pack: Path | None, config: Path | None) -> list[str]:
    if pack is None:
        return []
    flags = [f"--policy-pack={pack.absolute()}"]
    return flags if config is None else [*flags, f"--policy-pack-config={config.absolute()}"]
