"""What every object of an agent carries: names, labels, annotations, and its revision."""

import hashlib
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import Any

from holdfast.kube.managed_fields import FIELD_MANAGER, FIELD_MANAGER_ANNOTATION
from holdfast.kube.objects import (
    Identity,
    KubeObject,
    canonical_json,
    mapping_at,
    reference_of,
)
from holdfast.manifest.agent.governance import Governance
from holdfast.manifest.types.marks import AGENT_LABEL, OWNER_LABEL, REVISION, SOURCE, STACK


@dataclass(frozen=True)
class Provenance:
    """Where an object comes from.

    Attributes:
        stack: Name of the stack.
        source: File that declares it, relative to the project; empty when a program does.
        has_outputs: Whether a program declares it with outputs of other resources. Objects that are
            named by their content have other names then: a resource of the engine cannot be named
            by a value that is not known yet, so that it is another one, and none may delete what
            the other has made.
    """

    stack: str
    source: str = ""
    has_outputs: bool = False

    def annotations(self) -> dict[str, str]:
        """Annotations of every object of this origin, but for its revision."""
        annotations = {STACK: self.stack, FIELD_MANAGER_ANNOTATION: FIELD_MANAGER}
        return annotations | ({SOURCE: self.source} if self.source else {})


@dataclass(frozen=True)
class AgentMetadata:
    """An agent's identity as its objects show it.

    Attributes:
        labels: The user's own labels; on every object and pod, never in a selector.
        annotations: The user's own annotations.
        governance: What people decided about it; on every object, on no pod.
        component: The framework it is written with.
        queue: Kueue queue that its pods wait in.
        pod_name: Name by which its pods are selected, where it is not the agent's: pods that act
            for the agent without serving for it.
    """

    name: str
    namespace: str
    origin: Provenance
    version: str = ""
    owner: str = ""
    component: str = "custom"
    description: str = ""
    queue: str = ""
    pod_name: str = ""
    governance: Governance = field(default_factory=Governance.model_construct)
    labels: Mapping[str, str] = field(default_factory=dict)
    annotations: Mapping[str, str] = field(default_factory=dict)

    @property
    def workload_name(self) -> str:
        """Name of the workload that makes its pods."""
        return self.pod_name or self.name

    def selector(self) -> dict[str, str]:
        """Labels that select the agent's pods; immutable, so nothing that changes is among them."""
        return {
            "app.kubernetes.io/name": self.workload_name,
            "app.kubernetes.io/instance": self.origin.stack,
        }

    def beside(self, role: str) -> "AgentMetadata":
        """Metadata of pods that act for the agent in another role, under the same network rules."""
        return replace(self, pod_name=f"{self.name}-{role}")

    def network_selector(self) -> dict[str, str]:
        """Labels by which network rules know every pod that acts for the agent.

        Those `beside` it are included; the Service and the disruption budget do not select them.
        """
        return {
            AGENT_LABEL: self.name,
            "app.kubernetes.io/instance": self.origin.stack,
        }

    def object_labels(self) -> dict[str, str]:
        """Labels of every pod; its objects have those of governance, too."""
        ours = self.selector() | {
            "app.kubernetes.io/component": self.component,
            "app.kubernetes.io/managed-by": "holdfast",
            "app.kubernetes.io/part-of": "agents",
            AGENT_LABEL: self.name,
        }
        if self.version:
            # A semantic version may hold '+', a label may not.
            ours["app.kubernetes.io/version"] = self.version.replace("+", "_")
        if self.owner:
            ours[OWNER_LABEL] = self.owner
        return dict(self.labels) | ours

    def workload_labels(self) -> dict[str, str]:
        """Labels of pods, and of what makes pods."""
        queue = {"kueue.x-k8s.io/queue-name": self.queue} if self.queue else {}
        return self.object_labels() | queue

    def metadata(
        self, suffix: str = "", annotations: Mapping[str, str] | None = None
    ) -> KubeObject:
        """Metadata of the object `<agent>` or `<agent>-<suffix>`; `with_revision` completes it."""
        described = {"holdfast.dev/description": self.description} if self.description else {}
        return {
            "name": f"{self.name}-{suffix}" if suffix else self.name,
            "namespace": self.namespace,
            "labels": self.object_labels() | self.governance.labels(),
            "annotations": (
                dict(self.annotations)
                | described
                | self.governance.annotations()
                | dict(annotations or {})
                | self.origin.annotations()
            ),
        }


@dataclass(frozen=True)
class RenderedObject:
    """One object and how it is kept.

    Attributes:
        agent: Agent that it belongs to; empty for what the stack declares itself.
        role: What it is to the agent; the deployed resource is called `<agent>-<role>`.
        content: Hash that its name ends in, and its resource's, too: another content is another
            object beside it, and the previous one goes when an update has succeeded.
        is_protected: Refuse to replace or delete it by accident: it holds data.
        is_retained: Leave it in the cluster when the agent goes.
        replaced_on: Field paths of which a change recreates the object: its controller would
            not carry it out.
        left_to_controllers: Field paths that a controller writes once the object is there; updates
            leave them alone.
    """

    agent: str
    role: str
    manifest: KubeObject
    is_protected: bool = False
    is_retained: bool = False
    replaced_on: tuple[str, ...] = ()
    left_to_controllers: tuple[str, ...] = ()
    content: str = ""

    @property
    def identity(self) -> Identity:
        """What the API server knows it by."""
        return reference_of(self.manifest).identity

    @property
    def lasting_identity(self) -> Identity:
        """The same without the hash of its content."""
        identity = self.identity
        suffix = f"-{self.content}" if self.content else ""
        return identity._replace(name=identity.name.removesuffix(suffix))

    @property
    def resource_name(self) -> str:
        """Name of the deployed resource, unique in its stack."""
        return "-".join(part for part in (self.agent, self.role, self.content) if part)


def content_hash(value: object, digits: int = 16) -> str:
    """Short digest of a value's canonical JSON, in hexadecimal digits."""
    return hashlib.sha256(canonical_json(value)).hexdigest()[:digits]


def revision_of(kube_object: Mapping[str, Any]) -> str:
    """Revision that an object carries; empty where Holdfast did not render it."""
    return str(mapping_at(kube_object, "metadata", "annotations").get(REVISION) or "")


def with_revision(kube_object: KubeObject) -> KubeObject:
    """The object with its revision: the hash of everything else that was rendered in it.

    Law: equal content gives an equal revision; the commit is no part of it.
    """
    metadata = kube_object["metadata"]
    annotations = metadata["annotations"] | {REVISION: content_hash(kube_object)}
    return kube_object | {"metadata": metadata | {"annotations": annotations}}


def revised(item: RenderedObject) -> RenderedObject:
    """The rendered object with its revision written in."""
    return replace(item, manifest=with_revision(item.manifest))
