"""What probes ask an API server, and whether pods run with the content that they mount."""

import json
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from functools import cached_property
from threading import Lock
from typing import Any

from holdfast.adapters.cluster.api_error import ApiError
from holdfast.adapters.cluster.client import ApiClient
from holdfast.adapters.cluster.content import Content, ContentKey, read_content
from holdfast.adapters.cluster.json_answers import list_whole
from holdfast.adapters.http.http_answer import (
    DEEPEST_ANSWER,
    LARGEST_ANSWER_BYTES,
    UnansweredError,
)
from holdfast.drift.cause.attribution import Evidence
from holdfast.drift.context import AuditTrails
from holdfast.drift.probes.answers import CARD_PATH
from holdfast.drift.probes.outcome import ProbeOutcome, Subject, unknown
from holdfast.drift.probes.pods import LastWrite, probe_contents
from holdfast.errors import ClusterError, LoginError
from holdfast.kube.nesting import is_deeper_than
from holdfast.kube.objects import KubeObject, ObjectRef, mapping_at
from holdfast.kube.structure import KindEntry, builtin_kind
from holdfast.manifest.fleet.fleet import Fleet
from holdfast.manifest.types.marks import AGENT_LABEL, MOUNTED_HASH
from holdfast.render.plan.plan import AgentPlan
from holdfast.render.plan.planning import plan_fleet
from holdfast.render.pod.external_content import MountedContent, mounted_contents, mounted_hash


@dataclass(frozen=True)
class ProbedCluster:
    """Reads each kind once, for all probes; a failure is reported to all of them."""

    client: ApiClient
    _read: dict[tuple[str, str], list[KubeObject] | ClusterError] = field(default_factory=dict)
    _contents: dict[ContentKey, Content | ClusterError | None] = field(default_factory=dict)
    _lock: Lock = field(default_factory=Lock)

    def pods(self, namespace: str) -> list[KubeObject]:
        """Pods of agents in a namespace."""
        return self._once("v1", "pods", namespace, AGENT_LABEL)

    def nodes(self) -> list[KubeObject]:
        """Every node."""
        return self._once("v1", "nodes")

    def runtime_classes(self) -> list[KubeObject]:
        """Every RuntimeClass."""
        return self._once("node.k8s.io/v1", "runtimeclasses")

    def workload(self, ref: ObjectRef, plural: str) -> KubeObject | None:
        """One workload; None when there is none."""
        listed = self._once(ref.api_version, plural, ref.namespace)
        named = (one for one in listed if mapping_at(one, "metadata").get("name") == ref.name)
        return next(named, None)

    def content(self, key: ContentKey) -> Content | None:
        """What is known of a Secret or ConfigMap; None when there is none."""
        with self._lock:
            if key not in self._contents:
                try:
                    self._contents[key] = read_content(self.client, key)
                except ClusterError as error:
                    self._contents[key] = error
            found = self._contents[key]
        if isinstance(found, ClusterError):
            raise found
        return found

    def agent_card(self, namespace: str, service: str, port: str) -> dict[str, Any]:
        """The card that an agent serves at a port of its Service, through the API server.

        Raises:
            UnansweredError: it is too large, too deep, or no JSON object.
        """
        path = f"/api/v1/namespaces/{namespace}/services/{service}:{port}/proxy{CARD_PATH}"
        body = self.client.get_proxied(path, LARGEST_ANSWER_BYTES)
        try:
            served = json.loads(body)
        except (ValueError, RecursionError) as error:
            raise UnansweredError("the agent answers no JSON") from error
        if not isinstance(served, dict) or is_deeper_than(served, DEEPEST_ANSWER):
            raise UnansweredError(
                f"the agent answers no JSON object of at most {DEEPEST_ANSWER} levels"
            )
        return served

    def _once(
        self, api_version: str, plural: str, namespace: str = "", selector: str = ""
    ) -> list[KubeObject]:
        key = (plural, namespace)
        with self._lock:
            if key not in self._read:
                try:
                    read = list_whole(self.client, api_version, plural, namespace, selector)
                except ClusterError as error:
                    self._read[key] = error
                else:
                    self._read[key] = read
            found = self._read[key]
        if isinstance(found, ClusterError):
            raise found
        return found


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

    def probe(self, subject: Subject) -> ProbeOutcome:
        """Compare what a workload was rolled with and what there is now."""
        plan = self._plans.get((subject.workload.namespace, subject.agent))
        if plan is None:
            return ProbeOutcome()
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
            return ProbeOutcome()  # the scan says that it is gone
        digest = mounted_hash(plan, {one: content.digest for one, content in found.items()})
        return probe_contents(subject, live, digest, list(self._written(found)))

    def _plural(self, ref: ObjectRef) -> str:
        key = (ref.api_version, ref.kind)
        entry = self.kinds.get(key) or builtin_kind(*key)
        if entry is None:
            raise ClusterError(f"the cluster does not serve {ref.kind} ({ref.api_version})")
        return entry.plural

    def _written(self, found: Mapping[MountedContent, Content]) -> Iterator[LastWrite]:
        for one, content in sorted(found.items()):
            if content.writer is None:
                yield LastWrite(f"{one.kind} {one.name}")
                continue
            events = None
            if self.trail is not None:
                events = self.trail.read().of_object(
                    ObjectRef(one.namespace, one.kind, one.name, "v1")
                )
            actors = Evidence(events).actors_of_field(
                [content.writer], leaves_owner=True, is_wiped=False
            )
            yield LastWrite(f"{one.kind} {one.name}", actors[0])


def _why(error: ClusterError) -> str:
    if isinstance(error, ApiError) and error.is_forbidden:
        return "may not be read: grant get on it by name (`holdfast drift rbac --contents`)"
    return str(error)
