"""What components tell of their children: references that other resources can use."""

from collections.abc import Sequence
from typing import TypedDict

import pulumi

from holdfast.components.registration import KubernetesObject


class DeployedObject(TypedDict):
    """A deployed object by what names it in the cluster; its keys are Kubernetes' own."""

    apiVersion: str
    """API group and version, such as apps/v1."""
    kind: str
    """Kind, such as Deployment."""
    name: str
    """Name of the object."""
    namespace: str
    """Namespace of the object."""


def reference_to(child: KubernetesObject) -> pulumi.Output[DeployedObject]:
    """A reference to a child; who uses it waits for the child."""
    manifest = child.rendered
    reference = {
        "apiVersion": manifest["apiVersion"],
        "kind": manifest["kind"],
        "name": manifest["metadata"]["name"],
        "namespace": manifest["metadata"].get("namespace", ""),
    }
    # The URN is known at preview, and depends on the child.
    return pulumi.Output.all(reference, child.urn).apply(lambda both: both[0])


def references_to(
    children: Sequence[KubernetesObject], kind: str
) -> pulumi.Output[Sequence[DeployedObject]]:
    """References to the children of a kind, in the order of their names."""
    found = [reference_to(each) for each in children if each.rendered["kind"] == kind]
    return pulumi.Output.all(*found)


def first_reference_to(
    children: Sequence[KubernetesObject], kind: str
) -> pulumi.Output[DeployedObject | None]:
    """A reference to the first child of a kind; None where there is none."""
    return references_to(children, kind).apply(lambda found: found[0] if found else None)
