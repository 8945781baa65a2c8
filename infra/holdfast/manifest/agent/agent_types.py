"""What each type of agent makes of each field: a field without effect is refused, not ignored."""

from collections.abc import Iterator, Mapping
from functools import cache
from typing import TYPE_CHECKING, Final, Literal

from pydantic import BaseModel
from pydantic.alias_generators import to_camel
from pydantic_core import PydanticCustomError

from holdfast.manifest.text.faults import fault

if TYPE_CHECKING:
    from holdfast.manifest.agent.agent import AgentSpec

AgentType = Literal["Service", "Job", "Sandbox"]
"""Service answers requests without end, Job runs by its schedules and triggers, Sandbox is a
workspace for one user at a time."""

SERVING: Final = frozenset({"Service"})
RUN: Final = frozenset({"Job"})
SANDBOX: Final = frozenset({"Sandbox"})
CALLED: Final = SERVING | SANDBOX
EVERY: Final = SERVING | RUN | SANDBOX

EFFECTS: Final[Mapping[str, frozenset[str]]] = {
    "type": EVERY,
    "description": EVERY,
    "version": EVERY,
    "owner": EVERY,
    "governance": EVERY,
    "framework": EVERY,
    "provider": CALLED,
    "iconUrl": CALLED,
    "documentationUrl": CALLED,
    "image": EVERY,
    "runtime": SERVING,
    "command": EVERY,
    "args": EVERY,
    "workingDir": EVERY,
    "ports": CALLED,
    "env": EVERY,
    "envFrom": EVERY,
    "imagePullSecrets": EVERY,
    "tmp": EVERY,
    "dependsOn": EVERY,
    "waitForDependencies": EVERY,
    "model": EVERY,
    "prompt": EVERY,
    "tools": EVERY,
    "memory": EVERY,
    "skills": EVERY,
    "a2a": CALLED,
    "allowedNamespaces": CALLED,
    "budget": EVERY,
    "guardrails": EVERY,
    "storage": EVERY,
    "databases": EVERY,
    "backup": EVERY,
    "restoreFrom": EVERY,
    "secrets": EVERY,
    "config": EVERY,
    "resources": EVERY,
    "scaling": SERVING,
    "availability": SERVING,
    "rollout": SERVING,
    "network": EVERY,
    "network.expose": CALLED,
    "network.ingressFrom": CALLED,
    "security": EVERY,
    "probes": CALLED,
    "lifecycle": EVERY,
    "lifecycle.preStop": CALLED,
    "lifecycle.cacheWarmer": SERVING,
    "lifecycle.leaderElection": SERVING,
    "telemetry": EVERY,
    "telemetry.metrics": CALLED,
    "drift": EVERY,
    "telemetry.slo": CALLED,
    "schedules": RUN,
    "triggers": RUN,
    "sandbox": SANDBOX,
    "sidecars": CALLED,
    "initContainers": EVERY,
    "podOverrides": EVERY,
    "queueName": EVERY,
    "priorityClassName": EVERY,
    "runtimeClassName": EVERY,
    "nodeSelector": EVERY,
    "tolerations": EVERY,
    "affinity": EVERY,
    "topologySpreadConstraints": EVERY,
}
"""Field of a spec to the types on which it has an effect; holds for what lies below it, too.

Every field of a spec stands here; one that lies deeper stands here where it differs.
"""


def types_of(path: str) -> frozenset[str]:
    """The types on which a field of a spec has an effect: its own verdict, or its parent's.

    Args:
        path: Field below `spec`, in the words of files, such as `network.expose.port`; items of
            lists are not told apart.
    """
    while path not in EFFECTS and "." in path:
        path = path.rpartition(".")[0]
    return EFFECTS[path]


def faults_of_type(spec: "AgentSpec") -> Iterator[PydanticCustomError]:
    """Fields that were written although they do nothing for an agent of this type."""
    for path, types in EFFECTS.items():
        if spec.type not in types and _is_written(spec, path.split(".")):
            yield fault(
                f"has no effect on an agent of type {spec.type}",
                remedy=f"remove it; it is for type {' and '.join(sorted(types))}",
                at=tuple(path.split(".")),
            )
    yield from _faults_of_runtime(spec)
    if spec.type == "Job" and not spec.schedules and not spec.triggers:
        yield fault(
            "an agent of type Job runs by its schedules and triggers, and has none",
            remedy='add schedules, such as [{cron: "0 2 * * *"}], or triggers',
            at=("type",),
        )


def _faults_of_runtime(spec: "AgentSpec") -> Iterator[PydanticCustomError]:
    if spec.runtime is None:
        if spec.image is None:
            remedy = "add image, or runtime: managed"
            yield fault("this field is required", remedy=remedy, at=("image",))
        return
    for field in ("image", "command", "args", "workingDir"):
        if _is_written(spec, [field]):
            expected = "has no effect with runtime: managed, which brings its own"
            yield fault(expected, remedy="remove it", at=(field,))
    if spec.model is None or spec.prompt is None:
        yield fault(
            "an agent of the managed runtime is what its model and prompt make it",
            remedy="add model and prompt",
            at=("runtime",),
        )


def _is_written(part: BaseModel, path: list[str]) -> bool:
    """Whether a field stands in the file, its parents included."""
    name = _fields_as_written(type(part))[path[0]]
    if name not in part.model_fields_set:
        return False
    value = getattr(part, name)
    return len(path) == 1 or (isinstance(value, BaseModel) and _is_written(value, path[1:]))


@cache
def _fields_as_written(model: type[BaseModel]) -> Mapping[str, str]:
    """Name in a file to the name in Python."""
    return {info.alias or to_camel(name): name for name, info in model.model_fields.items()}
