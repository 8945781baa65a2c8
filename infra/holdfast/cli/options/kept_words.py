"""Words that a shell completes and that are known without any project, kept in a file."""

import json
from functools import cache
from pathlib import Path
from typing import Any, Final

FILE: Final = Path(__file__).parents[1] / "help" / "words.json"


@cache
def kept_table() -> dict[str, Any]:
    """Fields, rules, and the parameters of every verb.

    Raises:
        OSError: the installation lacks the file.
    """
    table: dict[str, Any] = json.loads(FILE.read_text(encoding="utf-8"))
    return table
