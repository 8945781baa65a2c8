"""Hands that edit a cluster: many users, many tools, every kind of object, none of it declared."""

import json
import random
from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from bench.storm_stage import NAMESPACE, Stage

_USERS = ("alice@example.test", "bob@example.test", "carol@example.test", "ci@example.test")
_MANAGERS = ("kubectl-edit", "kubectl-set", "dashboard", "terraform", "helm")
_EVIL = "registry.example/evil@sha256:" + "e" * 64


def _container(**fields: object) -> dict[str, Any]:
    container = {"name": "agent", **fields}
    return {"spec": {"template": {"spec": {"containers": [container]}}}}


_EDITS: Mapping[str, tuple[tuple[str, dict[str, Any]], ...]] = {
    "deployment": (
        ("image", _container(image=_EVIL)),
        ("variable added", _container(env=[{"name": "HOTFIX", "value": "1"}])),
        ("variable changed", _container(env=[{"name": "TEAM", "value": "mallory"}])),
        ("limits", _container(resources={"limits": {"memory": "4Gi"}})),
        ("label", {"metadata": {"labels": {"owner": "mallory"}}}),
        ("labels taken away", {"metadata": {"labels": {"holdfast.dev/agent": None}}}),
        ("template annotated", {"spec": {"template": {"metadata": {"annotations": {"x": "y"}}}}}),
        ("host network", {"spec": {"template": {"spec": {"hostNetwork": True}}}}),
        (
            "sidecar",
            {"spec": {"template": {"spec": {"containers": [{"name": "spy", "image": _EVIL}]}}}},
        ),
        ("strategy", {"spec": {"minReadySeconds": 99}}),
    ),
    "service": (
        ("selector", {"spec": {"selector": {"app": "spy"}}}),
        ("annotation", {"metadata": {"annotations": {"cloud.example/public": "true"}}}),
    ),
    "networkpolicy": (
        ("opened", {"spec": {"egress": [{}]}}),
        ("label", {"metadata": {"labels": {"opened-by": "mallory"}}}),
    ),
    "serviceaccount": (("token mounted", {"automountServiceAccountToken": True}),),
    "horizontalpodautoscaler": (("range", {"spec": {"maxReplicas": 50}}),),
}
"""Kind to named strategic merge patches; hands also delete.

Namespaces are left alone: they are no agent's, so drift of theirs is told of and left to a person.
"""


@dataclass
class Hands:
    """Hands at work.

    Attributes:
        choice: Where chance comes from: the same seed edits the same.
        done: Edit to how often it was done.
        refused: Edits that the server did not take: two hands at once, or a server that is away.
    """

    stage: Stage
    choice: random.Random
    done: Counter[str] = field(default_factory=Counter)
    refused: int = 0

    def edit(self) -> None:
        """Do one thing to one object."""
        kind = self.choice.choice((*_EDITS, "deployment", "deployment"))
        number = self.choice.randrange(self.stage.agents)
        name = f"agent-{number:03}"
        what, patch = self.choice.choice((*_EDITS[kind], ("deleted", {})))
        self._count(f"{kind}: {what}", is_done=self._do(kind, name, patch))

    def fight(self) -> None:
        """Write the same field again, as a controller does that wants it otherwise."""
        wanted = {"spec": {"sessionAffinity": "ClientIP"}}
        is_done = self._patch("service", "agent-000", wanted)
        self._count("service: fought over", is_done=is_done)

    def _count(self, what: str, *, is_done: bool) -> None:
        if is_done:
            self.done[what] += 1
        else:
            self.refused += 1

    def _do(self, kind: str, name: str, patch: dict[str, Any]) -> bool:
        if patch:
            return self._patch(kind, name, patch)
        return self._kubectl("delete", kind, name, "--wait=false")

    def _patch(self, kind: str, name: str, patch: dict[str, Any]) -> bool:
        manager = self.choice.choice(_MANAGERS)
        return self._kubectl(
            "patch", kind, name, f"--field-manager={manager}", f"-p={json.dumps(patch)}"
        )

    def _kubectl(self, *arguments: str) -> bool:
        user = self.choice.choice(_USERS)
        who = (f"--as={user}", "--as-group=system:masters", "--request-timeout=5s")
        return not self.stage.kubectl(*arguments, "-n", NAMESPACE, *who).returncode
