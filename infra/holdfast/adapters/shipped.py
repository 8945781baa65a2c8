"""Files that go with the code: schemas, templates, pack settings, dashboards, the toolchain's pins.

A wheel holds them inside the package; a clone, and an editable install of it, where they are kept.
"""

from pathlib import Path
from typing import Final

_PACKAGE: Final = Path(__file__).resolve().parents[1]
_IN_WHEEL: Final = _PACKAGE / "shipped"
_CLONE: Final = _PACKAGE.parents[1]

TEMPLATE: Final = "templates/fleet"
"""The template of a repository of one's own."""


def is_installed() -> bool:
    """Whether the code runs from a wheel, without a clone."""
    return _IN_WHEEL.is_dir()


def shipped(name: str) -> Path:
    """Where a shipped file or folder is.

    Args:
        name: As in a clone, such as `docs/schema/agent.schema.json`.
    """
    return (_IN_WHEEL if is_installed() else _CLONE) / name
