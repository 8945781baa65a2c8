"""One stack: preview, refresh, update, destroy, export, each with its outcome as data."""

import tempfile
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import takewhile
from pathlib import Path
from typing import Any

import msgspec

from holdfast.adapters.engine.backend.file_backend import FILE_SCHEME, SERVICE_SCHEMES, FileHistory
from holdfast.adapters.engine.failures.failures import command_failure, run_failure
from holdfast.adapters.engine.project import read_project
from holdfast.adapters.engine.results import RunRecorder, RunResult
from holdfast.adapters.engine.run.environment import engine_environment, prepare_engine
from holdfast.adapters.engine.run.event_stream import decode_event
from holdfast.adapters.engine.run.events import Event, UnreadLine
from holdfast.adapters.engine.run.executable import find_pulumi
from holdfast.adapters.engine.run.policy_pack import policy_flags
from holdfast.adapters.engine.run.process import StopReason
from holdfast.adapters.engine.run.runner import EngineRunner
from holdfast.adapters.engine.state.checkpoint import Deployment, decode_export
from holdfast.errors import EngineError, ExitCode

EventHandler = Callable[[Event], None]

RUN_TIMEOUT_SECONDS = 3600.0
"""Default of a run that deploys or compares a whole stack."""

_COMMAND_TIMEOUT_SECONDS = 600.0


