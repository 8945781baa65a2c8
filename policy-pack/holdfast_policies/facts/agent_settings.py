"""What an agent's process is told, as far as rules ask: the content of `agent.json`."""

import json
from base64 import b64decode
from collections.abc import Mapping
from functools import lru_cache
from typing import Any

from holdfast_policies.model.bounds import UnreadableError
from holdfast_policies.model.subject import Subject, key_path, mapping, text

SETTINGS_KEY = "agent.json"
SETTINGS_PATH = key_path("data", SETTINGS_KEY)
"""Field path of the settings within their ConfigMap."""


def settings_of(subject: Subject) -> Mapping[str, Any] | None:
    """The settings in a ConfigMap; None when it holds none.

    Raises:
        UnreadableError: they are no JSON object, so that no rule about them can pass.
    """
    data = mapping(subject.object.get("data"))
    if SETTINGS_KEY in data:
        return _parsed(text(data.get(SETTINGS_KEY)))
    encoded = mapping(subject.object.get("binaryData"))
    if SETTINGS_KEY not in encoded:
        return None
    try:
        return _parsed(b64decode(text(encoded.get(SETTINGS_KEY))).decode())
    except ValueError as error:
        raise UnreadableError(_UNREADABLE) from error


_UNREADABLE = f"{SETTINGS_KEY} that is no JSON object"


@lru_cache(maxsize=64)
def _parsed(written: str) -> Mapping[str, Any]:
    try:
        found = json.loads(written)
    except (ValueError, RecursionError) as error:
        raise UnreadableError(_UNREADABLE) from error
    if not isinstance(found, dict):
        raise UnreadableError(_UNREADABLE)
    return found
