"""What a deployment asks its cluster before anything is sent.

Whether every kind is known; whether the engine would delete objects that the operator is to take
over; whether each claim can become what is declared without losing its data; and what the Secrets
and ConfigMaps hold that pods mount, as digests.
"""

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path

from holdfast.adapters.cluster.api_error import UnreachableError
from holdfast.adapters.cluster.client import ApiClient
from holdfast.adapters.cluster.content import read_content_digests
from holdfast.adapters.cluster.kubeconfig import connection_of
from holdfast.adapters.cluster.listing import read_kind
from holdfast.adapters.cluster.writing import read_object
from holdfast.errors import InputError, InvalidFilesError, ManifestError
from holdfast.kube.objects import KubeObject, ObjectRef, reference_of
from holdfast.kube.paths import format_path
from holdfast.kube.structure import kubernetes_kind
from holdfast.manifest.fleet.fleet import DeclaredAgent, Fleet
from holdfast.operations.stack.preflight.crds import require_crds
from holdfast.operations.stack.preflight.stack_ownership import (
    OwnedByAnotherStackError,
    ensure_not_of_another_stack,
)
from holdfast.operations.stack.preflight.state_ownership import ensure_handed_over
from holdfast.render.fleet import FleetPlan, render_fleet
from holdfast.render.objects.failover import FailoverTarget, is_movable, serving_target
from holdfast.render.objects.gates import attempt_of, is_gate
from holdfast.render.objects.storage import claim_conflicts
from holdfast.render.pod.external_content import mounted_contents, mounted_hash

_CLAIM = ObjectRef("", "PersistentVolumeClaim", "", "v1")
_ALLOW = "or let it go: retain: false and allowReplacement: true"


@dataclass(frozen=True)
class ClusterFacts:
    """What a cluster said.

    Attributes:
        notes: What could not be found out, and why.
        digests: Kind, namespace and name of what pods mount to a digest of its content.
        attempts: Place of a Job that an update waits for to the mark of its next try.
        serving: Agent to who of primary and standby serves, where the operator may have moved that.
    """

    notes: tuple[str, ...] = ()
    digests: Mapping[tuple[str, str, str], str] = field(default_factory=dict)
    serving: Mapping[tuple[str, str], FailoverTarget] = field(default_factory=dict)
    attempts: Mapping[tuple[str, str], str] = field(default_factory=dict)

    def apply_to(self, plan: FleetPlan) -> FleetPlan:
        """The plan, with what each agent's pods mount, who serves, and what is tried again."""
        agents = (
            replace(
                agent,
                mounted_hash=mounted_hash(agent, self.digests),
                serving=self.serving.get(agent.place),
                attempts={
                    name: mark
                    for (namespace, name), mark in self.attempts.items()
                    if namespace == agent.place[0]
                },
            )
            for agent in plan.agents
        )
        return replace(plan, agents=tuple(agents))


def read_cluster_facts(root: Path, fleet: Fleet, plan: FleetPlan) -> ClusterFacts:
    """Ask the cluster that a fleet is to be deployed on; nothing is changed.

    Args:
        root: Folder of Pulumi.yaml.
        fleet: What is declared.
        plan: What rendering it needs.

    Raises:
        ClusterError: it lacks a kind that is needed, or does not let a mounted Secret be read.
        InvalidFilesError: a claim cannot become what is declared.
        InputError: the engine would delete what the operator is meant to take over.
        OwnedByAnotherStackError: another stack has deployed some of the objects.
    """
    if plan.resource_mode == "expand":
        ensure_handed_over(root, fleet.stack, for_plain_pulumi=True)
    context = fleet.environment.cluster.context
    rendered = render_fleet(plan)
    note = require_crds(rendered, None, context)
    claims = {
        (item.agent, item.manifest["metadata"]["name"]): item.manifest
        for item in rendered
        if item.manifest["kind"] == _CLAIM.kind
    }
    mounted = {content for agent in plan.agents for content in mounted_contents(agent)}
    movable = [item.manifest for item in rendered if is_movable(item.manifest)]
    gates = [item.manifest for item in rendered if is_gate(item)]
    if not rendered:
        return ClusterFacts((note,) if note else ())
    try:
        client = ApiClient(connection_of(None, context))
        ensure_not_of_another_stack(fleet.stack, rendered, client)
        if claims and (faults := list(_faults_of_claims(fleet, claims, client))):
            raise InvalidFilesError(faults)
        return ClusterFacts(
            (note,) if note else (),
            read_content_digests(client, mounted),
            _serving(movable, client),
            _attempts(gates, client),
        )
    except (UnreachableError, InputError) as error:
        if isinstance(error, InvalidFilesError | OwnedByAnotherStackError):
            raise
        if not claims and not mounted and not movable and not gates:
            return ClusterFacts((note,) if note else ())
        unchecked = (
            "other stacks, claims, mounted Secrets, fail-overs and failed checks were not checked"
        )
        return ClusterFacts((f"{unchecked}: {error}",))


def _attempts(jobs: Iterable[KubeObject], client: ApiClient) -> dict[tuple[str, str], str]:
    """Marks of the Jobs that the next update waits for: one that failed is tried again."""
    entry = kubernetes_kind("batch/v1", "Job")
    found = {}
    for declared in jobs:
        ref = reference_of(declared)
        live = read_object(client, ref, entry)
        if live is not None and (mark := attempt_of(live)):
            found[ref.namespace, ref.name] = mark
    return found


def _serving(
    services: Iterable[KubeObject], client: ApiClient
) -> dict[tuple[str, str], FailoverTarget]:
    """Where Services lead that the operator may have moved."""
    entry = kubernetes_kind("v1", "Service")
    found = {}
    for declared in services:
        ref = reference_of(declared)
        live = read_object(client, ref, entry)
        side = serving_target(live) if live is not None else None
        if side is not None:
            found[ref.namespace, ref.name] = side
    return found


def _faults_of_claims(
    fleet: Fleet, claims: Mapping[tuple[str, str], KubeObject], client: ApiClient
) -> Iterator[ManifestError]:
    entry = kubernetes_kind(_CLAIM.api_version, _CLAIM.kind)
    namespaces = {claim["metadata"]["namespace"] for claim in claims.values()}
    live = {
        (each["metadata"]["namespace"], each["metadata"]["name"]): each
        for each in read_kind(client, _CLAIM, entry, namespaces)
    }
    for agent in fleet.agents:
        for index, volume in enumerate(agent.spec.storage.volumes):
            claim = claims.get((agent.name, f"{agent.name}-{volume.name}"))
            found = live.get((agent.namespace, f"{agent.name}-{volume.name}"))
            if claim is None or found is None:
                continue
            for each in claim_conflicts(volume, claim["spec"], found["spec"]):
                restores = each.field == "restoreFrom"
                below = ("restoreFrom",) if restores else ("volumes", index, each.field)
                yield _fault(agent, ("spec", "storage", *below), each.expected, each.found)


def _fault(
    agent: DeclaredAgent, path: tuple[str | int, ...], expected: str, found: str
) -> ManifestError:
    remedy = "declare the claim's size or a larger one" if path[-1] == "size" else ""
    if path[-1] != "size":
        remedy = f"give the volume another name, so that it gets a new claim, {_ALLOW}"
    return ManifestError(
        agent.location_of(path), format_path(path), expected=expected, found=found, remedy=remedy
    )
