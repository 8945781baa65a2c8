"""The `holdfast` command as far as a shell completes it, without loading any verb.

A verb loads its operation, the models and the policy pack; a pressed TAB does not wait for them.
Click's own mechanism gets light commands with the parameters that the kept table names.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

import click

from holdfast.cli.lazy_group import LazyGroup
from holdfast.cli.options.kept_words import kept_table
from holdfast.cli.options.words import Word
from holdfast.cli.verbs import VERBS, Verb

Table = dict[str, Any]


def light_command() -> click.Command:
    """The `holdfast` command as far as a shell completes it; raises OSError without the table."""
    verbs = {name: _light(name, verb) for name, verb in VERBS.items()}
    return LazyGroup("holdfast", verbs=verbs, params=_parameters("holdfast"))


@dataclass(frozen=True)
class _LightVerb(Verb):
    """A verb that is loaded from the table.

    Attributes:
        words: What calls it.
    """

    words: str = ""
    verbs: Mapping[str, Verb] = field(default_factory=dict)

    def load(self) -> click.Command:
        """A command with the same parameters, which does nothing."""
        parameters = _parameters(self.words)
        if not self.verbs:
            return click.Command(self.words, params=parameters)
        is_verb = len(parameters) > 0
        return LazyGroup(
            self.words, verbs=self.verbs, params=parameters, invoke_without_command=is_verb
        )


def _light(words: str, verb: Verb) -> Verb:
    below = {name: _light(f"{words} {name}", each) for name, each in verb.below.items()}
    return _LightVerb(verb.text, verb.place, words=words, verbs=below)


def _parameters(words: str) -> list[click.Parameter]:
    return [_parameter(each) for each in kept_table()["verbs"][words]]


def _parameter(row: Table) -> click.Parameter:
    kind: click.ParamType[Any] | None = None
    if "choices" in row:
        kind = click.Choice(row["choices"])
    elif "words" in row:
        kind = Word("WORD", *row["words"])
    elif "path" in row:
        kind = click.Path(file_okay=row["path"] != "dir")
    if "argument" in row:
        return click.Argument([row["argument"]], type=kind, nargs=row["nargs"], required=False)
    if "flag" in row:
        return click.Option(row["option"], is_flag=True, help=row["help"])
    return click.Option(row["option"], type=kind, multiple=row["multiple"], help=row["help"])
