"""Names, labels and annotation limits as the API server enforces them.

Source: Kubernetes documentation, "Object names and IDs", "Labels and selectors", "Annotations".
"""

import re

LABEL_MAX_CHARACTERS = 63
SUBDOMAIN_MAX_CHARACTERS = 253
ANNOTATIONS_MAX_BYTES = 256 * 1024

_LABEL = re.compile(r"[a-z0-9]([-a-z0-9]*[a-z0-9])?")
_LABEL_VALUE = re.compile(r"([A-Za-z0-9]([-A-Za-z0-9_.]*[A-Za-z0-9])?)?")


def fault_in_label_name(name: str, max_characters: int = LABEL_MAX_CHARACTERS) -> str:
    """Why a name is no RFC 1123 label, or an empty string when it is one."""
    if not name:
        return "must not be empty"
    if len(name) > max_characters:
        return f"must have at most {max_characters} characters, has {len(name)}"
    if _LABEL.fullmatch(name):
        return ""
    wrong = next((character for character in name if not re.match(r"[-a-z0-9]", character)), None)
    if wrong is not None:
        return f"must hold only a-z, 0-9 and '-' (RFC 1123 label), has {wrong!r}"
    return "must begin and end with a letter or digit (RFC 1123 label)"


def fault_in_subdomain_name(name: str) -> str:
    """Why a name is no RFC 1123 subdomain, or an empty string when it is one."""
    if not name:
        return "must not be empty"
    if len(name) > SUBDOMAIN_MAX_CHARACTERS:
        return f"must have at most {SUBDOMAIN_MAX_CHARACTERS} characters, has {len(name)}"
    for part in name.split("."):
        if fault := fault_in_label_name(part, SUBDOMAIN_MAX_CHARACTERS):
            return fault
    return ""


def fault_in_label_value(value: str) -> str:
    """Why a text cannot be a label's value, or an empty string when it can."""
    if len(value) > LABEL_MAX_CHARACTERS:
        return f"must have at most {LABEL_MAX_CHARACTERS} characters, has {len(value)}"
    if _LABEL_VALUE.fullmatch(value):
        return ""
    return (
        "must hold only letters, digits, '-', '_' and '.', and begin and end with a letter or digit"
    )


def fault_in_qualified_key(key: str) -> str:
    """Why a text cannot be a label's or annotation's key, or an empty string when it can."""
    prefix, separator, name = key.rpartition("/")
    if "/" in prefix:
        return "must hold at most one '/'"
    if separator and (fault := fault_in_subdomain_name(prefix)):
        return f"prefix {fault}"
    if not name:
        return "must have a name after the prefix"
    return fault_in_label_value(name)
