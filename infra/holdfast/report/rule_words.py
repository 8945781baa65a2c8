"""Rules of the policy pack as a table for people."""

from collections.abc import Iterable
from typing import Protocol

import click

_COLOURS = {"mandatory": "red", "advisory": "yellow", "disabled": "bright_black"}


class _Rule(Protocol):
    @property
    def id(self) -> str: ...
    @property
    def title(self) -> str: ...


class RuleInForce(Protocol):
    """A rule and the level that takes effect."""

    @property
    def rule(self) -> _Rule:
        """The rule."""

    @property
    def level(self) -> str:
        """Level that takes effect."""


def rules_text(rules: Iterable[RuleInForce], *, colour: bool = False) -> str:
    """One line a rule: name, level, title."""
    lines = []
    for each in rules:
        level = f"{each.level!s:9}"
        if colour:
            level = click.style(level, fg=_COLOURS.get(str(each.level)))
        lines.append(f"{each.rule.id:38} {level} {each.rule.title}\n")
    return "".join(lines)
