"""What `holdfast policy check` judges, and by what: manifests, files, a state or a cluster."""

from collections.abc import Callable
from dataclasses import dataclass, replace
from datetime import UTC, date, datetime
from functools import cached_property, partial
from pathlib import Path

from holdfast_policies.evaluation.rule_set import RuleSet
from holdfast_policies.evaluation.waivers import Waiver, WaiverFileError, read_waivers

from holdfast.adapters.clock import utc_now
from holdfast.adapters.engine.state.checkpoint import Deployment
from holdfast.errors import InputError, SourceLocation
from holdfast.manifest.fleet.fleet import Fleet
from holdfast.operations.policy.change import (
    findings_of_change,
    fleet_of_change,
    objects_of_change,
)
from holdfast.operations.policy.evaluate import verdicts, waiver_findings
from holdfast.operations.policy.live import LiveRequest, live_objects
from holdfast.operations.policy.model import PolicyFinding, PolicyReport
from holdfast.operations.policy.own_rules import rules_of_project
from holdfast.operations.policy.settings import WAIVERS_FILE
from holdfast.operations.policy.sources import (
    PolicyInput,
    StackPolicy,
    objects_of_files,
    objects_of_state,
    place_of_waiver,
    policy_of,
    profile_by,
    read_export,
    recorded_objects,
    rendered_objects,
    stack_in,
)
from holdfast.operations.policy.weakened import place_of_rule, unasked, weakened_findings
from holdfast.operations.stack.context import StackContext


@dataclass(frozen=True)
class CheckRequest:
    """What is to be judged, and by what.

    Attributes:
        stack: Whose profile, rules and waivers hold; and, without a source, whose manifests.
        files: Files and folders of objects.
        is_state: The state of the stack.
        state_file: A state that `pulumi stack export` has written.
        is_live: A cluster: that of the stack, else that of the kubeconfig.
        namespaces: Where in it; empty for its own or the stack's.
        is_everywhere: In all namespaces.
        kubeconfig: File instead of the stack's or the usual ones.
        context: Of the kubeconfig, instead of the stack's or the current one.
        profile: Instead of the stack's.
        config: JSON file of levels and parameters, over everything else.
        root: Folder of Pulumi.yaml; None outside of a project, where no stack is named.
        change: Project folder of a change, which is judged as data by this project's rules.
    """

    stack: str = ""
    files: tuple[Path, ...] = ()
    is_state: bool = False
    state_file: Path | None = None
    is_live: bool = False
    namespaces: tuple[str, ...] = ()
    is_everywhere: bool = False
    kubeconfig: Path | None = None
    context: str | None = None
    profile: str | None = None
    config: Path | None = None
    root: Path | None = None
    change: Path | None = None

    @property
    def words(self) -> str:
        """What is judged, in words."""
        if self.change is not None:
            return f"the change of stack {self.stack}"
        if self.files:
            return f"files {', '.join(map(str, self.files))}"
        if self.state_file is not None:
            return f"state file {self.state_file}"
        if self.is_live:
            return f"the cluster of stack {self.stack}" if self.stack else "the cluster"
        return f"the state of stack {self.stack}" if self.is_state else f"stack {self.stack}"

    @property
    def is_whole(self) -> bool:
        """Whether all objects of a stack are judged, not only some."""
        return bool(self.stack) and not self.files and not self.is_live

    @property
    def identifier(self) -> str:
        """The same as a stable name."""
        sources = (
            ("change", self.change is not None),
            ("files", bool(self.files)),
            ("state", self.is_state or self.state_file is not None),
            ("cluster", self.is_live),
        )
        source = next((name for name, is_chosen in sources if is_chosen), "")
        return "/".join(part for part in ("policy", self.stack, source) if part)


