"""What a project names, by its files' text alone; loads no models: a shell completes by it.

The names of manifests are a guess, good enough to complete a word: a file that no loader would
accept is read as far as its lines go.
"""

import os
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Final

from holdfast.manifest.fleet.project_files import AGENTS_FOLDER, RULES_FOLDER, STACKS_FOLDER

PROJECT_FILE: Final = "Pulumi.yaml"
_MANIFESTS: Final = (".yaml", ".yml", ".json")
_LARGEST_FILE_BYTES: Final = 1_000_000
_MOST_FILES: Final = 5_000
_DOCUMENT: Final = re.compile(r"^---.*$", re.MULTILINE)
_KIND: Final = re.compile(r"""^kind:\s*["']?(\w+)""", re.MULTILINE)
_NAME: Final = re.compile(
    r"""^metadata:[^\S\n]*(?:\{[^}\n]*?\bname:|(?:\n(?:[^\S\n].*)?)*?\n[^\S\n]+name:)"""
    r"""\s*["']?([^\s"',}#]+)""",
    re.MULTILINE,
)


def project_above(start: Path) -> Path | None:
    """Nearest folder upward that holds a Pulumi.yaml; None outside of any project."""
    for folder in (start, *start.parents):
        if (folder / PROJECT_FILE).is_file():
            return folder
    return None


def stack_names(project_root: Path) -> list[str]:
    """Names of the stacks that have a file, sorted."""
    files = (project_root / STACKS_FOLDER).glob("Pulumi.*.yaml")
    return sorted(file.name.removeprefix("Pulumi.").removesuffix(".yaml") for file in files)


def declared_names(project_root: Path, kind: str) -> list[str]:
    """Names of the manifests of a kind, sorted; files that cannot be read are passed over."""
    found: set[str] = set()
    for file in _manifest_files(project_root / AGENTS_FOLDER):
        for document in _DOCUMENT.split(_text_of(file)):
            written, name = _KIND.search(document), _NAME.search(document)
            if written and name and written[1] == kind:
                found.add(name[1])
    return sorted(found)


def own_rule_names(project_root: Path) -> list[str]:
    """Names of the project's own rules, by their files; none of them is run."""
    files = (project_root / RULES_FOLDER).glob("*.py")
    return sorted(file.stem.replace("_", "-") for file in files if not file.name.startswith("_"))


def _manifest_files(folder: Path) -> Iterator[Path]:
    count = 0
    for parent, _, files in os.walk(folder):
        for name in files:
            if name.endswith(_MANIFESTS):
                count += 1
                if count > _MOST_FILES:
                    return
                yield Path(parent, name)


def _text_of(file: Path) -> str:
    try:
        # A pipe of that name would never end.
        if not file.is_file() or file.stat().st_size > _LARGEST_FILE_BYTES:
            return ""
        return file.read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError):
        return ""
