"""`holdfast explain`: an agent or a rule in words, the origin of a value, what a field means."""

from collections.abc import Mapping

import click

from holdfast.cli.options.output import OUTPUT, wants_colour
from holdfast.cli.options.stack import STACK
from holdfast.errors import ExitCode, InputError
from holdfast.operations.describe.agent import explain_agent
from holdfast.operations.describe.compare import compare
from holdfast.operations.describe.explain import explain_field, explain_rule, is_rule
from holdfast.operations.stack.context import StackContext
from holdfast.operations.stack.project import find_project_root
from holdfast.report.text.explanation import (
    difference_json,
    difference_text,
    effective_yaml,
    explanation_json,
    explanation_text,
)
from holdfast.report.text.manifest_reference import field_json, field_text
from holdfast.report.text.rule_text import explained_json, explained_text

_SUBJECTS = frozenset({"agent", "field", "rule"})
_MEANT_FOR = {
    "field": frozenset[str](),
    "rule": frozenset({"-s"}),
    "agent": frozenset({"-s", "--effective", "--live or --no-live"}),
    "difference": frozenset({"--compare", "--objects"}),
}
"""What is explained, to the options that have a meaning for it."""

_WORDS = {
    "field": "a field",
    "rule": "a rule",
    "agent": "one agent on one stack (-s)",
    "difference": "two stacks (--compare)",
}


@click.command()
@click.argument("words", nargs=-1, metavar="[[agent] NAME | field PATH | [rule] NAME]")
@click.option("-s", "--stack", type=STACK, help="Stack whose settings and overrides hold.")
@click.option("--effective", is_flag=True, help="The whole manifest that holds, as YAML.")
@click.option("--compare", "stacks", type=STACK, nargs=2, help="What differs between two stacks.")
@click.option(
    "--live/--no-live",
    default=None,
    help="Ask the stack's cluster too: insist, or never. Default: where it answers.",
)
@click.option("--objects", is_flag=True, help="With --compare: rendered objects, too.")
@OUTPUT
def command(
    words: tuple[str, ...],
    stack: str | None,
    stacks: tuple[str, str] | None,
    output: str,
    **asked: bool | None,
) -> ExitCode:
    """Say what an agent is on a stack: how it runs, who may call it, what it may reach and do.

    Every statement and every value names the file and line that decided it. Where the stack's
    cluster answers, also what runs now, which update brought it, how it differs from what is
    declared, and who changed it; nothing is changed.

    \b
    Examples:
      holdfast explain agent support-rag -s prod
      holdfast explain support-rag -s prod --live -o json
      holdfast explain support-rag -s prod --effective
      holdfast explain --compare dev prod
      holdfast explain --compare dev prod support-rag -o json
      holdfast explain field spec.scaling.maxReplicas
      holdfast explain field MCPServer.spec.url
      holdfast explain rule egress-scoped
      holdfast explain egress-scoped -s prod
    """
    subject, name = _subject(words, is_comparison=stacks is not None)
    _refuse_without_effect(
        subject,
        {
            "-s": stack is not None,
            "--compare": stacks is not None,
            "--live or --no-live": asked["live"] is not None,
            "--effective": bool(asked["effective"]),
            "--objects": bool(asked["objects"]),
        },
    )
    as_json = output == "json"
    if stacks is not None:
        text = _comparison(stacks, name, with_objects=bool(asked["objects"]), as_json=as_json)
    elif subject == "field":
        field = explain_field(name)
        text = (field_json if as_json else field_text)(field.entry, field.below)
    elif subject == "rule":
        context = StackContext(find_project_root(), stack) if stack else None
        rule = explain_rule(name, context)
        text = explained_json(rule) if as_json else explained_text(rule, colour=wants_colour())
    elif stack is None:
        raise InputError("no stack is named", remedy="add -s STACK")
    else:
        context = StackContext(find_project_root(), stack)
        is_effective = bool(asked["effective"])
        text = _agent(name, context, asked["live"], is_effective=is_effective, as_json=as_json)
    click.echo(text, nl=False)
    return ExitCode.OK


def _agent(
    name: str, context: StackContext, live: bool | None, *, is_effective: bool, as_json: bool
) -> str:
    asks_cluster = not is_effective and live is not False
    found = explain_agent(context, name, asks_cluster=asks_cluster, must_answer=bool(live))
    if as_json:
        return explanation_json(found)
    return effective_yaml(found) if is_effective else explanation_text(found, colour=wants_colour())


def _comparison(stacks: tuple[str, str], agent: str, *, with_objects: bool, as_json: bool) -> str:
    root = find_project_root()
    first, second = (StackContext(root, stack) for stack in stacks)
    found = compare(first, second, agent, with_objects=with_objects)
    if as_json:
        return difference_json(stacks, found)
    return difference_text(stacks, found) or f"{stacks[0]} and {stacks[1]} do not differ\n"


def _subject(words: tuple[str, ...], *, is_comparison: bool) -> tuple[str, str]:
    agent = "difference" if is_comparison else "agent"
    if len(words) == 2 and words[0] in _SUBJECTS:  # noqa: PLR2004 - a word and a name
        return agent if words[0] == "agent" else words[0], words[1]
    if len(words) == 1 and words[0] not in _SUBJECTS:
        return "rule" if is_rule(words[0]) and not is_comparison else agent, words[0]
    if not words and is_comparison:
        return agent, ""
    raise InputError(
        "expected one agent, one field or one rule to explain",
        remedy="write `holdfast explain agent NAME -s STACK`, `holdfast explain field PATH` or "
        "`holdfast explain rule NAME`",
    )


def _refuse_without_effect(subject: str, given: Mapping[str, bool]) -> None:
    for option, is_given in given.items():
        if is_given and option not in _MEANT_FOR[subject]:
            others = [each for each, meant in _MEANT_FOR.items() if option in meant]
            raise InputError(
                f"{option} has no effect on what is said of {_WORDS[subject]}",
                remedy=f"leave it out: it is for {' and '.join(_WORDS[each] for each in others)}",
            )
    if given["--effective"] and given["--live or --no-live"]:
        raise InputError(
            "--effective excludes --live and --no-live", remedy="leave one of them out"
        )
