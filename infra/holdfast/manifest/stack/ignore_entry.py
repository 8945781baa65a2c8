"""Add rules to `stacks/drift-ignore.yaml` as a person would: at the end, comments kept. Pure."""

import json
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import date

from holdfast.errors import InputError
from holdfast.manifest.text.documents import read_documents

_HEADER = """\
# Drift that is expected: counted in every report, not told. Each rule ends.
ignore:
"""


@dataclass(frozen=True)
class NewIgnore:
    """A rule to be written.

    Attributes:
        target: group, kind, name and namespace of one object.
        paths: Fields; empty when managers are given.
        managers: Field managers; empty when paths are given.
    """

    target: dict[str, str]
    reason: str
    owner: str
    expires: date
    paths: Sequence[str] = ()
    managers: Sequence[str] = ()
    stacks: Sequence[str] = ()

    def lines(self) -> list[str]:
        """The rule as an item of a list, without indentation."""
        target = ", ".join(f"{key}: {_quoted(value)}" for key, value in self.target.items())
        lists = {"paths": self.paths, "managers": self.managers, "stacks": self.stacks}
        return [
            f"- target: {{{target}}}",
            *(
                f"  {name}: [{', '.join(_quoted(each) for each in values)}]"
                for name, values in lists.items()
                if values
            ),
            f"  reason: {_quoted(self.reason)}",
            f"  owner: {_quoted(self.owner)}",
            f"  expires: {_quoted(self.expires.isoformat())}",
        ]


def with_rules(text: str, file: str, rules: Sequence[NewIgnore]) -> str:
    """Text of the file with rules at its end.

    Raises:
        InputError: the list is written in brackets, where nothing can be added line by line.
    """
    document = next(iter(read_documents(text, file).documents), None)
    data = document.data if document else None
    if not isinstance(data, dict) or not data.get("ignore"):
        kept = "" if not isinstance(data, dict) else text.replace("ignore: []", "").rstrip() + "\n"
        comments = text.rstrip() + "\n" if data is None and text.strip() else kept.lstrip("\n")
        comments = comments.replace("ignore:\n", "")
        return (comments + "ignore:\n" if comments.strip() else _HEADER) + _block(rules, 2)
    assert document is not None  # noqa: S101  (it holds data)
    first = document.origin.nearest(("ignore", 0))
    line = text.split("\n")[first.line - 1]
    if not line.lstrip().startswith("- "):
        raise InputError(
            f"{file}:{first.line}: a list in brackets cannot be added to",
            remedy="write one rule after the other, each begun by a dash",
        )
    indentation = len(line) - len(line.lstrip())
    return text.rstrip("\n") + "\n" + _block(rules, indentation)


def _block(rules: Sequence[NewIgnore], indentation: int) -> str:
    return "".join(f"{' ' * indentation}{line}\n" for rule in rules for line in rule.lines())


def _quoted(text: str) -> str:
    return json.dumps(text, ensure_ascii=False)
