"""A stack's manifests as resources of its cluster: what `kubectl get agents` shows.

Everything that rendering reads is in them, so that whoever reads them in the cluster renders the
same objects as whoever reads the files.
"""

from dataclasses import replace
from typing import Any, Final

from pydantic import BaseModel

from holdfast.kube.objects import KubeObject, canonical_json
from holdfast.manifest.agent.agent import AGENT_KIND
from holdfast.manifest.fleet.fleet import DeclaredCompanion, Fleet
from holdfast.manifest.fleet.tool_lock import tool_lock_text
from holdfast.manifest.kinds.kinds import KINDS
from holdfast.manifest.stack.environment import Environment
from holdfast.manifest.types.manifest import API_VERSION
from holdfast.manifest.types.marks import COMMIT
from holdfast.render.plan.metadata import AgentMetadata, Provenance, RenderedObject, revised
from holdfast.render.plan.plan import AgentPlan

FINALIZER: Final = "holdfast.dev/objects"
"""On agents whose objects the operator applies: it takes them away before the agent goes."""

SETTINGS_KEY: Final = "environment.json"
LOCK_KEY: Final = "tools.lock"
_SETTINGS_ROLE: Final = "resource-settings"
_OWN_TO_THE_ENGINE: Final = {"agents", "cluster"}


def settings_name(stack: str) -> str:
    """Name of the ConfigMap that holds a stack's settings."""
    return f"holdfast-stack-{stack.rpartition('/')[2].lower().replace('_', '-')}"


def render_agent_resource(plan: AgentPlan, *, is_expanded: bool) -> RenderedObject:
    """One agent as a resource.

    Args:
        plan: The agent, its stack's overrides and its prompt's text in it.
        is_expanded: The operator applies the agent's objects, and takes them away.
    """
    metadata = plan.meta.metadata()
    if is_expanded:
        metadata["finalizers"] = [FINALIZER]
    manifest = _resource(AGENT_KIND, metadata, plan.spec)
    return revised(RenderedObject(plan.meta.name, "resource", manifest))


def render_shared_resources(fleet: Fleet, stack: str) -> tuple[RenderedObject, ...]:
    """What agents share, and the settings of the stack."""
    companions = (
        _companion(each, stack)
        for kind in sorted(KINDS)
        for each in fleet.companions
        if each.kind == kind
    )
    return (_settings(fleet, stack), *companions)


def with_commit(item: RenderedObject, commit: str) -> RenderedObject:
    """The settings with the commit that they come from; anything else as it is.

    The revision stays: a commit that changes nothing else writes one annotation of one object.
    """
    if item.role != _SETTINGS_ROLE or not commit:
        return item
    metadata = item.manifest["metadata"]
    annotations = metadata["annotations"] | {COMMIT: commit}
    metadata = metadata | {"annotations": annotations}
    return replace(item, manifest=item.manifest | {"metadata": metadata})


def _companion(declared: DeclaredCompanion[Any], stack: str) -> RenderedObject:
    metadata = _marks(declared.name, declared.namespace, Provenance(stack, declared.source))
    metadata["labels"] = dict(declared.metadata.labels) | metadata["labels"]
    metadata["annotations"] = dict(declared.metadata.annotations) | metadata["annotations"]
    role = f"resource-{declared.kind.lower()}-{declared.namespace}-{declared.name}"
    return revised(RenderedObject("", role, _resource(declared.kind, metadata, declared.spec)))


def _settings(fleet: Fleet, stack: str) -> RenderedObject:
    manifest: KubeObject = {
        "apiVersion": "v1",
        "kind": "ConfigMap",
        "metadata": _marks(settings_name(stack), fleet.environment.namespace, Provenance(stack)),
        "data": {
            SETTINGS_KEY: canonical_json(_settings_data(fleet.environment)).decode(),
            LOCK_KEY: tool_lock_text(fleet.tool_lock),
        },
    }
    return revised(RenderedObject("", _SETTINGS_ROLE, manifest))


def _settings_data(environment: Environment) -> KubeObject:
    """The settings without what only the engine reads: overrides are in the agents already."""
    return environment.model_dump(
        by_alias=True, exclude_unset=True, mode="json", exclude=_OWN_TO_THE_ENGINE
    )


def _marks(name: str, namespace: str, origin: Provenance) -> KubeObject:
    """Metadata of what belongs to no agent."""
    labels = {
        key: value
        for key, value in AgentMetadata(name, namespace, origin).object_labels().items()
        if key in {"app.kubernetes.io/instance", "app.kubernetes.io/managed-by"}
    }
    return {
        "name": name,
        "namespace": namespace,
        "labels": labels,
        "annotations": origin.annotations(),
    }


def _resource(kind: str, metadata: KubeObject, spec: BaseModel) -> KubeObject:
    """A manifest as it was written; null says no more than absence, and is left out."""
    data = spec.model_dump(by_alias=True, exclude_unset=True, mode="json")
    return {
        "apiVersion": API_VERSION,
        "kind": kind,
        "metadata": metadata,
        "spec": _without_nulls(data),
    }


def _without_nulls(value: Any) -> Any:  # noqa: ANN401  (plain data)
    if isinstance(value, dict):
        return {key: _without_nulls(each) for key, each in value.items() if each is not None}
    if isinstance(value, list):
        return [_without_nulls(each) for each in value]
    return value
