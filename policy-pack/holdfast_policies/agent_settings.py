"""What an agent's process is told, as far as rules ask: the content of `agent.json`."""

import json
from collections.abc import Mapping
from functools import lru_cache
from typing import Any

from holdfast_policies.subject import Subject, key_path, mapping, text

SETTINGS_KEY = "agent.json"
SETTINGS_PATH = key_path("data", SETTINGS_KEY)
"""Field path of the settings within their ConfigMap."""


def settings_of(subject: Subject) -> Mapping[str, Any] | None:
    """The settings in a ConfigMap; None when it holds none, empty when they cannot be read."""
    data = mapping(subject.object.get("data"))
    if SETTINGS_KEY not in data:
        return None
    return _parsed(text(data.get(SETTINGS_KEY)))


@lru_cache(maxsize=64)
def _parsed(written: str) -> Mapping[str, Any]:
    try:
        return mapping(json.loads(written))
    except ValueError:
        return {}
