"""Credentials written into a manifest: found by shape or by the name beside them, never shown.

What counts as one is said once, in the policy pack, so that the files and the cluster are judged
alike.
"""

from collections.abc import Iterator
from typing import Any

from holdfast_policies.facts.credentials import credentials_in, known_credential, named_credential

from holdfast.errors import ManifestError
from holdfast.kube.paths import Path, format_path
from holdfast.manifest.text.origin import Origin
from holdfast.manifest.text.redaction import masked

RULE = "no-literal-credentials"
SHORTEST_CHARACTERS = 8
"""Shorter texts are no credentials; most texts are."""


def faults_of_credentials(data: object, origin: Origin) -> Iterator[ManifestError]:
    """Every text of a manifest that looks like a credential; the errors do not hold it.

    Args:
        data: Plain data of one manifest, of any shape.
        origin: Where its values were written.
    """
    texts: list[tuple[Path, str]] = []
    _collect_texts(data, (), texts)
    for path, text in texts:
        kind = _kind_of(text, path, data)
        if kind:
            yield ManifestError(
                origin.nearest(path).value_location,
                format_path(path),
                expected="expected no credential",
                found=masked(kind),
                remedy="keep it in a Secret, name it under secrets, and revoke this one",
                rule=RULE,
            )


def _collect_texts(value: object, path: Path, texts: list[tuple[Path, str]]) -> None:
    if isinstance(value, str):
        if len(value) >= SHORTEST_CHARACTERS:
            texts.append((path, value))
    elif isinstance(value, dict):
        for key, item in value.items():
            _collect_texts(item, (*path, key), texts)
    elif isinstance(value, list):
        for index, item in enumerate(value):
            _collect_texts(item, (*path, index), texts)


def _kind_of(text: str, path: Path, data: Any) -> str:  # noqa: ANN401 - raw data of any shape
    match path:
        case ("metadata", "labels" | "annotations", str(name)):
            return named_credential(name, text)
        case ("spec", "container", "env", int(index), "value"):
            return named_credential(str(data["spec"]["container"]["env"][index].get("name")), text)
        case ("spec", "container", "args" | "command" as field, int(index)):
            before = str(data["spec"]["container"][field][index - 1]) if index else ""
            flag = before.lstrip("-") if before.startswith("-") else ""
            return named_credential(flag, text) or next(credentials_in(text), "")
        case ("spec", "config", int(), "data", _) | ("spec", "prompt", "systemMessage"):
            return next(credentials_in(text), "")
    return known_credential(text)
