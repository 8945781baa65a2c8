"""The rights that a scan of a stack needs: read access to exactly the kinds that it looks for."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace

from holdfast.drift.looked_for import LOOKED_FOR
from holdfast.drift.reader_role import Reader, ReadKind, reader_objects
from holdfast.errors import InputError
from holdfast.kube.objects import KubeObject, reference_of
from holdfast.kube.structure import KindEntry, builtin_kind, kubernetes_kind
from holdfast.manifest.fleet.fleet import Fleet
from holdfast.operations.scan.live import ClusterSource
from holdfast.operations.stack.context import StackContext
from holdfast.operations.stack.declaration import declaration_of
from holdfast.render.plan.planning import plan_fleet
from holdfast.render.pod.external_content import mounted_contents


@dataclass(frozen=True, slots=True)
class RightsRequest:
    """What is asked for.

    Attributes:
        reader: Who scans.
        is_namespaced: A role in each namespace of the stack instead of one for the cluster.
        with_probes: Also what probes ask for.
        with_contents: Also each Secret and ConfigMap that pods mount and others write, by name.
    """

    reader: Reader
    is_namespaced: bool = False
    with_probes: bool = False
    with_contents: bool = False


def reader_rights(context: StackContext, request: RightsRequest) -> list[KubeObject]:
    """Roles and bindings with which a stack can be scanned.

    The cluster is only asked when the stack declares kinds that are not Kubernetes' own.

    Raises:
        InputError: the cluster does not serve a kind that the stack declares.
        InvalidFilesError: the manifests are not valid.
        ClusterError: the cluster cannot be asked.
    """
    declared = declaration_of(context, None).objects
    kinds = {*_declared_kinds(context, declared), *_kinds_beside(declared)}
    if request.with_probes:
        kinds |= _probed_kinds(declared)
    if not request.is_namespaced:
        kinds = {replace(kind, namespace="") for kind in kinds}
    if request.with_contents:
        kinds |= set(_mounted(context.fleet))
    return reader_objects(kinds, request.reader)


def _declared_kinds(context: StackContext, objects: Sequence[KubeObject]) -> Iterator[ReadKind]:
    """The kinds that a stack declares, and where."""
    foreign = [one for one in objects if _builtin(one) is None]
    cluster: ClusterSource | None = None
    if foreign:
        cluster = ClusterSource.of_stack(context)
        cluster.placed(foreign)
    namespaces = _namespaces_of(objects)
    for one in objects:
        key = (str(one["apiVersion"]), str(one["kind"]))
        entry = _builtin(one) or (cluster.kinds.get(key) if cluster else None)
        if entry is None:
            raise InputError(
                f"the cluster does not serve {key[1]} ({key[0]})",
                remedy="install its definition first: its name in URLs is not known before",
            )
        # A kind that is declared in one namespace is looked for in all of them.
        for namespace in namespaces or {""}:
            yield _read(key[0], entry, namespace)


def _kinds_beside(objects: Sequence[KubeObject]) -> Iterator[ReadKind]:
    """The kinds that a scan looks for beside what is declared."""
    declared = {(reference_of(one).group, one["kind"]) for one in objects}
    for (group, kind), sought in LOOKED_FOR.items():
        if (group, kind) not in declared:
            # The group of a role's rule counts; the version of others' kinds is the server's.
            api_version = sought.api_version if sought.version else f"{group}/"
            entry = KindEntry(sought.plural, sought.is_namespaced, "")
            for namespace in _namespaces_of(objects):
                yield _read(api_version, entry, namespace)


def _probed_kinds(objects: Sequence[KubeObject]) -> set[ReadKind]:
    """What probes ask for: pods and agents' cards in each namespace, nodes, runtime classes."""
    namespaces = _namespaces_of(objects)
    return {
        ReadKind("v1", "nodes"),
        ReadKind("node.k8s.io/v1", "runtimeclasses"),
        *(ReadKind("v1", "pods", namespace) for namespace in namespaces),
        *(ReadKind("v1", "services/proxy", namespace) for namespace in namespaces),
    }


def _mounted(fleet: Fleet) -> Iterator[ReadKind]:
    """What pods mount and others write, each in its namespace and by its name."""
    places: dict[tuple[str, str], set[str]] = {}
    for agent in plan_fleet(fleet, fleet.stack).agents:
        for one in mounted_contents(agent):
            places.setdefault((one.kind, one.namespace), set()).add(one.name)
    for (kind, namespace), names in sorted(places.items()):
        yield ReadKind("v1", kubernetes_kind("v1", kind).plural, namespace, tuple(sorted(names)))


def _builtin(one: KubeObject) -> KindEntry | None:
    return builtin_kind(str(one["apiVersion"]), str(one["kind"]))


def _namespaces_of(objects: Sequence[KubeObject]) -> set[str]:
    return {reference_of(one).namespace for one in objects} - {""}


def _read(api_version: str, entry: KindEntry, namespace: str) -> ReadKind:
    return ReadKind(api_version, entry.plural, namespace if entry.is_namespaced else "")
