"""Whether pods run with what they mount: which Secrets and ConfigMaps, and who is asked."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import cached_property

from holdfast.adapters.cluster.api_error import ApiError
from holdfast.adapters.cluster.content import Content
from holdfast.drift.cause.attribution import Evidence
from holdfast.drift.context import AuditTrails
from holdfast.drift.probes.outcome import Outcome, Subject, unknown
from holdfast.drift.probes.pods import MOUNTED_HASH, Written, probe_contents
from holdfast.errors import ClusterError, LoginError
from holdfast.kube.objects import ObjectRef
from holdfast.kube.structure import KindEntry, builtin_kind
from holdfast.manifest.fleet.fleet import Fleet
from holdfast.operations.scan.probing.cluster import ProbedCluster
from holdfast.render.plan.declared import plan_fleet
from holdfast.render.plan.plan import AgentPlan
from holdfast.render.pod.mounted import MountedContent, mounted_contents, mounted_hash

NOT_READ = "Secrets and ConfigMaps that pods mount were not read: that takes --probe-contents"


@dataclass(frozen=True)
class ProbedContents:
    """The contents of a stack's agents.

    Attributes:
        kinds: What the cluster serves.
        trail: The audit log; None without one.
    """

    fleet: Fleet
    cluster: ProbedCluster
    kinds: Mapping[tuple[str, str], KindEntry]
    trail: AuditTrails | None = None

    @cached_property
    def _plans(self) -> dict[tuple[str, str], AgentPlan]:
        plan = plan_fleet(self.fleet, self.fleet.stack)
        return {each.place: each for each in plan.agents if mounted_contents(each)}

    @property
    def all(self) -> frozenset[MountedContent]:
        """Everything that any pod mounts and others write."""
        return frozenset(one for plan in self._plans.values() for one in mounted_contents(plan))

    def probe(self, subject: Subject) -> Outcome:
        """Compare what a workload was rolled with and what there is now."""
        plan = self._plans.get((subject.workload.namespace, subject.agent))
        if plan is None:
            return Outcome()
        found: dict[MountedContent, Content] = {}
        for one in mounted_contents(plan):
            try:
                content = self.cluster.content(one)
            except LoginError:
                raise
            except ClusterError as error:
                return unknown(subject, f"{one.kind} {one.name}", _why(error))
            if content is not None:
                found[one] = content
        try:
            live = self.cluster.workload(subject.workload, self._plural(subject.workload))
        except LoginError:
            raise
        except ClusterError as error:
            return unknown(subject, MOUNTED_HASH, str(error))
        if live is None:
            return Outcome()  # the scan says that it is gone
        digest = mounted_hash(plan, {one: content.digest for one, content in found.items()})
        return probe_contents(subject, live, digest, list(self._written(found)))

    def _plural(self, ref: ObjectRef) -> str:
        key = (ref.api_version, ref.kind)
        entry = self.kinds.get(key) or builtin_kind(*key)
        if entry is None:
            raise ClusterError(f"the cluster does not serve {ref.kind} ({ref.api_version})")
        return entry.plural

    def _written(self, found: Mapping[MountedContent, Content]) -> Iterator[Written]:
        for one, content in sorted(found.items()):
            if content.writer is None:
                yield Written(f"{one.kind} {one.name}")
                continue
            events = None
            if self.trail is not None:
                events = self.trail.read().of_object(
                    ObjectRef(one.namespace, one.kind, one.name, "v1")
                )
            actors = Evidence(events).actors_of_field(
                [content.writer], leaves_owner=True, is_wiped=False
            )
            yield Written(f"{one.kind} {one.name}", actors[0])


def _why(error: ClusterError) -> str:
    if isinstance(error, ApiError) and error.is_forbidden:
        return "may not be read: grant get on it by name (`holdfast drift rbac --contents`)"
    return str(error)
