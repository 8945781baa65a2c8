"""Keep secret values out of everything that is shown: one mask that tells changed from same.

Works on the values of findings before they leave the room. The data of Secrets is never shown;
elsewhere a value is masked when its name promises a credential or its form is one of those that the
policy pack knows.
"""

import re
from collections.abc import Mapping
from typing import Any, Final

from holdfast.kube.normalisation import LAST_APPLIED
from holdfast.kube.paths import ABSENT, ItemKey, Path, value_at

MASK: Final = "(masked)"
MASK_CHANGED: Final = "(masked, changed)"

_SECRET_NAME: Final = re.compile(
    r"(?i)passw|secret|token|credential|api[-_]?key|private[-_]?key|access[-_]?key|signing"
    r"|[-_.](key|pwd|auth|dsn)$|connection[-_]?string|webhook[-_]?url"
)
_REFERENCE_NAME: Final = re.compile(r"(Name|Ref|Selector|Names|Seconds|Path)$")
"""Fields that say which secret is meant, not what it holds: `secretName`, `tokenSecretRef`."""

_REFERENCES: Final = frozenset({"name", "key", "secretName", "namespace", "optional"})
_HIDDEN_IN_SECRETS: Final = frozenset({"data", "stringData"})


def mask_pair(
    declaration: Mapping[str, Any],
    path: Path,
    desired: Any,  # noqa: ANN401  (any JSON value)
    live: Any,  # noqa: ANN401  (any JSON value)
) -> tuple[Any, Any]:
    """Both values of a finding, safe to show; ABSENT becomes None.

    Law: no secret value is in the result; equal masks do not mean equal values.
    """
    kind = str(declaration.get("kind"))
    is_secret = _is_secret_place(kind, path) or _stands_for_reference(declaration, path)
    shown_desired = _shown(desired, path, MASK, is_secret=is_secret)
    shown_live = _shown(live, path, MASK_CHANGED, is_secret=is_secret)
    return shown_desired, shown_live


def _shown(value: Any, path: Path, mask: str, *, is_secret: bool) -> Any:  # noqa: ANN401
    if value is ABSENT or value is None:
        return None
    if is_secret:
        return mask
    return mask_value(value, mask, name=_name_of(path))


def _is_secret_place(kind: str, path: Path) -> bool:
    if kind == "Secret" and path[:1] and path[0] in _HIDDEN_IN_SECRETS:
        return True
    return LAST_APPLIED in path


def _stands_for_reference(declaration: Mapping[str, Any], path: Path) -> bool:
    """Whether a literal stands where a key of a Secret was declared: it is that key's value."""
    if path[-1:] != ("value",):
        return False
    source = value_at(declaration, (*path[:-1], "valueFrom"))
    return isinstance(source, Mapping) and "secretKeyRef" in source


def _name_of(path: Path) -> str:
    """The name that says what a value is: of the variable for `env[name=X].value`."""
    for segment in reversed(path):
        if isinstance(segment, ItemKey):
            return str(segment.pairs[0][1])
        if isinstance(segment, str) and segment != "value":
            return segment
    return ""


def _is_credential(text: str) -> bool:
    # Where nothing is found nothing is shown: most scans need none of the forms.
    from holdfast_policies.credentials import credentials_in  # noqa: PLC0415  (start-up)

    return any(credentials_in(text))


def mask_value(value: Any, mask: str = MASK, *, name: str = "") -> Any:  # noqa: ANN401  (JSON)
    """Copy of a value with everything that looks like a credential masked."""
    if isinstance(value, str):
        named = _SECRET_NAME.search(name) and not _REFERENCE_NAME.search(name)
        hidden = named or _is_credential(value)
        return mask if hidden and value else value
    if isinstance(value, list):
        return [mask_value(item, mask, name=name) for item in value]
    if isinstance(value, Mapping):
        return _mask_mapping(value, mask, name)
    return value


def _mask_mapping(value: Mapping[str, Any], mask: str, name: str) -> dict[str, Any]:
    own = value.get("name")
    is_reference = any(key in value for key in ("key", "secretName")) and "value" not in value
    shown: dict[str, Any] = {}
    for key, inner in value.items():
        if key in _REFERENCES and (is_reference or key == "name"):
            # Which Secret is used, and which of its keys, is no secret.
            shown[key] = inner
        elif key == "value" and isinstance(own, str):
            shown[key] = mask_value(inner, mask, name=own)
        else:
            shown[key] = mask_value(inner, mask, name=key if isinstance(inner, str) else "")
    return shown
