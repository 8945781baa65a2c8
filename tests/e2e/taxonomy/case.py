"""One case of the taxonomy: what is declared, what is done to it, and what a scan must say.

`$name` and `$namespace` stand in every text for the case's own names, so that all cases of a
namespace live beside each other and one scan judges all of them.
"""

import json
import re
from dataclasses import dataclass
from typing import Any

from holdfast.kube.objects import KubeObject

ALICE = "alice"
ADMIN = "admin"


@dataclass(frozen=True)
class Write:
    """One write of somebody, after everything was deployed.

    Attributes:
        verb: `json` or `merge` (patches), `apply`, `create` or `delete`.
        kind: Of the object; its API version is known from the case's objects or is built in.
        body: Patch or object; None for a deletion.
        manager: Field manager of the write.
        user: Whose credentials are used.
        subresource: Such as `scale`.
        name: Name of the object.
        api_version: To write through another version than the declared one.
    """

    verb: str
    kind: str
    body: Any = None
    manager: str = "kubectl-edit"
    user: str = ALICE
    subresource: str = ""
    name: str = "$name"
    api_version: str = ""


@dataclass(frozen=True)
class Expected:
    """One finding that must be there.

    Attributes:
        severity: The least it may have; empty where the taxonomy says nothing.
    """

    drift_class: str
    kind: str
    path: str = ""
    severity: str = ""


@dataclass(frozen=True)
class Case:
    """One row of the taxonomy, or one of its variants.

    Attributes:
        row: Number in the taxonomy.
        title: What is done; names the objects.
        objects: Declared, and deployed by `holdfast`.
        writes: What is done to them, in order.
        expected: What must be found; empty for a row that must not be flagged.
        remarks: Findings of severity `info` that are right.
        environment: Objects that are there without being declared, made before the deployment.
        proof: Kind, path and value that show that the change is in effect when the scan runs;
            None for a value means that there is any.
    """

    row: int
    title: str
    objects: tuple[KubeObject, ...]
    writes: tuple[Write, ...] = ()
    expected: tuple[Expected, ...] = ()
    remarks: tuple[Expected, ...] = ()
    environment: tuple[KubeObject, ...] = ()
    proof: tuple[str, tuple[str | int, ...], Any] | None = None

    @property
    def name(self) -> str:
        """Name of its objects: a label in DNS."""
        slug = re.sub(r"[^a-z0-9]+", "-", self.title.lower()).strip("-")
        return f"r{self.row:02}-{slug}"[:50].rstrip("-")

    @property
    def is_drift(self) -> bool:
        """Whether anything must be found."""
        return bool(self.expected)

    def filled(self, value: Any, namespace: str, bundle: str = "") -> Any:
        """A value of the case with its names and the cluster's certificates filled in."""
        names = {"$namespace": namespace, "$name": self.name, "$bundle": bundle}
        text = json.dumps(value)
        for variable, name in names.items():
            text = text.replace(variable, name)
        return json.loads(text)


def added(kind: str, path: str, severity: str = "") -> Expected:
    """Something that nobody declared must be found."""
    return Expected("added", kind, path, severity)


def changed(kind: str, path: str, severity: str = "") -> Expected:
    """Another value must be found."""
    return Expected("changed", kind, path, severity)


def removed(kind: str, path: str, severity: str = "") -> Expected:
    """An absence must be found."""
    return Expected("removed", kind, path, severity)


def patched(kind: str, *operations: dict[str, Any], **said: str) -> Write:
    """A JSON patch."""
    return Write("json", kind, list(operations), **said)


def put(path: str, value: object) -> dict[str, Any]:
    """An operation of a JSON patch: add or replace."""
    return {"op": "add", "path": path, "value": value}


def take(path: str) -> dict[str, Any]:
    """An operation of a JSON patch: remove."""
    return {"op": "remove", "path": path}
