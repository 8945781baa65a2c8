"""How the engine is started for a project: which program, under which variables, or not at all."""

import os
import sys
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from importlib.util import find_spec
from pathlib import Path

from holdfast.adapters.engine.backend.processes import forget_engine, note_engine
from holdfast.adapters.engine.failures.messages import without_credentials
from holdfast.adapters.engine.project import Project
from holdfast.adapters.engine.run.environment import EngineEnvironment
from holdfast.adapters.engine.run.process import Finished, LineHandler, StopReason, run_in_session
from holdfast.adapters.engine.run.toolchain import build_command
from holdfast.errors import EngineError, InputError, ToolchainError

_EXPERIMENT = "PULUMI_SKIP_CHECKPOINTS"
_FORCED_EXPERIMENT = "HOLDFAST_FORCE_SKIP_CHECKPOINTS"

# Set for a whole shell these would change what a run of ours means: confirmations are said in each
# call, options too, and an outage must never count as deleted or as clean.
_NEVER_PASSED_ON = (
    "PULUMI_SKIP_CONFIRMATIONS",
    "PULUMI_K8S_DELETE_UNREACHABLE",
    "PULUMI_K8S_SKIP_UPDATE_UNREACHABLE",
    "PULUMI_ENABLE_LEGACY_REFRESH_DIFF",
)
_OPTION_PREFIX = "PULUMI_OPTION_"
_LOCKING = ("up ", "destroy ", "refresh ", "stack import ", "stack init ")
_PROGRAM_PACKAGES = ("pulumi", "pulumi_kubernetes", "pulumi_policy")
_STREAM_EVENTS = {"PULUMI_ENABLE_STREAMING_JSON_PREVIEW": "true"}


@dataclass(frozen=True)
class EngineRunner:
    """Starts the engine in a project's folder.

    Attributes:
        project: The Pulumi project.
        environment: Which program, and the variables that differ from the ambient ones.
    """

    project: Project
    environment: EngineEnvironment

    def run(
        self,
        arguments: Sequence[str],
        on_line: LineHandler,
        timeout_seconds: float | None = None,
        variables: Mapping[str, str] | None = None,
        stop_reason: StopReason | None = None,
    ) -> Finished:
        """Run one command of `pulumi`; see `run_in_session`.

        Args:
            arguments: The command, its flags and arguments.
            on_line: Called with each line of its output.
            timeout_seconds: When to stop it; default never.
            variables: Further variables of this run alone.
            stop_reason: Asked again and again; what it gives stops the run.

        Raises:
            ToolchainError: the program cannot be started.
        """
        pulumi = self.environment.pulumi.path
        takes_lock = " ".join(arguments).startswith(_LOCKING)
        try:
            finished = run_in_session(
                [str(pulumi), *arguments, "--non-interactive", "--color=never"],
                folder=self.project.root,
                variables={**self.variables, **(variables or {})},
                on_line=on_line,
                on_start=note_engine if takes_lock else None,
                timeout_seconds=timeout_seconds,
                stop_reason=stop_reason,
            )
        except OSError as error:
            message = f"{pulumi} cannot be started ({error.strerror})"
            raise ToolchainError(message, remedy=f"run '{build_command('toolchain')}'") from error
        if takes_lock and finished.exit_code == 0:
            forget_engine(finished.pid)
        return replace(finished, errors=without_credentials(finished.errors))

    @cached_property
    def variables(self) -> Mapping[str, str]:
        """The whole environment of a run."""
        whole = self.environment.applied_to(os.environ) | _STREAM_EVENTS
        return {
            name: value
            for name, value in whole.items()
            if name not in _NEVER_PASSED_ON and not name.startswith(_OPTION_PREFIX)
        }

    def refuse_unready(self, *, changes_state: bool) -> None:
        """Refuse what the engine would take a long way round, or could lose the state with.

        Raises:
            EngineError: the program has no virtual environment.
            InputError: Pulumi's packages are not installed, or checkpoints are switched off and
                that is not confirmed by a variable.
        """
        environment = self.project.virtual_environment
        if environment is not None and not (environment / "bin" / "python").exists():
            # The engine would create one from the network, and then miss `pulumi` in it.
            message = f"the program's virtual environment {environment} does not exist"
            raise EngineError(message, remedy="run 'make setup'")
        runs_here = environment is None or environment.resolve() == Path(sys.prefix).resolve()
        if runs_here and (missing := [each for each in _PROGRAM_PACKAGES if not find_spec(each)]):
            raise InputError(
                f"the program needs {missing[0]}, which is not installed",
                remedy="run `pip install 'holdfast[pulumi]'`",
            )
        skips = self.variables.get(_EXPERIMENT, "").lower() in ("1", "true")
        if changes_state and skips and _FORCED_EXPERIMENT not in self.variables:
            message = f"{_EXPERIMENT} is set: a killed run would lose the whole state"
            raise InputError(message, remedy=f"unset it, or set {_FORCED_EXPERIMENT}=1 as well")
