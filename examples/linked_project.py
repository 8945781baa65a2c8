"""A project of one's own agents and stacks, with this clone's program, packages and policy pack."""

from pathlib import Path
from typing import Final

ROOT: Final = Path(__file__).resolve().parents[1]
LINKED: Final = ("infra", ".venv", "policy-pack")


def link_project(folder: Path) -> None:
    """Lay one out in a folder that is there: what is the clone's is linked, nothing is declared."""
    for entry in LINKED:
        (folder / entry).symlink_to(ROOT / entry)
    (folder / "Pulumi.yaml").write_text((ROOT / "Pulumi.yaml").read_text())