@dataclass(frozen=True)
class Stack:
    """One stack of one project; `open_stack` makes it.

    Attributes:
        runner: Runs the engine for the project.
        name: Name of the stack, such as `dev`.
        resume_command: What resumes after a killed run, as errors say; default `holdfast up`.
        timeout_seconds: When a preview, refresh, update or destroy is stopped: the engine finishes
            the steps in flight and saves the state.
    """

    runner: EngineRunner
    name: str
    resume_command: str = ""
    timeout_seconds: float = RUN_TIMEOUT_SECONDS

    @property
    def files(self) -> FileHistory | None:
        """The files of the stack; None when its backend is no folder of this machine."""
        url = self.runner.environment.backend_url
        if not url.startswith(FILE_SCHEME):
            return None
        return FileHistory.at(url, self.runner.project, self.name)

    @property
    def may_be_served(self) -> bool:
        """Whether a service such as Pulumi Cloud keeps it, or may: the login is encrypted."""
        url = self.runner.environment.backend_url
        return not url or url.startswith(SERVICE_SCHEMES)

    @property
    def may_hide_locks(self) -> bool:
        """Whether a lock may lie where the engine alone sees it: in a bucket or a database."""
        url = self.runner.environment.backend_url
        return not url.startswith((FILE_SCHEME, *SERVICE_SCHEMES))

    def init_if_absent(self) -> bool:
        """Create the stack when its backend does not have it.

        Returns:
            Whether it was created.

        Raises:
            EngineError: the backend cannot be read or written.
        """
        if self._exists():
            return False
        arguments = ["stack", "init", self.name, "--no-select"]
        done = self.runner.run(arguments, lambda _: None, _COMMAND_TIMEOUT_SECONDS)
        if done.exit_code and "already exists" in done.errors:
            return False
        if error := command_failure("stack init", self.name, done):
            raise error
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
        self.command(["stack", "rm", "--yes", "--preserve-config"])

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
        excluded: Sequence[str] = (),
        on_event: EventHandler | None = None,
    ) -> RunResult:
        """Say what an update would do, judged by the policy pack; nothing is written.

        Args:
            policy_pack: Folder of the pack; default none.
            policy_config: Its JSON configuration.
            refresh: Read the cluster first: drift is reported, and planned to be reverted.
            excluded: URNs of resources that are passed over.
            on_event: Called with each event as it comes.

        Raises:
            EngineError: the run failed; a `RunFailedError` says what was found until then.
        """
        with policy_flags(policy_pack, policy_config) as flags:
            without = (f"--exclude={urn}" for urn in excluded)
            every = [*flags, *(["--refresh"] if refresh else []), *without]
            return self._run("preview", every, on_event)

    def refresh_preview(
        self,
        *,
        targets: Sequence[str] = (),
        on_event: EventHandler | None = None,
    ) -> RunResult:
        """Compare the record of the last update with the cluster; nothing is written.

        What Pulumi itself sees of drift: `drifted` of the result, each with its paths. It takes no
        lock, runs no program and no policy.

        Args:
            targets: URNs of the resources to read; all when empty.
            on_event: Called with each event as it comes.

        Raises:
            EngineError: the cluster cannot be read; never reported as "no drift".
        """
        flags = ["--preview-only", *(f"--target={urn}" for urn in targets)]
        return self._run("refresh", flags, on_event)

    def refresh(self, *, targets: Sequence[str] = ()) -> RunResult:
        """Write into the state what the cluster has; what it has not is struck out.

        For a state that is rebuilt, and for objects that a killed run was deleting. Afterwards
        the state no longer shows what an update had left of them.

        Args:
            targets: URNs of the resources to read; all when empty.

        Raises:
            EngineError: the cluster cannot be read, or the state not written.
        """
        flags = ["--yes", "--skip-preview", *(f"--target={urn}" for urn in targets)]
        return self._run("refresh", flags)

    def up(
        self,
        *,
        policy_pack: Path | None = None,
        policy_config: Path | None = None,
        options: Sequence[str] = (),
        on_event: EventHandler | None = None,
        stop_reason: StopReason | None = None,
    ) -> RunResult:
        """Update the cluster to what the program declares.

        Args:
            policy_pack: Folder of the pack; a resource that breaks a mandatory rule is not created,
                but what was done before it stays: preview first.
            policy_config: Its JSON configuration.
            options: Further flags of `pulumi up`, such as `--refresh` or `--target=URN`.
            on_event: Called with each event as it comes.
            stop_reason: Asked again and again; what it gives stops the run in the same way.

        Raises:
            EngineError: the run failed; a `RunFailedError` says what was done until then.
        """
        with policy_flags(policy_pack, policy_config) as flags:
            every = ["--yes", "--skip-preview", *flags, *options]
            return self._run("up", every, on_event, stop_reason)

    def destroy(
        self,
        *,
        options: Sequence[str] = (),
        on_event: EventHandler | None = None,
    ) -> RunResult:
        """Delete everything that the stack has created.

        Raises:
            EngineError: the run failed; what was deleted until then is saved.
        """
        flags = ["--yes", "--skip-preview", *options]
        return self._run("destroy", flags, on_event)

    def set_tag(self, name: str, value: str) -> None:
        """Set a tag of the stack.

        Raises:
            EngineError: there is no such stack, or its backend refuses.
        """
        self.command(["stack", "tag", "set", name, value])

    def unprotect(self, urns: Sequence[str]) -> None:
        """Let resources be deleted from the state.

        Raises:
            StackLockedError: another run holds the lock; nothing was written.
            EngineError: there is no such stack or resource, or its backend refuses.
        """
        self.command(["state", "unprotect", "--yes", *urns])

    def cancel(self) -> None:
        """Remove the locks of the stack, whose ever they are.

        Raises:
            EngineError: there is no such stack, or its backend refuses.
        """
        self.command(["cancel", "--yes"])

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
        return self.command(["stack", "export", *which])

    def state(self) -> dict[str, Any]:
        """The same as plain JSON, with all that the engine writes.

        Raises:
            EngineError: there is no such stack, or it cannot be read.
        """
        text = self.export_text()
        if not text:
            raise EngineError(f"the export of stack {self.name} is empty")
        return msgspec.json.decode(text, type=dict[str, Any])

    def import_state(self, document: Mapping[str, Any]) -> None:
        """Make a document the state of the stack; the engine drops operations left pending.

        Raises:
            StackLockedError: another run holds the lock; nothing was written.
            EngineError: the engine or its backend refuses.
        """
        # A folder that its owner alone may enter: not every secret is encrypted.
        with tempfile.TemporaryDirectory(prefix="holdfast-") as folder:
            file = Path(folder) / "state.json"
            file.write_bytes(msgspec.json.encode(document))
            self.command(["stack", "import", f"--file={file}"])

    def outputs(self) -> dict[str, Any]:
        """Outputs of the stack; secret ones are masked by the engine.

        Raises:
            EngineError: there is no such stack, or it cannot be read.
        """
        text = self.command(["stack", "output", "--json"])
        return msgspec.json.decode(text or b"{}", type=dict[str, Any])

    def history_records(self, limit: int) -> list[dict[str, Any]]:
        """The newest changes of the stack, newest first, as the backend records them.

        Raises:
            EngineError: there is no such stack, or it cannot be read.
        """
        text = self.command(["stack", "history", "--json", f"--page-size={limit}"])
        return msgspec.json.decode(text or b"[]", type=list[dict[str, Any]])

    def command(
        self, arguments: Sequence[str], variables: Mapping[str, str] | None = None
    ) -> bytes:
        """Run a command that has no events; gives what it printed.

        Args:
            arguments: The command, its flags and arguments, without the stack.
            variables: Further variables of this run alone.

        Raises:
            StackLockedError: another run holds the lock; nothing was written.
            EngineError: it failed.
        """
        lines: list[bytes] = []
        whole = [*arguments, "--stack", self.name]
        done = self.runner.run(whole, lines.append, _COMMAND_TIMEOUT_SECONDS, variables)
        if error := command_failure(_named(arguments), self.name, done):
            raise error
        return b"\n".join(lines)

    def _run(
        self,
        action: str,
        flags: Sequence[str],
        on_event: EventHandler | None = None,
        stop_reason: StopReason | None = None,
    ) -> RunResult:
        self.runner.refuse_unready(changes_state=action in ("up", "destroy"))
        recorder = RunRecorder(action)

        def take(line: bytes) -> None:
            event = decode_event(line)
            if event is None:
                return
            recorder.add(event)
            if on_event is not None and not isinstance(event, UnreadLine):
                on_event(event)

        arguments = [action, "--json", *flags, "--stack", self.name]
        finished = self.runner.run(arguments, take, self.timeout_seconds, stop_reason=stop_reason)
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
    timeout_seconds: float = RUN_TIMEOUT_SECONDS,
) -> Stack:
    """Make ready to run the engine on a stack: find it, set its variables, create its folders.

    Args:
        project_root: Folder of `Pulumi.yaml`.
        name: Name of the stack.
        kubeconfig: Kubeconfig of the sandbox that the stack lives in, if it does.
        variables: Further variables of every run.
        timeout_seconds: Of each preview, refresh, update and destroy.

    Raises:
        ToolchainError: there is no usable `pulumi`, or its folders cannot be written.
        InputError: there is no project in that folder.
    """
    project = read_project(project_root)
    environment = engine_environment(
        find_pulumi(),
        project_backend=project.backend_url,
        kubeconfig=kubeconfig,
        python=project.python,
    )
    prepare_engine(environment)
    environment = replace(environment, variables={**environment.variables, **(variables or {})})
    return Stack(EngineRunner(project, environment), name, timeout_seconds=timeout_seconds)


def _named(arguments: Sequence[str]) -> str:
    """What errors call a command: its words, without the flags and what follows them."""
    words = takewhile(lambda each: not each.startswith("-"), arguments)
    return " ".join(list(words)[:2])
