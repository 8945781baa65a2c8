"""Writes what a shell completes: the parameters of every verb, and the words that models know.

Run `python -m holdfast.cli.completion_words` after a change of an option, a field or a rule; a
contract test compares.
"""

import json
import re
import sys
from collections.abc import Iterator
from typing import Any, Final

import click
from holdfast_policies.evaluation.rule_set import SHIPPED_RULES

from holdfast.cli.main import command
from holdfast.cli.options.kept_words import FILE
from holdfast.cli.options.words import Word
from holdfast.cli.verbs import VERBS, Verb
from holdfast.manifest.agent.agent import AGENT_KIND
from holdfast.manifest.kinds.kinds import KINDS
from holdfast.manifest.publish.reference import STACK_FILE, entries_of

Table = dict[str, Any]

_FIRST_SENTENCE: Final = re.compile(r"\.(?:\s|$)|;\s")


def rendered_table() -> str:
    """The text of the table, made from the commands and the models."""
    verbs = {"holdfast": _described(command)}
    for words, verb in _all_verbs():
        verbs[words] = _described(verb.load())
    # A line a verb: a change of one is seen as such.
    lines = ",\n".join(f"{json.dumps(each)}: {json.dumps(verbs[each])}" for each in verbs)
    names = {"fields": list(_field_paths()), "rules": sorted(SHIPPED_RULES.by_id)}
    listed = ",\n".join(f'"{name}": {json.dumps(each)}' for name, each in names.items())
    return f'{{\n{listed},\n"verbs": {{\n{lines}\n}}\n}}\n'


def _all_verbs() -> Iterator[tuple[str, Verb]]:
    def walk(words: str, verb: Verb) -> Iterator[tuple[str, Verb]]:
        yield words, verb
        for name, below in verb.below.items():
            yield from walk(f"{words} {name}", below)

    for name, verb in VERBS.items():
        yield from walk(name, verb)


def _described(command: click.Command) -> list[Table]:
    return [_row(each) for each in command.params if not getattr(each, "hidden", False)]


def _row(parameter: click.Parameter) -> Table:
    row: Table = {}
    kind = parameter.type
    if isinstance(kind, click.Choice):
        row["choices"] = [str(each) for each in kind.choices]
    elif isinstance(kind, Word):
        row["words"] = kind.sorts
    elif isinstance(kind, click.Path):
        row["path"] = "dir" if not kind.file_okay else "file"
    if not isinstance(parameter, click.Option):
        return row | {"argument": parameter.name, "nargs": parameter.nargs}
    if parameter.secondary_opts:
        names = ["/".join((parameter.opts[0], parameter.secondary_opts[0]))]
    else:
        names = list(parameter.opts)
    row |= {"option": names, "help": _FIRST_SENTENCE.split(parameter.help or "")[0]}
    return row | ({"flag": True} if parameter.is_flag else {"multiple": parameter.multiple})


def _field_paths() -> Iterator[str]:
    """Kinds and fields as `explain` takes them, without the brackets that a shell would read."""
    for kind in (*KINDS, STACK_FILE):
        yield kind
        prefix = "" if kind == AGENT_KIND else f"{kind}."
        for entry in entries_of(kind):
            path = entry.path.replace("[]", "").removeprefix("holdfast:")
            if "<" not in path:
                yield f"{prefix}{path}"


if __name__ == "__main__":
    FILE.write_text(rendered_table(), encoding="utf-8")
    sys.stdout.write(f"wrote {FILE.name}\n")
