"""Own rules of a project as text; what reads them runs none of them."""

from pathlib import Path
from typing import Final

from holdfast_policies.own.source import LONGEST_RULE_FILE, RuleFile, rule_paths

from holdfast.manifest.text.source_text import read_text

PACK_FOLDER: Final = "policy-pack"


def read_own_rules(project_root: Path) -> tuple[RuleFile, ...]:
    """Every own rule of a project, in the order of their names.

    Raises:
        ManifestError: one of the files cannot be read.
    """
    return tuple(
        RuleFile(name, read_text(path, name, max_bytes=LONGEST_RULE_FILE, inside=project_root))
        for path in rule_paths(project_root / PACK_FOLDER)
        for name in (path.relative_to(project_root).as_posix(),)
    )
