"""Conflicts of server-side apply, as the API server words them."""

import re
from typing import NamedTuple

_REPORT = re.compile(
    r'reported that "(?P<object>[^"]+)" failed.*?'
    r'managed by field manager "(?P<manager>[^"]+)" had an apply conflict: '
    r"Apply failed with \d+ conflicts?: (?P<conflicts>.*?)(?=\n\n|\Z)",
    re.DOTALL,
)
_CONFLICT = re.compile(
    r'conflicts? with "(?P<manager>[^"]+)"'
    r'(?: with subresource "(?P<subresource>[^"]+)")?'
    r"(?: using \S+?)?(?: at \S+?)?:"
    r"(?P<paths> [^\n]+|(?:\n- [^\n]+)+)"
)


class ApplyConflict(NamedTuple):
    """Another manager has changed fields that we declare.

    Attributes:
        object: `namespace/name` of the object.
        ours: The manager that applies.
        other: The manager that owns the fields now.
        subresource: Through which it wrote, such as `scale`; empty for the object itself.
        paths: Fields, as the API server writes them: `.spec.containers[name="agent"].image`.
    """

    object: str
    ours: str
    other: str
    subresource: str
    paths: tuple[str, ...]

    def __str__(self) -> str:
        through = f" through the subresource {self.subresource}" if self.subresource else ""
        return (
            f"{self.object}: field manager {self.other}{through} has changed "
            f"{', '.join(self.paths)}, which {self.ours} declares"
        )


def find_conflicts(text: str) -> tuple[ApplyConflict, ...]:
    """All conflicts told in a text, each once, in its order."""
    found = {
        ApplyConflict(
            object=report["object"],
            ours=report["manager"],
            other=conflict["manager"],
            subresource=conflict["subresource"] or "",
            paths=tuple(path.strip(" -") for path in conflict["paths"].strip().splitlines()),
        ): None
        for report in _REPORT.finditer(text)
        for conflict in _CONFLICT.finditer(report["conflicts"])
    }
    return tuple(found)
