"""Small objects that the tests of the drift room edit."""

import copy
from typing import Any

from holdfast.drift.context import DriftContext
from holdfast.drift.exemption.controllers import Autoscalers
from holdfast.drift.finding import Finding
from holdfast.drift.object_drift import object_findings
from holdfast.kube.managed_fields import FieldSet
from holdfast.kube.objects import Identity, KubeObject, reference_of
from holdfast.kube.paths import ABSENT, format_path, parse_path, with_value

CREATED = "2026-11-21T10:00:00Z"
LATER = "2026-11-21T12:00:00Z"

DEPLOYMENT: KubeObject = {
    "apiVersion": "apps/v1",
    "kind": "Deployment",
    "metadata": {
        "name": "support",
        "namespace": "cx",
        "labels": {"holdfast.dev/agent": "support", "tier": "front"},
    },
    "spec": {
        "replicas": 2,
        "selector": {"matchLabels": {"app": "support"}},
        "template": {
            "metadata": {"labels": {"app": "support"}},
            "spec": {
                "serviceAccountName": "support",
                "containers": [
                    {
                        "name": "agent",
                        "image": "registry.example.test/agent:1",
                        "args": ["serve", "--port", "80"],
                        "env": [
                            {"name": "HOST", "value": "support"},
                            {"name": "URL", "value": "http://$(HOST)"},
                        ],
                        "ports": [{"containerPort": 80}],
                        "resources": {"limits": {"cpu": "1", "memory": "1Gi"}},
                    }
                ],
            },
        },
    },
}
CONTAINER = "spec.template.spec.containers[name=agent]"


def edited(one: KubeObject, **edits: Any) -> KubeObject:
    """Copy with values set by path (`.` written as `__`) or removed by ABSENT."""
    return edit(one, {path.replace("__", "."): value for path, value in edits.items()})


def edit(one: KubeObject, edits: dict[str, Any]) -> KubeObject:
    """Copy with values set by path, or removed by ABSENT."""
    changed: Any = copy.deepcopy(one)
    for path, value in edits.items():
        changed = with_value(changed, parse_path(path), value)
    result: KubeObject = changed
    return result


def live_of(one: KubeObject, edits: dict[str, Any] | None = None, **metadata: Any) -> KubeObject:
    """The object as the server has it after it was deployed and edited.

    Every field of the declaration is owned by `holdfast`; see `owned_by` for others.
    """
    entry = {
        "manager": "holdfast",
        "operation": "Apply",
        "apiVersion": one["apiVersion"],
        "time": CREATED,
        "fieldsType": "FieldsV1",
        "fieldsV1": {key: {} for key in ("f:metadata",)} | _top(one),
    }
    server = {
        "uid": "11111111-1111-1111-1111-111111111111",
        "resourceVersion": "7",
        "generation": 2,
        "creationTimestamp": CREATED,
        "managedFields": [entry],
    }
    changed = edit(one, edits or {})
    return {**changed, "metadata": {**changed["metadata"], **server, **metadata}, "status": {}}


def _top(one: KubeObject) -> dict[str, Any]:
    """Ownership of the declared fields, down to the leaves."""
    return {f"f:{key}": _set(value) for key, value in one.items() if isinstance(value, dict)}


def _set(value: Any) -> FieldSet:
    if isinstance(value, dict):
        return {f"f:{key}": _set(inner) for key, inner in value.items()}
    if isinstance(value, list) and all(isinstance(item, dict) and "name" in item for item in value):
        return {f'k:{{"name":"{item["name"]}"}}': {".": {}} | dict(_set(item)) for item in value}
    return {}


def owned_by(
    manager: str, path: str, one: KubeObject, *, time: str = LATER, subresource: str = ""
) -> KubeObject:
    """Copy of a live object with one more entry: a manager that owns a path of plain fields."""
    fields: dict[str, Any] = {}
    inner = fields
    for segment in parse_path(path):
        key = f"f:{segment}"
        if not isinstance(segment, str):
            pairs = ",".join(f'"{name}":"{value}"' for name, value in segment.pairs)  # type: ignore[union-attr]  # no index in these tests
            key = "k:{" + pairs + "}"
        inner[key] = {}
        inner = inner[key]
    entry = {"manager": manager, "operation": "Update", "time": time, "fieldsV1": fields}
    if subresource:
        entry["subresource"] = subresource
    metadata = one["metadata"]
    entries = [*metadata["managedFields"], entry]
    return {**one, "metadata": {**metadata, "managedFields": entries}}


def findings(desired: KubeObject, live: KubeObject, **context: Any) -> list[Finding]:
    """Findings about one object."""
    context.setdefault("autoscalers", Autoscalers(()))
    return object_findings(reference_of(desired), desired, live, DriftContext(**context))


def summary(found: list[Finding]) -> list[tuple[str, str]]:
    """Class and path of each finding."""
    return [(each.drift_class.value, format_path(each.path)) for each in found]


def drift(desired: KubeObject, live: KubeObject, **context: Any) -> list[tuple[str, str]]:
    """Class and path of each finding that counts."""
    return summary([each for each in findings(desired, live, **context) if each.is_drift])


def identity(one: KubeObject) -> Identity:
    return reference_of(one).identity


GONE = ABSENT
