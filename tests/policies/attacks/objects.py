"""Objects that attacks are made of."""

import copy
from dataclasses import dataclass
from typing import Any

from tests.policies.rule_cases import REMOVED, with_value

IMAGE = f"registry.example/agents/a@sha256:{'1' * 64}"

BAD_IMAGE = "docker.io/evil/a:latest"

SAFE = {
    "allowPrivilegeEscalation": False,
    "capabilities": {"drop": ["ALL"]},
    "readOnlyRootFilesystem": True,
}

AMOUNTS = {"cpu": "100m", "memory": "64Mi", "ephemeral-storage": "64Mi"}

Kube = dict[str, Any]


@dataclass(frozen=True)
class Attack:
    """One attack and its twin.

    Attributes:
        family: What it belongs to.
        name: What it does.
        bad: The objects of the attack.
        clean: The same with one edit undone.
    """

    family: str
    name: str
    bad: tuple[Kube, ...]
    clean: tuple[Kube, ...]


def container(**fields: Any) -> Kube:
    return {
        "name": "a",
        "image": IMAGE,
        "securityContext": copy.deepcopy(SAFE),
        "resources": {"limits": dict(AMOUNTS), "requests": dict(AMOUNTS)},
        **fields,
    }


def pod_spec(**fields: Any) -> Kube:
    return {
        "automountServiceAccountToken": False,
        "serviceAccountName": "agent",
        "securityContext": {"runAsNonRoot": True, "seccompProfile": {"type": "RuntimeDefault"}},
        "containers": [container()],
        **fields,
    }


def kube(api: str, kind: str, spec: Any = None, **fields: Any) -> Kube:
    made: Kube = {"apiVersion": api, "kind": kind, "metadata": {"name": "a", "namespace": "agents"}}
    return made | ({"spec": spec} if spec is not None else {}) | fields


def pod(**fields: Any) -> Kube:
    return kube("v1", "Pod", pod_spec(**fields))


def edit(base: Kube, pointer: str, bad: Any, good: Any = REMOVED) -> tuple[Kube, Kube]:
    """The object with an edit, and with it undone."""
    clean = copy.deepcopy(base) if good is REMOVED else with_value(base, pointer, good)
    return with_value(base, pointer, bad), clean


TEMPLATE = {"spec": pod_spec()}
