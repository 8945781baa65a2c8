"""Pods and containers wherever they stand: in kinds that nobody has told this pack about.

A mapping with `containers` is a pod; one with an image and what only containers have is one of
them; one with `hostNetwork` or `volumes` holds for the pods that its controller makes. Where the
kind is not known to hold whole templates, what is left out counts as safe: its defaults are those
of its controller, and only what is written can be wrong.
"""

from collections.abc import Iterator, Mapping
from typing import Any, Final

from holdfast_policies.decode.unknown import PartlyKnownDict, PartlyKnownList, is_unknown, raw_items
from holdfast_policies.facts.known_kinds import FULL_TEMPLATES, HARMLESS, is_in
from holdfast_policies.model.kinds import POD_KINDS
from holdfast_policies.model.subject import Container, Pod, Subject, field_path, item_path

NOT_ASKED: Final = frozenset(
    {
        *("owner-and-cost-labels", "provenance-annotations", "telemetry-configured"),
        *("log-retention-and-redaction-declared", "min-replicas-and-spread", "graceful-drain"),
        *(
            "probes-distinct-and-bounded",
            "job-bounds",
            "sandbox-lifetime",
            "tool-call-audit-enabled",
        ),
        *("data-class-and-retention-declared", "no-security-ignore-changes"),
        *("typed-fields", "no-literal-credentials", "sandboxed-runtime-class", "emptydir-bounded"),
        *("autonomy-and-oversight-declared", "requests-and-limits", "dedicated-service-account"),
    }
)
"""Rules that are about a workload as a whole, or that read every text of an object anyway."""

_LISTS: Final = ("initContainers", "containers", "ephemeralContainers")
_OF_PODS: Final = ("hostNetwork", "hostPID", "hostIPC", "hostUsers", "automountServiceAccountToken")
_OF_CONTAINERS: Final = frozenset(
    {"command", "args", "env", "envFrom", "volumeMounts", "imagePullPolicy", "workingDir", "script"}
    | {"source", "livenessProbe", "lifecycle", "resources", "ports", "securityContext"}
)
_CONTEXT_OF_CONTAINERS: Final = frozenset(
    {
        "privileged",
        "allowPrivilegeEscalation",
        "capabilities",
        "procMount",
        "readOnlyRootFilesystem",
    }
)
_SAFE_POD: Final = {"automountServiceAccountToken": False, "serviceAccountName": "its-own"}
_SAFE_POD_CONTEXT: Final = {"runAsNonRoot": True, "seccompProfile": {"type": "RuntimeDefault"}}
_SAFE_CONTEXT: Final = {"allowPrivilegeEscalation": False, "readOnlyRootFilesystem": True}
_MAPPINGS = (dict, PartlyKnownDict)
_SEQUENCES = (list, PartlyKnownList)


def runs_pods_elsewhere(subject: Subject) -> bool:
    """Whether an object may hold pods that its kind does not tell of."""
    kind = subject.kind
    return bool(kind.name) and kind not in POD_KINDS and not is_in(HARMLESS, kind)


def embedded_pods(subject: Subject) -> tuple[Pod, ...]:
    """Every pod, container and setting of pods in an object of a kind that is not built in."""
    if not runs_pods_elsewhere(subject):
        return ()
    is_whole = is_in(FULL_TEMPLATES, subject.kind)
    return tuple(_pods(subject.object, "", is_whole=is_whole))


def _pods(value: object, path: str, *, is_whole: bool) -> Iterator[Pod]:
    kind = type(value)
    if kind in _SEQUENCES:
        for index, item in enumerate(raw_items(value)):  # type: ignore[arg-type]  # a list
            yield from _pods(item, item_path(path, index, item), is_whole=is_whole)
        return
    if kind not in _MAPPINGS or is_unknown(value):
        return
    held: dict[str, Any] = value  # type: ignore[assignment]  # a mapping
    plain = {key: item for key, item in dict.items(held) if not is_unknown(item)}
    lists = [name for name in _LISTS if _holds_mappings(plain.get(name))]
    skipped: tuple[str, ...] = ()
    if lists:
        has_images = any("image" in one for name in lists for one in plain[name])
        yield _pod(plain, path, is_whole=is_whole and has_images and path.endswith("spec"))
        skipped = _LISTS
    elif _is_container(plain):
        yield _bare(plain, path)
    elif _says_of_pods(plain):
        yield _pod(plain, path, is_whole=False)
    for key, item in plain.items():
        if key not in skipped and key != "securityContext":
            yield from _pods(item, field_path(path, key), is_whole=is_whole)


def _holds_mappings(value: object) -> bool:
    return type(value) in _SEQUENCES and any(
        type(item) in _MAPPINGS
        for item in raw_items(value)  # type: ignore[arg-type]  # a list
    )


def _is_container(value: Mapping[str, Any]) -> bool:
    if isinstance(value.get("image"), str):
        return (
            not _OF_CONTAINERS.isdisjoint(value) or "/" in value["image"] or ":" in value["image"]
        )
    context = value.get("securityContext")
    return isinstance(context, dict) and not _CONTEXT_OF_CONTAINERS.isdisjoint(dict.keys(context))


def _says_of_pods(value: Mapping[str, Any]) -> bool:
    if any(isinstance(value.get(name), bool) for name in _OF_PODS):
        return True
    return _holds_mappings(value.get("volumes")) or type(value.get("securityContext")) in _MAPPINGS


def _pod(spec: dict[str, Any], path: str, *, is_whole: bool) -> Pod:
    return Pod({}, spec if is_whole else _completed(spec), "", place=path or ".")


def _bare(container: dict[str, Any], path: str) -> Pod:
    whole = _completed({"containers": [container]})
    pod = Pod({}, whole, "", place=path)
    pod.__dict__["containers"] = (Container(whole["containers"][0], path, pod),)
    return pod


def _completed(spec: Mapping[str, Any]) -> dict[str, Any]:
    """The pod with what it leaves out as safe as can be."""
    context = spec.get("securityContext")
    held = _known(context)
    made = {**_SAFE_POD, **spec, "securityContext": {**_SAFE_POD_CONTEXT, **held}}
    for name in _LISTS:
        if _holds_mappings(spec.get(name)):
            made[name] = [
                _completed_container(one) if type(one) in _MAPPINGS else one for one in spec[name]
            ]
    return made


def _completed_container(container: Mapping[str, Any]) -> dict[str, Any]:
    context = container.get("securityContext")
    held = _known(context)
    capabilities = held.get("capabilities")
    held["capabilities"] = {"drop": ["ALL"], **_known(capabilities)}
    made = {**container, "securityContext": {**_SAFE_CONTEXT, **held}}
    script = container.get("script") or container.get("source")
    if isinstance(script, str):  # Tekton's and Argo's: what the container runs
        arguments = container.get("args")
        made["args"] = [*(arguments if isinstance(arguments, list) else ()), script]
    return made


def _known(value: object) -> dict[str, Any]:
    """A mapping without what is not known yet."""
    if is_unknown(value) or not isinstance(value, dict):
        return {}
    return {key: item for key, item in dict.items(value) if not is_unknown(item)}
