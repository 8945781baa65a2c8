"""What a deployment asks its cluster before anything is sent.

Whether every kind is known; whether the engine would delete objects that the operator is to take
over; whether each claim can become what is declared without losing its data; and what the Secrets
and ConfigMaps hold that pods mount, as digests.
"""

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING

from holdfast.errors import InputError, InvalidFilesError, ManifestError
from holdfast.kube.objects import KubeObject, ObjectRef, reference_of
from holdfast.kube.paths import format_path
from holdfast.kube.structure import builtin_kind
from holdfast.manifest.fleet.fleet import DeclaredAgent, Fleet
from holdfast.operations.stack.preflight.crds import require_definitions
from holdfast.operations.stack.project import find_project_root
from holdfast.render.fleet import FleetPlan, render_fleet
from holdfast.render.objects.failover import Side, is_movable, serving_side
from holdfast.render.objects.storage import claim_conflicts
from holdfast.render.pod.mounted import mounted_contents, mounted_hash

if TYPE_CHECKING:
    from holdfast.adapters.cluster.client import ApiClient

_CLAIM = ObjectRef("", "PersistentVolumeClaim", "", "v1")
_ALLOW = "or let it go: retain: false and allowReplacement: true"


@dataclass(frozen=True)
class LiveKnowledge:
    """What a cluster said.

    Attributes:
        notes: What could not be found out, and why.
        digests: Kind, namespace and name of what pods mount to a digest of its content.
        serving: Agent to who of primary and standby serves, where the operator may have moved that.
    """

    notes: tuple[str, ...] = ()
    digests: Mapping[tuple[str, str, str], str] = field(default_factory=dict)
    serving: Mapping[tuple[str, str], Side] = field(default_factory=dict)

    def known_to(self, plan: FleetPlan) -> FleetPlan:
        """The plan, with what each agent's pods mount, and who serves."""
        agents = (
            replace(
                agent,
                mounted_hash=mounted_hash(agent, self.digests),
                serving=self.serving.get(agent.place),
            )
            for agent in plan.agents
        )
        return replace(plan, agents=tuple(agents))


def look_at_cluster(fleet: Fleet, plan: FleetPlan) -> LiveKnowledge:
    """Look at the cluster that a fleet is to be deployed on; nothing is changed.

    Raises:
        ClusterError: it lacks a kind that is needed, or does not let a mounted Secret be read.
        InvalidFilesError: a claim cannot become what is declared.
        InputError: the engine would delete what the operator is meant to take over.
    """
    if plan.resource_mode == "expand":
        from holdfast.operations.stack.preflight.state_ownership import refuse_unmigrated_by_hand  # noqa: PLC0415  (as below)

        refuse_unmigrated_by_hand(find_project_root(), fleet.stack)
    context = fleet.environment.cluster.context
    rendered = render_fleet(plan)
    note = require_definitions(rendered, None, context)
    claims = {
        (item.agent, item.manifest["metadata"]["name"]): item.manifest
        for item in rendered
        if item.manifest["kind"] == _CLAIM.kind
    }
    mounted = {content for agent in plan.agents for content in mounted_contents(agent)}
    movable = [item.manifest for item in rendered if is_movable(item.manifest)]
    if not claims and not mounted and not movable:
        return LiveKnowledge((note,) if note else ())
    # The client takes longer to load than most stacks take to be asked about.
    from holdfast.adapters.cluster.api_error import UnreachableError  # noqa: PLC0415  (start-up time)
    from holdfast.adapters.cluster.client import ApiClient  # noqa: PLC0415  (as above)
    from holdfast.adapters.cluster.content import read_content_digests  # noqa: PLC0415  (as above)
    from holdfast.adapters.cluster.kubeconfig import connection_of  # noqa: PLC0415  (as above)

    try:
        client = ApiClient(connection_of(None, context))
        if claims and (faults := list(_faults_of_claims(fleet, claims, client))):
            raise InvalidFilesError(faults)
        return LiveKnowledge(
            (note,) if note else (),
            read_content_digests(client, mounted),
            _serving(movable, client),
        )
    except (UnreachableError, InputError) as error:
        if isinstance(error, InvalidFilesError):
            raise
        return LiveKnowledge(
            (f"claims, mounted Secrets and fail-overs were not looked at: {error}",)
        )


def _serving(services: Iterable[KubeObject], client: "ApiClient") -> dict[tuple[str, str], Side]:
    """Where Services lead that the operator may have moved."""
    from holdfast.adapters.cluster.writing import read_object  # noqa: PLC0415  (start-up time)

    entry = builtin_kind("v1", "Service")
    assert entry is not None  # noqa: S101  (Kubernetes has this kind)
    found = {}
    for declared in services:
        ref = reference_of(declared)
        live = read_object(client, ref, entry)
        side = serving_side(live) if live is not None else None
        if side is not None:
            found[ref.namespace, ref.name] = side
    return found


def _faults_of_claims(
    fleet: Fleet, claims: Mapping[tuple[str, str], KubeObject], client: "ApiClient"
) -> Iterator[ManifestError]:
    from holdfast.adapters.cluster.listing import read_kind  # noqa: PLC0415  (start-up time)

    entry = builtin_kind(_CLAIM.api_version, _CLAIM.kind)
    assert entry is not None  # noqa: S101  (Kubernetes has this kind)
    namespaces = {claim["metadata"]["namespace"] for claim in claims.values()}
    live = {
        (each["metadata"]["namespace"], each["metadata"]["name"]): each
        for each in read_kind(client, _CLAIM, entry, namespaces)
    }
    for agent in fleet.agents:
        for index, volume in enumerate(agent.spec.storage):
            claim = claims.get((agent.name, f"{agent.name}-{volume.name}"))
            found = live.get((agent.namespace, f"{agent.name}-{volume.name}"))
            if claim is None or found is None:
                continue
            for each in claim_conflicts(volume, claim["spec"], found["spec"]):
                restores = each.field == "restoreFrom"
                below = ("restoreFrom",) if restores else ("storage", index, each.field)
                yield _fault(agent, ("spec", *below), each.expected, each.found)


def _fault(
    agent: DeclaredAgent, path: tuple[str | int, ...], expected: str, found: str
) -> ManifestError:
    remedy = "take the claim's size or a larger one" if path[-1] == "size" else ""
    if path[-1] != "size":
        remedy = f"give the volume another name, so that it gets a new claim, {_ALLOW}"
    return ManifestError(
        agent.location_of(path), format_path(path), expected=expected, found=found, remedy=remedy
    )
