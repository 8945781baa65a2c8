"""What the files of a project declare for one stack, read through the models."""

from dataclasses import dataclass
from functools import cached_property
from pathlib import Path

from holdfast.adapters.engine.backend.remote_backend import RemoteHistory
from holdfast.adapters.engine.stack import Stack, open_stack
from holdfast.adapters.engine.state.history import History
from holdfast.operations.stack.context import StackContext
from holdfast.operations.stack.declaration_cache import StackDeclaration
from holdfast.operations.stack.ignore_rules import ignore_rules_of
from holdfast.operations.stack.source_locations import StackLocations
from holdfast.render.provenance.origins import Origins


@dataclass(frozen=True)
class DeclaredFiles:
    """The files of one stack.

    Attributes:
        context: The stack.
        ignore_file: Rules on expected drift, named by the user; None for the project's own.
    """

    context: StackContext
    ignore_file: Path | None = None

    @classmethod
    def of(
        cls, root: Path, name: str, ignore_file: Path | None, given: StackContext | None
    ) -> "DeclaredFiles":
        """The files of a stack, in the context that is given, else in one of their own."""
        return cls(given or StackContext(root, name), ignore_file)

    @cached_property
    def declaration(self) -> StackDeclaration:
        """What they declare now.

        Raises:
            InputError: there is no such stack, or its files are not valid.
        """
        return declaration_of(self.context, self.ignore_file)

    @cached_property
    def engine_history(self) -> History:
        """The engine's history of the stack, asked of a backend that is no folder."""
        return RemoteHistory(self.context.engine())

    def engine(self, kubeconfig: Path | None) -> Stack:
        """The engine's stack, which uses a kubeconfig; None for the usual one."""
        return open_stack(
            self.context.root,
            self.context.name,
            kubeconfig=kubeconfig,
            timeout_seconds=self.context.engine_timeout_seconds,
        )

    @cached_property
    def origins(self) -> Origins:
        """Which line of which file declares a field."""
        return Origins(self.context.fleet, self.context.name)

    @cached_property
    def locations(self) -> StackLocations:
        """Where the things of a finding are declared."""
        return StackLocations(self.origins)


def declaration_of(context: StackContext, ignore_file: Path | None) -> StackDeclaration:
    """What the files declare now.

    Args:
        context: The stack.
        ignore_file: Rules on expected drift, named by the user; default the project's own.

    Raises:
        InputError: there is no such stack, or its files are not valid.
    """
    fleet = context.fleet
    return StackDeclaration(
        objects=context.objects,
        policy_profile=context.policy_profile,
        policy_rules=fleet.environment.policy.rules,
        context=context.kube_context,
        ignore=ignore_rules_of(ignore_file, context.root, fleet),
        modes={agent.name: agent.spec.drift.mode for agent in fleet.workloads},
    )
