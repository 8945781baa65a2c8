"""What an update declares, by digest, in the one place that only the deployer writes.

Resources of a stack stand in the agents' namespaces, where others may write. What counts of them is
what the StackDeclaration lists: it is cluster-scoped, so that no right in a namespace reaches it.
"""

import hashlib
from collections.abc import Iterable, Mapping
from typing import Any, Final

import msgspec

from holdfast.kube.objects import KubeObject, canonical_json
from holdfast.manifest.fleet.resource_fleet import content_of
from holdfast.manifest.publish.resource_interface import STACK_DECLARATION_KIND
from holdfast.manifest.types.manifest import API_VERSION
from holdfast.render.plan.metadata import Provenance, RenderedObject, revised

DECLARATION_ROLE: Final = "stack-declaration"
DEPLOYED_ROLE: Final = "stack-deployed"
"""The mark that an update is complete: created after everything, deleted before everything."""


def declaration_name(stack: str) -> str:
    """Name of the StackDeclaration of a stack."""
    return stack.rpartition("/")[2].lower().replace("_", "-")


def deployed_name(stack: str) -> str:
    """Name of the mark that the stack's last update is complete."""
    return f"{declaration_name(stack)}.deployed"


def resource_key(resource: Mapping[str, Any]) -> str:
    """Kind, namespace and name of a resource, as a StackDeclaration lists it."""
    metadata = resource["metadata"]
    return f"{resource['kind']} {metadata['namespace']}/{metadata['name']}"


def resource_digest(resource: Mapping[str, Any], mode: str) -> str:
    """Digest of what an update wrote of a resource; `kubectl scale` may write in mode expand."""
    content = content_of(resource, with_replicas=mode != "expand")
    return _digest(_plain(msgspec.json.decode(canonical_json(content))))


def declaration_digest(mode: str, resources: Mapping[str, str]) -> str:
    """Digest of a whole declaration."""
    return _digest({"mode": mode, "resources": dict(resources)})


def render_declaration(
    items: Iterable[RenderedObject], mode: str, stack: str
) -> tuple[RenderedObject, RenderedObject]:
    """The declaration, written before all objects, and the mark of its completion, after them.

    Args:
        items: The resources of the stack.
        mode: Who applies the agents' objects: observe or expand.
        stack: Name of the stack.
    """
    manifests = [item.manifest for item in items]
    resources = {resource_key(each): resource_digest(each, mode) for each in manifests}
    digest = declaration_digest(mode, resources)
    spec = {"mode": mode, "resources": resources, "digest": digest}
    declared = _object(declaration_name(stack), stack, spec)
    deployed = _object(deployed_name(stack), stack, {"digest": digest})
    return (
        revised(RenderedObject("", DECLARATION_ROLE, declared)),
        revised(RenderedObject("", DEPLOYED_ROLE, deployed)),
    )


def _object(name: str, stack: str, spec: KubeObject) -> KubeObject:
    labels = {
        "app.kubernetes.io/instance": stack,
        "app.kubernetes.io/managed-by": "holdfast",
    }
    metadata = {"name": name, "labels": labels, "annotations": Provenance(stack).annotations()}
    return {
        "apiVersion": API_VERSION,
        "kind": STACK_DECLARATION_KIND,
        "metadata": metadata,
        "spec": spec,
    }


def _digest(value: object) -> str:
    return hashlib.sha256(canonical_json(value)).hexdigest()


def _plain(value: Any) -> Any:  # noqa: ANN401  (plain data)
    """As the API server keeps it: a number without a fraction is an integer."""
    if isinstance(value, dict):
        return {key: _plain(each) for key, each in value.items()}
    if isinstance(value, list):
        return [_plain(each) for each in value]
    return int(value) if isinstance(value, float) and value.is_integer() else value
