"""The files of own rules as text, and what is wrong with one."""

from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path

FOLDER = "rules"
"""Where they lie, in the folder of the policy pack."""

LONGEST_RULE_FILE = 1 << 18
"""Bytes of one file."""


@dataclass(frozen=True, slots=True)
class RuleFile:
    """One file that defines one rule.

    Attributes:
        name: As people know it, such as `policy-pack/rules/team_label.py`.
        text: What is written in it.
    """

    name: str
    text: str

    @property
    def stem(self) -> str:
        """Name of the file without folder and suffix."""
        return Path(self.name).stem


@dataclass(frozen=True, slots=True)
class RuleFault:
    """What is wrong with a rule file.

    Attributes:
        file: As people know it.
        line: Counted from 1.
        expected: What should stand there and what does, one sentence without full stop.
        remedy: What to change; empty where that is clear.
    """

    file: str
    line: int
    expected: str
    remedy: str = ""

    def __str__(self) -> str:
        remedy = f"; {self.remedy}" if self.remedy else ""
        return f"{self.file}:{self.line}: {self.expected}{remedy}"


class OwnRuleError(ValueError):
    """Own rules cannot be evaluated, so nothing is.

    Attributes:
        faults: Everything that is wrong with them, in the order of the files.
    """

    def __init__(self, faults: Iterable[RuleFault]) -> None:
        self.faults = tuple(faults)
        super().__init__("\n".join(map(str, self.faults)))


def rule_paths(pack: Path) -> list[Path]:
    """Files of own rules of a pack's folder; those whose name starts with `_` are none."""
    return sorted(
        path for path in (pack / FOLDER).glob("*.py") if not path.name.startswith(("_", "."))
    )


def read_rule_files(pack: Path) -> tuple[RuleFile, ...]:
    """Own rules of a pack's folder.

    Raises:
        OwnRuleError: one cannot be read.
    """
    found = []
    for path in rule_paths(pack):
        name = f"{pack.name}/{FOLDER}/{path.name}"
        try:
            content = path.read_bytes()
            if len(content) > LONGEST_RULE_FILE:
                raise ValueError(f"more than {LONGEST_RULE_FILE} bytes")
            found.append(RuleFile(name, content.decode()))
        except (OSError, ValueError) as error:
            raise OwnRuleError(
                [RuleFault(name, 1, f"expected a readable file, {error}")]
            ) from error
    return tuple(found)
