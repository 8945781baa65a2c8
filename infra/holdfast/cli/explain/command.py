"""`holdfast explain`: an agent or a rule in words, the origin of a value, what a field means."""

import difflib
from dataclasses import replace
from pathlib import Path

import click

from holdfast.cli.explain.rule import explain_rule, is_rule
from holdfast.cli.options.colour import wants_colour
from holdfast.errors import ExitCode, HoldfastError, InputError
from holdfast.manifest.agent.agent import AGENT_KIND, API_VERSION
from holdfast.manifest.fleet.effective_config import effective_values
from holdfast.manifest.fleet.fleet import DeclaredAgent, Fleet
from holdfast.manifest.fleet.loader import load_fleet
from holdfast.manifest.kinds.kinds import KINDS
from holdfast.manifest.publish.reference import FieldEntry, field_at, fields_of
from holdfast.operations.describe.compare import compare
from holdfast.operations.stack.agent_names import agent_named
from holdfast.operations.stack.project import find_project_root
from holdfast.report.text.agent_words import describe
from holdfast.report.text.explanation import (
    Explanation,
    effective_yaml,
    explanation_json,
    explanation_text,
)
from holdfast.report.text.manifest_reference import field_json, field_text

_SUBJECTS = frozenset({"agent", "field", "rule"})


@click.command()
@click.argument("words", nargs=-1, metavar="[[agent] NAME | field PATH | [rule] NAME]")
@click.option("-s", "--stack", help="Stack whose settings and overrides hold.")
@click.option("--effective", is_flag=True, help="The whole manifest that holds, as YAML.")
@click.option("--compare", "stacks", nargs=2, help="What differs between two stacks.")
@click.option(
    "--live/--no-live",
    default=None,
    help="Ask the stack's cluster too: insist, or never. Default: where it answers.",
)
@click.option("--objects", is_flag=True, help="With --compare: rendered objects, too.")
@click.option(
    "-o", "--output", type=click.Choice(["text", "json"]), default="text", show_default=True
)
def command(
    words: tuple[str, ...],
    stack: str | None,
    stacks: tuple[str, str] | None,
    output: str,
    **wanted: bool | None,
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
    effective, objects, live = (wanted[name] for name in ("effective", "objects", "live"))
    subject, name = _subject(words, is_comparison=stacks is not None)
    if live is not None and (subject != "agent" or stacks is not None or effective):
        raise InputError(
            "--live and --no-live are about one agent on one stack",
            remedy="write `holdfast explain NAME -s STACK --live`",
        )
    if subject == "field":
        click.echo(_field(name, as_json=output == "json"), nl=False)
        return ExitCode.OK
    if subject == "rule":
        as_json = output == "json"
        text = explain_rule(name, stack, as_json=as_json, colour=wants_colour())
        click.echo(text, nl=False)
        return ExitCode.OK
    if (effective or objects) and (stacks is None) == objects:
        option = "--objects needs" if objects else "--effective excludes"
        raise InputError(f"{option} --compare", remedy="see holdfast explain --help")
    if stacks is not None:
        if stack is not None:
            raise InputError("-s excludes --compare", remedy="name both stacks with --compare")
        click.echo(compare(stacks, name, with_objects=bool(objects), output=output), nl=False)
        return ExitCode.OK
    if stack is None:
        raise InputError("no stack is named", remedy="add -s STACK")
    click.echo(_agent(name, stack, output, effective=bool(effective), live=live), nl=False)
    return ExitCode.OK


def _agent(name: str, stack: str, output: str, *, effective: bool, live: bool | None) -> str:
    root = find_project_root()
    fleet = load_fleet(root, stack)
    agent = agent_named(name, fleet)
    explanation = _explanation(agent, fleet)
    if not effective and live is not False:
        explanation = _with_live(explanation, agent, root, must_answer=bool(live))
    if output == "json":
        return explanation_json(explanation)
    if effective:
        return effective_yaml(explanation, {"apiVersion": API_VERSION, "kind": agent.kind})
    return explanation_text(explanation, colour=wants_colour())


def _subject(words: tuple[str, ...], *, is_comparison: bool) -> tuple[str, str]:
    if len(words) == 2 and words[0] in _SUBJECTS:  # noqa: PLR2004 - a word and a name
        return words[0], words[1]
    if len(words) == 1 and words[0] not in _SUBJECTS:
        return "rule" if is_rule(words[0]) else "agent", words[0]
    if not words and is_comparison:
        return "agent", ""
    raise InputError(
        "expected one agent, one field or one rule to explain",
        remedy="write `holdfast explain agent NAME -s STACK`, `holdfast explain field PATH` or "
        "`holdfast explain rule NAME`",
    )


def _explanation(agent: DeclaredAgent, fleet: Fleet) -> Explanation:
    spec = agent.spec
    what = f"type {spec.type}" if agent.kind == AGENT_KIND else "tool server"
    parts = [f"version {spec.version}", what]
    parts += [f"owner {spec.owner}"] if spec.owner else []
    return Explanation(
        agent=agent.name,
        namespace=agent.namespace,
        stack=fleet.stack,
        title=f"{agent.namespace}/{agent.name} on stack {fleet.stack}: {', '.join(parts)}",
        source=f"{agent.location_of()}",
        sections=describe(agent, fleet),
        values=effective_values(agent, fleet),
    )


def _with_live(
    explanation: Explanation, agent: DeclaredAgent, root: Path, *, must_answer: bool
) -> Explanation:
    from holdfast.operations.describe.live import live_agent  # noqa: PLC0415  (loads the client)

    try:
        return replace(explanation, live=live_agent(agent, root, explanation.stack))
    except HoldfastError as error:
        if must_answer:
            raise
        return replace(explanation, no_live=str(error))


def _field(path: str, *, as_json: bool) -> str:
    kind, separator, rest = path.partition(".")
    kind, path = (kind, rest) if separator and kind in KINDS else ("Agent", path)
    entry = field_at(kind, path)
    if entry is None:
        raise _no_field(kind, path)
    below = [each for each in fields_of(kind) if _is_child(each, entry)]
    return field_json(entry, below) if as_json else field_text(entry, below)


def _is_child(each: FieldEntry, entry: FieldEntry) -> bool:
    rest = each.path.removeprefix(entry.path)
    if rest == each.path or not rest:
        return False
    return rest.removeprefix("[]").removeprefix(".<key>").count(".") == 1


def _no_field(kind: str, path: str) -> InputError:
    known = [each.path for each in fields_of(kind)]
    name = path.rpartition(".")[2]
    same = [each for each in known if each.rpartition(".")[2] == name]
    close = same or difflib.get_close_matches(path, known, n=3)
    remedy = f"did you mean {' or '.join(close)}?" if close else "begin with spec or metadata"
    return InputError(f"{kind} has no field {path!r}", remedy=remedy)
