"""What the files of a project declare for one stack, expected drift and locations included."""

from collections.abc import Iterator
from dataclasses import dataclass
from datetime import UTC, datetime
from functools import cached_property
from pathlib import Path

from holdfast.adapters.engine.backend.remote_backend import RemoteHistory
from holdfast.adapters.engine.stack import Stack, open_stack
from holdfast.adapters.engine.state.history import History
from holdfast.drift.exemption.ignore import IgnoreRule, IgnoreRules
from holdfast.drift.finding import DriftClass, Finding
from holdfast.errors import SourceLocation
from holdfast.kube.paths import parse_path
from holdfast.manifest.fleet.fleet import DeclaredAgent, Fleet
from holdfast.manifest.kinds.exemptions import DriftIgnoreSpec
from holdfast.manifest.kinds.kinds import DriftIgnore
from holdfast.manifest.stack.ignore_file import IGNORE_FILE, read_ignore_file
from holdfast.operations.stack.context import StackContext
from holdfast.operations.stack.declaration_cache import StackDeclaration
from holdfast.render.provenance.origins import Origins


def ignore_rules(
    file: Path | None, project_root: Path | None = None, fleet: Fleet | None = None
) -> IgnoreRules:
    """Every rule that holds for a scan, judged by today's date.

    Args:
        file: Named by the user; default the project's own, where there is one.
        project_root: Folder of Pulumi.yaml; None for plain objects.
        fleet: What the stack declares; None for plain objects.

    Raises:
        InvalidFilesError: the file is not valid.
    """
    return IgnoreRules(ignore_rules_of(file, project_root, fleet), datetime.now(UTC).date())


def ignore_rules_of(
    file: Path | None, project_root: Path | None = None, fleet: Fleet | None = None
) -> tuple[IgnoreRule, ...]:
    """The same, whatever day it is."""
    rules: list[IgnoreRule] = []
    name = str(file or IGNORE_FILE)
    if file is None and project_root is not None:
        file = project_root / IGNORE_FILE
        file = file if file.exists() else None
    if file is not None:
        for each in read_ignore_file(file, name, fleet.stack if fleet else ""):
            rules.append(_of_spec(each.entry, each.origin.value_location))
    if fleet is not None:
        rules += (_of_spec(each.spec, each.location_of("spec")) for each in fleet.of(DriftIgnore))
        rules += (rule for agent in fleet.agents for rule in _of_agent(agent))
    return tuple(rules)


def _of_spec(spec: DriftIgnoreSpec, location: SourceLocation) -> IgnoreRule:
    target = spec.target
    return IgnoreRule(
        location,
        target.group,
        target.kind,
        target.name,
        target.namespace,
        paths=tuple(parse_path(path) for path in spec.paths),
        managers=spec.managers,
        reason=spec.reason,
        owner=spec.owner,
        expires=spec.expires,
    )


def _of_agent(agent: DeclaredAgent) -> Iterator[IgnoreRule]:
    settings, owner = agent.spec.drift, agent.spec.owner or ""
    for index, each in enumerate(settings.ignore):
        yield IgnoreRule(
            agent.location_of(("spec", "drift", "ignore", index)),
            namespace=agent.namespace,
            agent=agent.name,
            paths=(parse_path(each.path),),
            reason=each.reason,
            owner=owner,
            expires=each.expires,
        )
    for index, expected in enumerate(settings.expected_managers):
        yield IgnoreRule(
            agent.location_of(("spec", "drift", "expectedManagers", index)),
            namespace=agent.namespace,
            agent=agent.name,
            paths=tuple(parse_path(path) for path in expected.paths),
            managers=(expected.manager,),
            reason=f"written by {expected.manager}",
            owner=owner,
        )


@dataclass(frozen=True)
class StackLocations:
    """Locations in the files of a stack."""

    origins: Origins

    @classmethod
    def of(cls, fleet: Fleet) -> "StackLocations":
        """Those of the stack that a fleet was read for."""
        return cls(Origins(fleet, fleet.stack))

    def location_of(self, finding: Finding) -> SourceLocation | None:
        """Where the field of a finding is declared; None for objects that no file declares.

        It is the stack's own file where no agent stands behind the object.
        """
        if finding.drift_class is DriftClass.UNMANAGED:
            return None
        found = self.origins.declared_at(finding.ref, finding.path)
        return found or self.origins.fleet.setting_location()


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
        controllers=tuple(fleet.environment.controllers),
        ignore=ignore_rules_of(ignore_file, context.root, fleet),
        modes={agent.name: agent.spec.drift.mode for agent in fleet.workloads},
    )
