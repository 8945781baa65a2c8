"""Values that are written to no file: credentials in plain sight, in what runs in a cluster."""

import copy
from collections.abc import Iterator
from typing import Any, Final

from holdfast.convert.workloads.remainder import Remark
from holdfast.drift.masking import MASK, mask_value
from holdfast.kube.objects import KubeObject, ObjectRef, reference_of

_CONTAINERS: Final = ("containers", "initContainers")
_COMMANDS: Final = ("command", "args")
_SHORTEST_SECRET_NUMBER: Final = 8
_REASON: Final = "a value that looks like a credential is not written: keep it in a Secret"
_LAST_APPLIED: Final = "kubectl.kubernetes.io/last-applied-configuration"


def without_credentials(one: KubeObject) -> tuple[KubeObject, list[Remark]]:
    """An object without the values that look like credentials, and where they stood.

    Entries of `env` and annotations are left out; words of a command are masked.
    """
    clean = copy.deepcopy(one)
    ref = reference_of(one)
    remarks = [*_of_metadata(clean, ref, "metadata")]
    for path, spec in _pod_specs(clean, ()):
        for field in _CONTAINERS:
            for container in spec.get(field) or ():
                remarks += _of_container(container, ref, f"{path}.{field}")
    return clean, remarks


def is_credential(text: str, name: str = "") -> bool:
    """Whether a value looks like a credential, by its form or by its name; short numbers do not."""
    is_number = text.isdigit() and len(text) < _SHORTEST_SECRET_NUMBER
    return bool(text) and not is_number and mask_value(text, name=name) != text


def holds_credentials(config_map: KubeObject) -> bool:
    """Whether the content of a ConfigMap must not be written to a file."""
    data = config_map.get("data") or {}
    return any(is_credential(str(text), key) for key, text in data.items())


def has_masked_words(value: Any) -> bool:  # noqa: ANN401  (any JSON value)
    """Whether words of a command were masked, so that it cannot run as it is written."""
    if isinstance(value, dict):
        return any(has_masked_words(each) for each in value.values())
    if isinstance(value, list):
        return any(has_masked_words(each) for each in value)
    return isinstance(value, str) and MASK in value


def _pod_specs(value: Any, path: tuple[str, ...]) -> Iterator[tuple[str, dict[str, Any]]]:  # noqa: ANN401
    """Every specification of pods in an object, wherever its kind has it."""
    if not isinstance(value, dict):
        return
    if isinstance(value.get("containers"), list):
        yield ".".join(path), value
    for key, below in value.items():
        yield from _pod_specs(below, (*path, key))


def _of_metadata(one: KubeObject, ref: ObjectRef, path: str) -> Iterator[Remark]:
    for place, metadata in _metadata_of(one, path):
        annotations = metadata.get("annotations") or {}
        annotations.pop(_LAST_APPLIED, None)
        for name in [key for key, text in annotations.items() if is_credential(text, key)]:
            del annotations[name]
            yield Remark(ref, f"{place}.annotations.{name}", MASK, _REASON)


def _metadata_of(value: Any, path: str) -> Iterator[tuple[str, dict[str, Any]]]:  # noqa: ANN401
    if isinstance(value, dict):
        if isinstance(value.get("metadata"), dict):
            yield path, value["metadata"]
        for key, below in value.items():
            if key != "metadata":
                yield from _metadata_of(below, f"{key}.metadata")


def _of_container(container: dict[str, Any], ref: ObjectRef, path: str) -> Iterator[Remark]:
    place = f"{path}[name={container.get('name')}]"
    kept = []
    for entry in container.get("env") or ():
        text = entry.get("value")
        if isinstance(text, str) and is_credential(text, str(entry.get("name"))):
            yield Remark(ref, f"{place}.env[name={entry.get('name')}].value", MASK, _REASON)
        else:
            kept.append(entry)
    if "env" in container:
        container["env"] = kept
    for field in _COMMANDS:
        words = container.get(field)
        if words and mask_value(words) != words:
            container[field] = mask_value(words)
            yield Remark(ref, f"{place}.{field}", MASK, _REASON)
