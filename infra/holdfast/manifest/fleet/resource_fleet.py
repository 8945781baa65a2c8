"""Manifests read as resources of a cluster: the same fleet as from the files, or what is wrong.

One faulty resource leaves the others as they are: nobody reviews a cluster before it is read.
"""

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any, Final

from holdfast.errors import ManifestError
from holdfast.kube.objects import KubeObject, NamespacedName
from holdfast.manifest.agent.agent import AGENT_KIND, Agent
from holdfast.manifest.fleet.declared_names import DeclaredNames
from holdfast.manifest.fleet.fleet import Declared, Fleet, declared, fleet_of
from holdfast.manifest.fleet.fleet_checks import faults_in_environment, faults_of_fleet
from holdfast.manifest.fleet.tool_lock import ToolLock
from holdfast.manifest.kinds.kinds import KINDS, Companion
from holdfast.manifest.stack.environment import Environment
from holdfast.manifest.text.documents import Document
from holdfast.manifest.text.origin import Origin
from holdfast.manifest.types.manifest import OWN_PREFIXES
from holdfast.manifest.types.marks import SOURCE
from holdfast.manifest.types.validation import validate

_NOT_WRITTEN: Final = (
    *OWN_PREFIXES,
    "kubectl.kubernetes.io/",
    "pulumi.com/",
    "argocd.argoproj.io/",
    "helm.sh/",
    "helm.toolkit.fluxcd.io/",
    "kustomize.toolkit.fluxcd.io/",
    "meta.helm.sh/",
)
"""Labels and annotations of a resource that are not its manifest's own, but of who delivers it."""


@dataclass(frozen=True)
class ReadResource:
    """A resource as a manifest, and what it was validated to: a model, or what is wrong with it."""

    document: Document
    source: str
    content: Agent | Companion | list[ManifestError]


def read_resource(resource: Mapping[str, Any]) -> ReadResource:
    """Read a live object of one of Holdfast's kinds; nothing but the object itself decides."""
    document = _document(resource)
    content = validate(KINDS[document.data["kind"]], document.data, document.origin)
    return ReadResource(document, _annotations(resource).get(SOURCE, ""), content)


@dataclass(frozen=True)
class ResourceFleet:
    """What a cluster declares.

    Attributes:
        fleet: Everything that is valid by itself.
        invalid: Agents that are no manifests, and what is wrong with them.
        unresolved: Agents that refer to what is not declared, or need what the stack lacks.
    """

    fleet: Fleet
    invalid: Mapping[NamespacedName, tuple[str, ...]] = field(default_factory=dict)
    unresolved: Mapping[NamespacedName, tuple[str, ...]] = field(default_factory=dict)


def content_of(resource: Mapping[str, Any], *, with_replicas: bool) -> KubeObject:
    """What an update has written of a resource, without what others may add to it.

    Law: the resource as it was rendered and as the API server returns it have equal content.

    Args:
        resource: An object of one of Holdfast's kinds, or the ConfigMap of a stack's settings.
        with_replicas: Else `kubectl scale` may write an agent's replicas.
    """
    if resource["kind"] not in KINDS:
        return {"kind": resource["kind"], "data": dict(resource.get("data") or {})}
    data = _document(resource).data
    if not with_replicas and data["kind"] == AGENT_KIND:
        scaling = {k: v for k, v in (data["spec"].get("scaling") or {}).items() if k != "replicas"}
        rest = {key: value for key, value in data["spec"].items() if key != "scaling"}
        data = {**data, "spec": {**rest, **({"scaling": scaling} if scaling else {})}}
    return {**data, "source": _annotations(resource).get(SOURCE, "")}


def fleet_of_resources(
    resources: Iterable[ReadResource],
    environment: Environment,
    stack: str,
    tool_lock: ToolLock,
) -> ResourceFleet:
    """The fleet that resources declare.

    Law: of the resources that a fleet was rendered to, it is that fleet again.

    Args:
        resources: Objects of Holdfast's kinds, each with its namespace.
        environment: Settings of the stack.
        stack: Name of the stack.
        tool_lock: The reviewed tools of servers.
    """
    read = list(resources)
    valid: list[Declared] = []
    invalid: dict[NamespacedName, tuple[str, ...]] = {}
    for each in read:
        document, content = each.document, each.content
        namespace = str(document.data["metadata"]["namespace"])
        if not isinstance(content, list):
            valid.append(declared(content, namespace, each.source, document.origin))
        elif document.data["kind"] == AGENT_KIND:
            name = str(document.data["metadata"]["name"])
            invalid[namespace, name] = tuple(_words(fault) for fault in content)
    fleet = fleet_of(valid, environment, tool_lock, stack)
    names = DeclaredNames([each.document for each in read], environment.namespace)
    return ResourceFleet(fleet, invalid, _unresolved(fleet, names))


def _unresolved(fleet: Fleet, names: DeclaredNames) -> dict[NamespacedName, tuple[str, ...]]:
    places = {
        _file_of(AGENT_KIND, each.namespace, each.name): (each.namespace, each.name)
        for each in fleet.agents
    }
    found: dict[NamespacedName, tuple[str, ...]] = {}
    for fault in _faults(fleet, names):
        place = places.get(fault.location.file)
        if place is not None:
            found[place] = (*found.get(place, ()), _words(fault))
    return found


def _faults(fleet: Fleet, names: DeclaredNames) -> Iterator[ManifestError]:
    yield from names.faults()
    yield from faults_of_fleet(fleet, names)
    yield from faults_in_environment(fleet)


def _words(fault: ManifestError) -> str:
    """A fault without its place: the resource itself is that."""
    found = f", got {fault.found}" if fault.found else ""
    remedy = f"; {fault.remedy}" if fault.remedy else ""
    return f"{fault.path}: {fault.expected}{found}{remedy}".removeprefix(": ")


def _document(resource: Mapping[str, Any]) -> Document:
    metadata = resource["metadata"]
    namespace, name = metadata["namespace"], metadata["name"]
    data = {
        "apiVersion": resource["apiVersion"],
        "kind": resource["kind"],
        "metadata": {
            "name": name,
            "namespace": namespace,
            "labels": _written(metadata.get("labels")),
            "annotations": _written(metadata.get("annotations")),
        },
        "spec": resource["spec"],
    }
    file = _file_of(str(resource["kind"]), namespace, name)
    return Document(data, Origin(file, 0, 0), frozenset())


def _file_of(kind: str, namespace: str, name: str) -> str:
    return f"{kind} {namespace}/{name}"


def _written(marks: Mapping[str, str] | None) -> dict[str, str]:
    return {key: value for key, value in (marks or {}).items() if not key.startswith(_NOT_WRITTEN)}


def _annotations(resource: Mapping[str, Any]) -> Mapping[str, str]:
    return resource["metadata"].get("annotations") or {}
