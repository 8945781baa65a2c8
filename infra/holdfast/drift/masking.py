"""Keep secret values out of everything that is shown: a mask still shows whether a value changed.

Works on the values of findings before they leave the room. The data of Secrets is never shown;
elsewhere a value is masked when its name promises a credential, when it stands where one is given
(after a flag, in a header, in an address), or when its form is one of those that the policy pack
knows. Where strangers read along, no value is shown at all.
"""

import re
from collections.abc import Mapping
from dataclasses import replace
from typing import Any, Final

from holdfast.drift.finding import DriftReport, Finding
from holdfast.kube.normalisation import LAST_APPLIED
from holdfast.kube.paths import ABSENT, ItemKey, Path, value_at

MASK: Final = "(masked)"
MASK_CHANGED: Final = "(masked, changed)"
NOT_SHOWN: Final = "(not shown)"

_WORDS: Final = (
    r"pass(?:w(?:or)?d|phrase|code)?s?|pwd|secrets?|tokens?|credentials?|creds?|dsn|cookies?|jwt|pat"
    r"|salt|hmac|auth|authorization|bearer|sas|otp|apikey|signature|sig"
)
_BEFORE_KEY: Final = (
    "api|private|access|signing|encryption|master|account|shared|secret|ssh|license"
)
_SECRET_NAME: Final = re.compile(
    # As part of any name; as a word of a name; a key that opens something; nothing but a key.
    r"(?i)passw|passphrase|secret|token|credential|signing"
    rf"|(?<![a-z])(?:{_WORDS})(?![a-z])|(?:{_BEFORE_KEY})[-_.]?keys?|[-_.]keys?$|^keys?$"
    r"|connection[-_]?string|webhook[-_]?url|otlp[-_]headers|http[-_]?headers"
)
_HUMP: Final = re.compile(r"(?<=[a-z0-9])(?=[A-Z])")
_REFERENCE_NAME: Final = re.compile(r"(Name|Ref|Selector|Names|Seconds|Path)$")
"""Fields that say which secret is meant, not what it holds: `secretName`, `tokenSecretRef`."""

_FLAG: Final = re.compile(r"--?[A-Za-z][\w.-]*")
_SHORT_PASSWORD: Final = re.compile(
    r"-p(?!ort|ath|rofile|lugin|rint|riv|kg|ublic|refix|roc|arallel|rogress|roto|ackage|attern)"
    r"(?=\S*[A-Za-z])\S{4,}"
)
"""A password right after its flag, as clients of databases take it; a port has digits only."""
_NAMED_VALUES: Final = (
    # `password=x`, `"token": "x"`, `passphrase: x`; and where a header ends without a space.
    re.compile(
        r"(?<![\w.-])(?=(?P<name>[A-Za-z][\w.-]*)(?:\s*=\s*|[\"']\s*:\s*|:\s+)[\"']?"
        r"(?P<value>[^\s\"',;&]+))"
    ),
    re.compile(r"(?i)(?P<name>\bx-[\w-]+|\bauthorization|\bcookie):(?P<value>[^\s\"']+)"),
    # `--token x` in the text of a command.
    re.compile(r"(?<!\S)(?=--?(?P<name>[A-Za-z][\w.-]*)\s+(?P<value>[^\s-]\S*))"),
)
_AUTHORIZATION: Final = re.compile(
    r"(?i)\b(?:basic|bearer|digest|negotiate|token|apikey)\s+[A-Za-z0-9+/=._~-]{6,}"
)
_ADDRESS: Final = re.compile(r"(?i)\b[a-z][a-z0-9+.-]*://[^\s/@:]*:[^\s/@]+@")
_WORDS_OF_TEXT: Final = re.compile(
    r"(?i)name|ref|path|file|enabled|disabled|true|false|none|null|required|optional|\d{1,6}[smhd]?|\$.*"
)
"""What follows a name in prose and settings, and is no credential."""

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
    if _ADDRESS.search(text) or _AUTHORIZATION.search(text):
        return True
    pairs = (pair for pattern in _NAMED_VALUES for pair in pattern.finditer(text))
    if any(_is_secret_pair(pair["name"], pair["value"]) for pair in pairs):
        return True
    # Where nothing is found nothing is shown: most scans need none of the forms.
    from holdfast_policies.facts.credentials import credentials_in  # noqa: PLC0415  (start-up)

    return any(credentials_in(text))


def _is_secret_name(name: str) -> bool:
    is_secret = _SECRET_NAME.search(name) or _SECRET_NAME.search(_HUMP.sub("_", name))
    return is_secret is not None and not _REFERENCE_NAME.search(name)


def _is_secret_pair(name: str, value: str) -> bool:
    return _is_secret_name(name) and _WORDS_OF_TEXT.fullmatch(value) is None


def mask_value(value: Any, mask: str = MASK, *, name: str = "") -> Any:  # noqa: ANN401  (JSON)
    """Copy of a value with everything that looks like a credential masked."""
    if isinstance(value, str):
        hidden = _is_secret_name(name) or _is_credential(value) or _SHORT_PASSWORD.fullmatch(value)
        return mask if hidden and value else value
    if isinstance(value, list):
        return [
            mask
            if isinstance(item, str) and _follows_flag(value, index)
            else mask_value(item, mask, name=name)
            for index, item in enumerate(value)
        ]
    if isinstance(value, Mapping):
        return _mask_mapping(value, mask, name)
    return value


def _follows_flag(items: list[Any], index: int) -> bool:
    """Whether an argument is the value of the flag before it, and the flag promises a secret."""
    flag = str(items[index - 1]) if index else ""
    is_secret = _FLAG.fullmatch(flag) is not None and _is_secret_name(flag.lstrip("-"))
    return is_secret and not items[index].startswith("--")


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


def without_values(report: DriftReport) -> DriftReport:
    """The report without any value of the cluster or the declaration, for public places.

    Law: class, object, path, severity, rules and actors of every finding stay.
    """
    return replace(
        report,
        findings=tuple(map(_without_values, report.findings)),
        causes=tuple(
            replace(cause, findings=tuple(map(_without_values, cause.findings)))
            for cause in report.causes
        ),
        ignored=tuple(
            replace(each, findings=tuple(map(_without_values, each.findings)))
            for each in report.ignored
        ),
    )


def _without_values(finding: Finding) -> Finding:
    sides = (None if side is None else NOT_SHOWN for side in (finding.desired, finding.live))
    desired, live = sides
    return replace(finding, desired=desired, live=live)
