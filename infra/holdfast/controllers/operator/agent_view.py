"""Everything that is known of one agent at one moment: what status and action are made from."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cached_property
from typing import TYPE_CHECKING, Any, Final

from holdfast.drift.cause.owners import ENGINES, engine_of
from holdfast.drift.finding import Finding, Severity
from holdfast.kube.objects import Identity, KubeObject, ObjectRef, mapping_at, reference_of
from holdfast.kube.paths import Path, format_path
from holdfast.render.plan.metadata import RenderedObject, content_hash, revision_of

if TYPE_CHECKING:
    from holdfast.controllers.operator.failover import FailoverState

PAUSED: Final = "holdfast.dev/paused"
"""Annotation of an agent: while it is `true`, the operator reports and does not write."""


@dataclass(frozen=True)
class AgentView:
    """One agent as it is wanted and as it is.

    Attributes:
        resource: The live Agent.
        mode: Who applies its objects: observe (Pulumi) or expand (the operator).
        invalid: Why it is no manifest.
        unresolved: What it refers to and is not there.
        rendered: Its objects as declared.
        live: Live objects by identity: the declared ones as far as they exist, and others that
            say they are its.
        pods: Its live pods.
        findings: Drift and remarks.
        broken: Mandatory rules that its declared objects break, unless waived.
        blind: Why some of it cannot be seen; nothing good can be said then.
        error: What the last write of its objects ended in; empty when it went well.
        contested: Names of the fields that other clients keep writing.
        drift_since: RFC 3339 of the oldest finding that counts; empty without one.
        model: Name of the model that it talks to first.
        tools: Tool server to the digest of its reviewed tools.
        is_new: Nothing that says it is its own exists, and other objects of the same names
            were not looked for: its objects may be made, and not taken over.
        failover: How primary and standby stand; None without a standby.
        commit: Commit that the stack was last updated with; empty where it is not known.
        is_updating: The deployer may be writing its objects.
        stays: The stack's last update declares it, also where it was deleted.
        engines: Field managers of the GitOps engines that deliver the stack.
        resting: Names of contested fields that were reverted a moment ago.
    """

    resource: KubeObject
    mode: str = "observe"
    invalid: tuple[str, ...] = ()
    unresolved: tuple[str, ...] = ()
    rendered: tuple[RenderedObject, ...] = ()
    live: Mapping[Identity, KubeObject] = field(default_factory=dict)
    pods: tuple[KubeObject, ...] = ()
    findings: tuple[Finding, ...] = ()
    broken: tuple[str, ...] = ()
    blind: tuple[str, ...] = ()
    error: str = ""
    contested: frozenset[str] = frozenset()
    drift_since: str = ""
    model: str = ""
    tools: Mapping[str, str] = field(default_factory=dict)
    is_new: bool = False
    failover: "FailoverState | None" = None
    commit: str = ""
    is_updating: bool = True
    stays: bool = False
    engines: frozenset[str] = frozenset(ENGINES)
    resting: frozenset[str] = frozenset()

    @property
    def status(self) -> Mapping[str, Any]:
        """Status that the resource holds."""
        return mapping_at(self.resource, "status")

    @property
    def generation(self) -> int:
        """Generation of its spec."""
        return int(self.resource["metadata"].get("generation") or 0)

    @property
    def is_going(self) -> bool:
        """Whether it was deleted."""
        return bool(self.resource["metadata"].get("deletionTimestamp"))

    @property
    def is_paused(self) -> bool:
        """Whether it is to be left alone."""
        annotations = mapping_at(self.resource, "metadata", "annotations")
        return annotations.get(PAUSED) == "true"

    @cached_property
    def drift(self) -> tuple[Finding, ...]:
        """Findings without remarks."""
        return tuple(each for each in self.findings if each.is_drift)

    def may_be_reverted(self, finding: Finding) -> bool:
        """Whether a finding is in no conflict; a critical one only rests for a while."""
        name = field_name(finding.ref, finding.path)
        if name not in self.contested:
            return True
        return finding.severity is Severity.CRITICAL and name not in self.resting

    def engine_of(self, finding: Finding) -> str:
        """Manager of the GitOps engine that puts a finding back; empty when that is ours to do."""
        live = self.live.get(finding.ref.identity)
        # The objects that are left show which engine applied what is gone.
        shown_by = [live] if live is not None else list(self.live.values())
        return next((each for one in shown_by if (each := engine_of(one)) in self.engines), "")

    @cached_property
    def conflicts(self) -> tuple[str, ...]:
        """Fields that are not as declared, and that other clients keep writing."""
        names = (field_name(each.ref, each.path) for each in self.drift)
        return tuple(sorted(name for name in names if name in self.contested))

    @cached_property
    def revision(self) -> str:
        """Hash of everything that is declared of it, and of who applies it."""
        return content_hash(
            [self.mode, *sorted(revision_of(each.manifest) for each in self.rendered)]
        )

    @cached_property
    def was_programmed(self) -> bool:
        """Whether what is declared now was seen deployed before."""
        return self.status.get("revision") == self.revision

    @cached_property
    def missing(self) -> tuple[RenderedObject, ...]:
        """Declared objects that do not exist."""
        return tuple(each for each in self.rendered if self._live_of(each) is None)

    @cached_property
    def outdated(self) -> tuple[RenderedObject, ...]:
        """Declared objects that exist in another revision: an update has not reached them."""
        return tuple(
            each
            for each in self.rendered
            if (live := self._live_of(each)) is not None
            and revision_of(live) != revision_of(each.manifest)
        )

    def _live_of(self, item: RenderedObject) -> KubeObject | None:
        return self.live.get(reference_of(item.manifest).identity)


def field_name(ref: ObjectRef, path: Path) -> str:
    """A field of an object of an agent, in words."""
    return f"{ref.kind} {ref.name} {format_path(path)}".strip()
