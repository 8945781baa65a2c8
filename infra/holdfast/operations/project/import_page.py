"""The page of a new repository that lists what no manifest declares of what runs."""

from collections.abc import Iterable, Iterator
from typing import Final

from holdfast.kube.text import safe_text
from holdfast.operations.project.cluster_fleet import ClusterFleet, Unsaid

IMPORT_FILE: Final = "IMPORT.md"
_LONGEST_CHARACTERS: Final = 200
_HEAD: Final = """\
# What was imported

Written by `holdfast init --from-cluster`. Values are left out. Delete it when done.
"""


def import_page(fleet: ClusterFleet) -> str:
    """The page: what is not declared, what is declared otherwise, what could not be read."""
    sections = (
        ("Not declared by any manifest", fleet.unsaid),
        ("Declared in another form", fleet.changed),
    )
    lines = [
        line
        for title, entries in sections
        if entries
        for line in ("", f"## {title}", "", *_table(entries))
    ]
    if fleet.pending:
        lines += ["", "## Pending: not deployed until moved to agents/", ""]
        lines += [f"- `{file}`" for file in fleet.pending]
    if fleet.unread:
        lines += ["", "## Not read", ""]
        lines += [f"- {_cell(each)}" for each in fleet.unread]
    return _HEAD + "".join(f"{line}\n" for line in lines)


def _table(entries: Iterable[Unsaid]) -> Iterator[str]:
    yield "| object | field | why |"
    yield "|---|---|---|"
    for each in entries:
        path = f"`{_cell(each.path)}`" if each.path else "the whole"
        yield f"| {_cell(each.subject)} | {path} | {_cell(each.reason)} |"


def _cell(text: str) -> str:
    shown = safe_text(text, _LONGEST_CHARACTERS)
    return shown.replace("|", "\\|").replace("`", "'").replace("<", "&lt;")
