"""The log of a loop: a line a phase, for people or for programs."""

import json
import re
from collections.abc import Mapping
from datetime import datetime
from typing import Any, Final

import msgspec

from holdfast.kube.safe_text import safe_text
from holdfast.report.text.event_text import rfc3339

_PLAIN: Final = re.compile(r"[^\s\"=]+")


def log_line(time: datetime, phase: str, told: Mapping[str, Any], *, as_json: bool) -> str:
    """One line without its end: `time=... phase=... key=value`, or a JSON document."""
    if as_json:
        document = {"time": rfc3339(time), "phase": phase, **told}
        return json.dumps(document, ensure_ascii=True)
    parts = {"time": rfc3339(time), "phase": phase, **told}
    return " ".join(f"{name}={_shown(value)}" for name, value in parts.items())


def _shown(value: Any) -> str:  # noqa: ANN401 - whatever is told
    text = value if isinstance(value, str) else msgspec.json.encode(value).decode()
    text = safe_text(text, 500)
    return text if _PLAIN.fullmatch(text) else json.dumps(text, ensure_ascii=False)
