"""What a stack declares, read through the models only when no earlier run has kept it.

The models, the renderer and the policy pack take longer to load than a scan in sync takes; so this
is the one place that loads them late.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import cache, cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any

from holdfast.adapters.engine.state.baseline import state_files
from holdfast.adapters.engine.state.history import History
from holdfast.drift.exemption.ignore import IgnoreRules
from holdfast.drift.finding import Finding
from holdfast.drift.severity import BrokenRule, RuleJudge
from holdfast.errors import SourceLocation
from holdfast.operations.stack.declaration_cache import DeclarationCache, StackDeclaration

if TYPE_CHECKING:
    from holdfast.adapters.engine.stack import Stack
    from holdfast.manifest.fleet.fleet import Fleet
    from holdfast.operations.stack.context import StackContext
    from holdfast.operations.stack.declaration import DeclaredFiles
    from holdfast.render.provenance.origins import Origins


@dataclass(frozen=True)
class DeclaredStack:
    """The declaration of one stack; each part is read when first asked for, and then kept.

    Attributes:
        root: Folder of Pulumi.yaml.
        name: Name of the stack.
        ignore_file: Rules on expected drift that the user named; None for the project's own.
        use_cache: What an earlier run has rendered will do, where it still holds.
        given: The context of a caller that has one already.
    """

    root: Path
    name: str
    ignore_file: Path | None = None
    use_cache: bool = False
    given: "StackContext | None" = None

    @cached_property
    def declaration(self) -> StackDeclaration:
        """What the files declare.

        Raises:
            InputError: there is no such stack, or its files are not valid.
        """
        if not self.use_cache:
            return self._files.declaration
        cache = DeclarationCache(self.root, self.name, self.ignore_file)
        return cache.declaration(lambda: self._files.declaration)

    @cached_property
    def history(self) -> History:
        """The engine's history of the stack: from the files of a folder, else asked of the engine.

        Raises:
            EngineError: the backend cannot be asked.
        """
        return state_files(self.root, self.name) or self._files.engine_history

    def engine(self, kubeconfig: Path | None) -> "Stack":
        """The engine's stack, which uses a kubeconfig; None for the usual one.

        Raises:
            ToolchainError: there is no usable `pulumi`.
        """
        return self._files.engine(kubeconfig)

    @property
    def context(self) -> "StackContext":
        """The stack itself: fleet, engine, lock."""
        return self._files.context

    @property
    def origins(self) -> "Origins":
        """Which line of which file declares a field."""
        return self._files.origins

    def location_of(self, finding: Finding) -> SourceLocation | None:
        """Where the field of a finding is declared."""
        return self._files.locations.location_of(finding)

    @cached_property
    def _files(self) -> "DeclaredFiles":
        from holdfast.operations.stack.declaration import DeclaredFiles  # noqa: PLC0415  (the models)

        return DeclaredFiles.of(self.root, self.name, self.ignore_file, self.given)


def judge_of(
    environment: str,
    rules: Mapping[str, Any],
    find_fleet: "Callable[[], Fleet | None]" = lambda: None,
) -> RuleJudge:
    """The policy pack's verdict on one object; the pack is loaded when something is found.

    Args:
        environment: Profile, or the name of a stack.
        rules: What a stack says of single rules.
        find_fleet: Reads whose exceptions hold, when something is found; None for plain objects.
    """

    @cache
    def loaded() -> RuleJudge:
        from holdfast.operations.policy.evaluate import rule_judge  # noqa: PLC0415  (the pack)

        return rule_judge(environment, rules, find_fleet())

    def judge(kube_object: Mapping[str, Any]) -> Mapping[str, BrokenRule]:
        return loaded()(kube_object)

    return judge


def file_ignore_rules(file: Path) -> IgnoreRules:
    """Rules on expected drift of one file, for plain objects.

    Raises:
        InvalidFilesError: the file is not valid.
    """
    from holdfast.operations.stack.declaration import ignore_rules  # noqa: PLC0415  (the models)

    return ignore_rules(file)
