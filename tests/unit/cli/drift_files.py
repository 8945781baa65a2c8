"""A ConfigMap, declared and live, and files of such."""

import json
from pathlib import Path
from typing import Any

CONFIG: dict[str, Any] = {
    "apiVersion": "v1",
    "kind": "ConfigMap",
    "metadata": {"name": "support", "namespace": "cx"},
    "data": {"level": "info"},
}


MANAGED = [
    {
        "manager": "holdfast",
        "operation": "Apply",
        "time": "2026-11-21T10:00:00Z",
        "fieldsV1": {"f:data": {"f:level": {}}},
    },
    {
        "manager": "kubectl-edit",
        "operation": "Update",
        "time": "2026-11-21T11:00:00Z",
        "fieldsV1": {"f:data": {"f:extra": {}}},
    },
]


def write(folder: Path, name: str, *objects: dict[str, Any]) -> str:
    """Write objects as a file; its name."""
    file = folder / name
    file.write_text(json.dumps({"apiVersion": "v1", "kind": "List", "items": list(objects)}))
    return str(file)


def live(**data: str) -> dict[str, Any]:
    """The ConfigMap as a cluster has it."""
    metadata = {**CONFIG["metadata"], "uid": "1", "resourceVersion": "7", "managedFields": MANAGED}
    return {**CONFIG, "metadata": metadata, "data": data}