def check_policy(request: CheckRequest, *, is_exact: bool = False) -> PolicyReport:
    """Judge objects by the rules of the policy pack, and by the waivers that hold today.

    Args:
        request: Which objects, and by which rules.
        is_exact: Find the exact place of everything; else only of what would be refused.

    Raises:
        InputError: the settings of a rule are not what it takes, or a file cannot be read.
        InvalidFilesError: the manifests are not valid.
        EngineError: the state cannot be had.
        ClusterError: the cluster cannot be asked at all.
    """
    observed_at, today = utc_now(), datetime.now(UTC).date()
    sources = _Sources(request)
    policy = sources.policy(today)
    profile = profile_by(policy, request.profile, request.config)
    gathered = sources.collect(policy.known)
    findings, judged = verdicts(gathered.judged, profile, is_exact=is_exact)
    waived = tuple(
        waiver_findings(
            gathered.judged,
            findings,
            profile,
            is_whole=request.is_whole,
            place_of=sources.place_of_waiver,
        )
    )
    weakened = tuple(weakened_findings(profile, *sources.settings(), request.root))
    return PolicyReport(
        title=f"Policy of {request.words}",
        identifier=request.identifier,
        profile=str(profile.environment),
        findings=(*findings, *waived, *weakened, *sources.weakened_by_change()),
        objects=judged,
        not_checked=(*unasked(profile), *gathered.not_checked),
        remarks=gathered.remarks,
        observed_at=observed_at,
        known=policy.known,
    )


@dataclass(frozen=True)
class _Sources:
    """The objects of a request; stack and export are read once."""

    request: CheckRequest

    @cached_property
    def context(self) -> StackContext:
        """The stack that is named."""
        assert self.request.root is not None  # noqa: S101  (a stack stands in a project)
        return StackContext(self.request.root, self.request.stack)

    @cached_property
    def export(self) -> Deployment:
        """The state that was exported to a file."""
        assert self.request.state_file is not None  # noqa: S101  (the caller has seen it)
        return read_export(self.request.state_file)

    @cached_property
    def change(self) -> Fleet:
        """What the change declares."""
        assert self.request.change is not None  # noqa: S101  (the caller has seen it)
        return fleet_of_change(self.context, self.request.change)

    def weakened_by_change(self) -> tuple[PolicyFinding, ...]:
        """What the change takes away from the rules."""
        change = self.request.change
        if change is None:
            return ()
        return tuple(findings_of_change(self.context, self.change, change))

    def policy(self, today: date) -> StackPolicy:
        """How it is judged: as the stack says; without one as production, by the project's waivers.

        A state says of which stack it is, and with that its profile.
        """
        if self.request.stack:
            return policy_of(self.context, today)
        profile = "prod" if self.request.state_file is None else stack_in(self.export)
        root = self.request.root
        return StackPolicy(profile, today, {}, _compiled_waivers(root), rules_of_project(root))

    def settings(self) -> tuple[str, str, Callable[[str], SourceLocation | None]]:
        """Whose levels are wanted, what may weaken them, and where that is written of a rule."""
        config = self.request.config
        if config is not None:
            return self._named, str(config), lambda _: SourceLocation(str(config))
        if not self.request.stack:
            return self._named, "settings", lambda _: None
        return (
            self._named,
            f"the settings of stack {self.request.stack}",
            partial(place_of_rule, self.context.fleet),
        )

    def place_of_waiver(self, name: str) -> SourceLocation | None:
        """Where a waiver is declared; None where no manifests were read."""
        return place_of_waiver(self.context.fleet, name) if self.request.stack else None

    @property
    def _named(self) -> str:
        """The stack whose name stands for a profile, where none was chosen on purpose."""
        return "" if self.request.profile else self.request.stack

    def collect(self, known: RuleSet) -> PolicyInput:
        """The objects that rules judge."""
        if self.request.change is not None:
            return objects_of_change(self.change)
        if self.request.files:
            return objects_of_files(self.request.files)
        if self.request.is_live:
            return self._live(known)
        if self.request.state_file is not None:
            return objects_of_state(self.export)
        if self.request.is_state:
            return recorded_objects(self.context)
        return rendered_objects(self.context)

    def _live(self, known: RuleSet) -> PolicyInput:
        asked = self.request
        request = LiveRequest(
            asked.kubeconfig, asked.context, asked.namespaces, asked.is_everywhere
        )
        if not asked.stack:
            return live_objects(request, known)
        request = replace(
            request,
            kubeconfig=asked.kubeconfig or self.context.kubeconfig,
            context=asked.context or self.context.kube_context,
        )
        if not asked.namespaces and not asked.is_everywhere:
            declared = {agent.namespace for agent in self.context.fleet.workloads}
            request = replace(request, namespaces=tuple(sorted(declared)))
        return live_objects(request, known)


def _compiled_waivers(root: Path | None) -> tuple[Waiver, ...]:
    """Waivers of a project; none outside of any.

    Raises:
        InputError: the compiled file is not what Holdfast writes.
    """
    if root is None:
        return ()
    try:
        return read_waivers(root / WAIVERS_FILE)
    except WaiverFileError as error:
        raise InputError(str(error)) from error
