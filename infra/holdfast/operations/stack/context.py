"""One stack of one project: its files, what they render to, its cluster and its engine."""

import difflib
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path

from holdfast.adapters.engine.backend.stack_lock import stack_lock
from holdfast.adapters.engine.stack import RUN_TIMEOUT_SECONDS, Stack, open_stack
from holdfast.adapters.engine.state.baseline import state_files
from holdfast.adapters.engine.state.interrupted import interrupted
from holdfast.errors import ClusterError, InputError
from holdfast.kube.objects import KubeObject
from holdfast.manifest.fleet.fleet import DeclaredAgent, Fleet
from holdfast.manifest.fleet.loader import load_fleet
from holdfast.manifest.fleet.project_files import AGENTS_FOLDER
from holdfast.manifest.stack.environment import Environment
from holdfast.manifest.stack.stack_files import read_environment
from holdfast.operations.stack.project import audit_log_beside, kubeconfig_of_stack
from holdfast.render.fleet import render_fleet
from holdfast.render.plan.metadata import RenderedObject
from holdfast.render.plan.planning import plan_fleet
from holdfast.sandbox.paths import CONTEXT_PREFIX, sandbox_kubeconfig

NOTHING_DECLARED = f"no manifest lies in {AGENTS_FOLDER}/: nothing is declared"
_MOST_NAMED = 20


def agent_named(name: str, fleet: Fleet) -> DeclaredAgent:
    """The agent, or tool server that the stack runs, of this name.

    Raises:
        InputError: there is none; names those that are there.
    """
    for agent in fleet.workloads:
        if agent.name == name:
            return agent
    raise no_such_agent(name, [agent.name for agent in fleet.workloads], fleet.stack)


def no_such_agent(name: str, names: Sequence[str], stack: str = "") -> InputError:
    """The error of an agent that is not there: the name that may be meant, else those there are.

    Args:
        name: What was asked for.
        names: Every agent, and tool server that runs, in the order in which they are listed.
        stack: Stack that has no such agent; empty where several were read.
    """
    close = difflib.get_close_matches(name, names, n=1)
    more = f" and {len(names) - _MOST_NAMED} more" if len(names) > _MOST_NAMED else ""
    known = ", ".join(names[:_MOST_NAMED]) + more
    return InputError(
        f"no agent {name!r}" + (f" on stack {stack}" if stack else ""),
        remedy=f'did you mean "{close[0]}"?' if close else f"there are: {known or 'none'}",
    )


@dataclass(frozen=True)
class StackContext:
    """One stack, each part read when first asked for and then kept: one context an operation.

    Attributes:
        root: Folder of Pulumi.yaml.
        name: Name of the stack.
        engine_timeout_seconds: Of each preview, refresh and update.
    """

    root: Path
    name: str
    engine_timeout_seconds: float = RUN_TIMEOUT_SECONDS

    @cached_property
    def environment(self) -> Environment:
        """Settings of the stack's file, without its agents.

        Raises:
            InputError: there is no such stack; exit code 6.
            InvalidFilesError: its file is not valid.
        """
        return read_environment(self.root, self.name)

    @cached_property
    def fleet(self) -> Fleet:
        """What the files declare for the stack."""
        return load_fleet(self.root, self.name)

    @cached_property
    def rendered(self) -> tuple[RenderedObject, ...]:
        """Every object of the stack."""
        return render_fleet(plan_fleet(self.fleet, self.name))

    @property
    def objects(self) -> tuple[KubeObject, ...]:
        """The same, as plain objects."""
        return tuple(item.manifest for item in self.rendered)

    @property
    def kube_context(self) -> str | None:
        """Kubernetes context of the stack's cluster; None for the current one."""
        return self.environment.cluster.context

    @property
    def policy_profile(self) -> str:
        """Profile by which the stack is judged: as its file says, else by its name."""
        return self.environment.profile_for(self.name)

    @property
    def kubeconfig(self) -> Path | None:
        """Kubeconfig of the sandbox that the stack lives in; None when it lives elsewhere.

        Raises:
            InputError: there is no such sandbox.
        """
        return kubeconfig_of_stack(self.name, self.kube_context)

    @property
    def sandbox_kubeconfig(self) -> Path | None:
        """The same; None as well while that sandbox is absent: the engine says what is wrong."""
        context = self.kube_context
        return sandbox_kubeconfig(context) if context else None

    @property
    def audit_log(self) -> Path | None:
        """Audit log of that sandbox; None when the stack lives elsewhere."""
        return audit_log_beside(self.kubeconfig)

    def require_sandbox(self) -> None:
        """End before anything begins for a stack whose sandbox is absent.

        Raises:
            ClusterError: it is absent; it may come, so this is no fault of the files.
        """
        context = self.kube_context
        if not context or not context.startswith(CONTEXT_PREFIX) or sandbox_kubeconfig(context):
            return
        name = context.removeprefix(CONTEXT_PREFIX)
        raise ClusterError(
            f"stack {self.name} lives in sandbox {name!r}, which does not exist",
            remedy=f"run `holdfast sandbox up --name {name}`",
        )

    def engine(self) -> Stack:
        """The engine's stack, ready to be previewed, updated or refreshed.

        Raises:
            InputError: there is no such stack; exit code 6.
            ToolchainError: there is no usable `pulumi`.
        """
        return open_stack(
            self.root,
            self.name,
            kubeconfig=self.sandbox_kubeconfig,
            timeout_seconds=self.engine_timeout_seconds,
        )

    @contextmanager
    def locked(self) -> Iterator[None]:
        """Keep updates of the stack away while something writes to its cluster.

        Where the backend is no folder of this machine the lock cannot be held: an update that the
        state shows, or that a service names, is respected; one that begins meanwhile is not kept
        away.

        Raises:
            EngineError: an update is under way or unfinished, or the backend cannot be asked.
        """
        files = state_files(self.root, self.name)
        if files is None and (error := interrupted(self.engine()).refusal(self.name)):
            raise error
        with stack_lock(files):
            yield
