"""The page about the rules, made from the rules: `python -m holdfast_policies.catalogue`.

Prints it; `--write` rewrites RULES.md beside the pack. A test keeps that file current.
"""

import json
import sys
from collections.abc import Iterator
from pathlib import Path

from holdfast_policies.model.kinds import ANY_KIND, POD_KINDS
from holdfast_policies.model.rule import FRAMEWORKS, Environment, Parameter, Rule
from holdfast_policies.table import RULES

PAGE = Path(__file__).parents[1] / "RULES.md"
_HEAD = """\
# Rules

Generated from the rules by `python -m holdfast_policies.catalogue --write`.

Levels are those of the profiles dev, staging and prod: `advisory` warns, `mandatory` refuses,
`remediate` corrects the object, and refuses it if that is not possible (see README.md).
"""


def page() -> str:
    """The whole page, Markdown."""
    return "\n".join(
        [_HEAD, *_table(), "", *(line for rule in RULES for line in _rule(rule)), *_end()]
    )


def _table() -> Iterator[str]:
    yield "| Rule | dev | staging | prod | Severity |"
    yield "|---|---|---|---|---|"
    for rule in RULES:
        levels = " | ".join(str(rule.levels.of(environment)) for environment in Environment)
        yield f"| [{rule.id}](#{rule.id}) | {levels} | {rule.severity} |"


def _rule(rule: Rule) -> Iterator[str]:
    yield f"## {rule.id}"
    yield ""
    yield f"**{rule.title}.** {rule.description}. {rule.rationale}"
    yield ""
    yield f"- Remedy: {rule.remedy}."
    yield f"- Judges: {judged_kinds(rule)}."
    yield f"- Controls: {', '.join(rule.frameworks)}. [Source]({rule.source})"
    yield from _in_cluster(rule)
    for parameter in rule.parameters:
        yield f"- Parameter {parameter_line(parameter)}"
    yield ""


def judged_kinds(rule: Rule) -> str:
    """What a rule judges, in words."""
    names = ["everything that runs pods"] if rule.kinds >= POD_KINDS else []
    names += ["every object"] if ANY_KIND in rule.kinds else []
    others = rule.kinds - {ANY_KIND} - (POD_KINDS if rule.kinds >= POD_KINDS else set())
    scopes = ["each object"] if rule.check is not None else []
    scopes += ["the stack as a whole"] if rule.check_stack is not None else []
    only = "" if rule.applies_to.is_everything else f", only of {rule.applies_to}"
    return f"{' and '.join(scopes)}; {', '.join([*names, *sorted(map(str, others))])}{only}"


def _in_cluster(rule: Rule) -> Iterator[str]:
    if rule.admission is not None:
        differs = rule.admission.differs
        yield f"- In the cluster: by the same rule{f', but {differs}' if differs else ''}."
    elif rule.not_in_cluster:
        yield f"- In the cluster: not; {rule.not_in_cluster}."


def parameter_line(parameter: Parameter) -> str:
    """A parameter with its defaults and its meaning, Markdown."""
    differing = "".join(
        f", on {environment} `{json.dumps(value)}`"
        for environment, value in parameter.defaults.items()
    )
    default = f"default `{json.dumps(parameter.default)}`{differing}"
    choices = parameter.schema.get("enum")
    allowed = f" One of {', '.join(f'`{each}`' for each in choices)}." if choices else ""
    return f"`{parameter.name}` ({default}): {parameter.description}{allowed}"


def _end() -> Iterator[str]:
    yield "## Controls"
    yield ""
    for prefix, name in FRAMEWORKS.items():
        yield f"- {prefix}: {name}"
    yield ""


if __name__ == "__main__":
    if "--write" in sys.argv[1:]:
        PAGE.write_text(page(), encoding="utf-8")
    else:
        sys.stdout.write(page())
