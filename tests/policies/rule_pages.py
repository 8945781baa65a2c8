"""The pages about the rules, docs/policies: made from the rules and from the cases that test them.

`python -m tests.policies.rule_pages --write` rewrites them; a test keeps them current.
"""

import json
import sys
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any, Final

import yaml
from holdfast_policies.catalogue import judged_kinds, parameter_line
from holdfast_policies.model.rule import FRAMEWORKS, Environment, Fix, Rule, Severity
from holdfast_policies.table import RULES

from tests.policies.rule_cases import Case, allowed_case, cases_of, pointers, run

FOLDER: Final = Path(__file__).parents[2] / "docs" / "policies"
INDEX: Final = "README.md"
_LONGEST_WHOLE_LINES: Final = 14
_LARGE_FIELDS: Final = 6
_FIXES: Final = {
    Fix.YES: "This takes nobody's choice.",
    Fix.PARTLY: "In part, this takes nobody's choice.",
    Fix.NO: "This takes somebody's choice.",
}
_REMEDIATES: Final = (
    "At level `remediate` the pack corrects it at preview: "
    "[when, and when not](../../policy-pack/README.md#remediation)."
)
_HEAD: Final = """\
# The rules

One page per rule: its reason, what it refuses and accepts, the remedy, its parameters, the controls
that it covers, and the CEL of its admission policy. Generated from the rules and their test cases
by `make schema`.

`holdfast policy list` prints the levels in force, `holdfast explain NAME` the text of a page,
`holdfast policy check` the results. [The policy pack](../../policy-pack/README.md) explains levels,
parameters and waivers.
"""
_VERDICTS: Final = """\
## Verdicts

A rule *passes*, is *violated*, or is *undetermined*. Only a violation at level *mandatory* refuses
a deployment.

### undetermined

A value is not known: an output that only the update computes, or a secret that a state holds
encrypted. After the preview, the update evaluates the rule before it creates the resource. Make the
value known (a literal, an input), or run the update. An undetermined mandatory rule never passes:
`holdfast policy check` exits with 1.

### waiver-expired

The last day of a `PolicyException` has passed: it has no effect, and is a violation itself. Have it
renewed by its approver, or follow the rule; then run `holdfast validate --write-waivers`.

### waiver-unused

Nothing violates the rules that a `PolicyException` waives. Delete the manifest, and run
`holdfast validate --write-waivers`.

### remediation-lost

A rule of level `remediate` corrected the object, and the engine lost the change when it replaced
the object by deleting it first. The live object is as the program declares it: run `pulumi up`
again, which changes it in place, or write the value into the program.

### not-checked

Something could not be read: the report names it with the reason, usually a missing right (`grant
list on ...`). It counts neither as passed nor as violated. Grant the right, or limit the check to
your namespaces.
"""


def pages() -> dict[str, str]:
    """Name of each file to its text."""
    return {INDEX: _index(), **{f"{rule.id}.md": page(rule) for rule in RULES}}


def page(rule: Rule) -> str:
    """The page about one rule."""
    return "\n".join(_lines(rule)).rstrip() + "\n"


def _lines(rule: Rule) -> Iterator[str]:
    yield f"# {rule.id}"
    yield ""
    yield f"**{rule.title}.** {rule.description}. {rule.rationale}"
    yield ""
    yield "| dev | staging | prod | severity | evaluates |"
    yield "|---|---|---|---|---|"
    levels = " | ".join(str(rule.levels.of(environment)) for environment in Environment)
    yield f"| {levels} | {rule.severity} | {judged_kinds(rule)} |"
    yield ""
    yield "## What to do"
    yield ""
    remedies = _FIXES[rule.fix] if rule.remediate is None else _REMEDIATES
    yield f"{rule.remedy[:1].upper()}{rule.remedy[1:]}. {remedies}"
    yield ""
    yield from _examples(rule)
    if rule.parameters:
        yield "## Parameters"
        yield ""
        yield from (f"- {parameter_line(each)}" for each in rule.parameters)
        yield ""
    yield from _in_cluster(rule)
    yield "## Controls"
    yield ""
    for prefix, name in FRAMEWORKS.items():
        if found := [each for each in rule.frameworks if prefix in frameworks_of(each)]:
            yield f"- {name}: {', '.join(found)}"
    yield ""
    yield f"[Source]({rule.source}) · [all rules]({INDEX})"


def _examples(rule: Rule) -> Iterator[str]:
    refused = next(each for each in cases_of(rule) if each.violates is not None)
    accepted = allowed_case(rule)
    edited = {_there(each, pointer) for pointer in refused.edited for each in (refused, accepted)}
    yield "## Refused"
    yield ""
    yield from _said(refused)
    yield "```yaml"
    yield from _excerpt(refused, edited)
    yield "```"
    yield ""
    for violation in run(refused).violations[:1]:
        yield f"> {violation.message}"
    yield ""
    yield "## Accepted"
    yield ""
    yield from _said(accepted)
    yield "```yaml"
    yield from _excerpt(accepted, edited)
    yield "```"
    yield ""


def _said(case: Case) -> Iterator[str]:
    """What an example stands beside, where that matters."""
    if case.others:
        names = (f"{each['kind']} {each['metadata']['name']}" for each in case.others)
        yield f"In a stack with {', '.join(sorted(names))}:"
        yield ""
    if case.settings:
        yield f"With `{json.dumps(dict(case.settings), sort_keys=True)}`:"
        yield ""
    if case.hidden:
        yield "In a preview whose mandatory rules could not read every value:"
        yield ""
    if case.options is not None:
        ignored = ", ".join(case.options.ignored_changes)
        what = "protected" if case.options.is_protected else "not protected"
        yield f"Declared {f'with ignoreChanges {ignored}' if ignored else what}:"
        yield ""


def _excerpt(case: Case, edited: set[str]) -> Iterator[str]:
    """The object, or of a large one the part that the example is about."""
    whole = yaml.safe_dump(case.kube_object, sort_keys=False, width=100).splitlines()
    if len(whole) <= _LONGEST_WHOLE_LINES or not edited:
        yield from whole
        return
    part = _pruned(case.kube_object, {_there(case, each) for each in edited})
    yield from yaml.safe_dump(part, sort_keys=False, width=100).splitlines()
    yield "# ..."


def _there(case: Case, pointer: str) -> str:
    """The pointer, or of what is not there the nearest thing that is."""
    existing = set(pointers(case.kube_object))
    while pointer and pointer not in existing:
        pointer = pointer.rpartition("/")[0]
    return pointer


def _pruned(value: Any, shown: set[str], path: str = "") -> Any:
    """A value with what leads to the shown places, and the names of items on the way."""
    if path in shown:
        is_large = isinstance(value, dict) and len(value) >= _LARGE_FIELDS
        return _shallow(value) if is_large else value
    if isinstance(value, dict):
        kept = {}
        for key, item in value.items():
            pointer = f"{path}/{str(key).replace('~', '~0').replace('/', '~1')}"
            if _leads(pointer, shown):
                kept[key] = _pruned(item, shown, pointer)
            elif key in {"apiVersion", "kind", "name"}:
                kept[key] = item
            elif pointer == "/metadata":
                kept[key] = {"name": item.get("name", "agent")}
        return kept
    items = [(f"{path}/{index}", item) for index, item in enumerate(value)]
    return [_pruned(item, shown, pointer) for pointer, item in items if _leads(pointer, shown)]


def _leads(pointer: str, shown: set[str]) -> bool:
    return any(each == pointer or each.startswith(f"{pointer}/") for each in shown)


def _shallow(value: Mapping[str, Any]) -> dict[str, Any]:
    """The plain fields of a large mapping."""
    return {key: item for key, item in value.items() if not isinstance(item, dict | list)}


def _in_cluster(rule: Rule) -> Iterator[str]:
    yield "## In the cluster"
    yield ""
    if rule.admission is None:
        why = rule.not_in_cluster or "an admission policy does not say it"
        yield f"Not evaluated by admission policies: {why}."
        yield ""
        return
    yield "The API server evaluates this CEL: one text per violation, none if the object passes."
    if rule.admission.differs:
        yield ""
        yield f"It differs: {rule.admission.differs}."
    yield ""
    yield "```cel"
    for name, text in rule.admission.variables:
        yield f"variables.{name} = {text}"
    yield from rule.admission.breaches
    yield "```"
    yield ""


def frameworks_of(control: str) -> tuple[str, ...]:
    """Prefixes of the frameworks that the identifier of a control belongs to."""
    if control.startswith("P-"):
        return tuple(f"P-{letter}" for letter in control.removeprefix("P-").split("/"))
    for prefix in ("LLM", "ASI", "MCP"):
        if control.startswith(prefix):
            return (prefix,)
    if control == "N" or (control.startswith("C") and control[1:2].isdigit()):
        return (control[:1],)
    return ("NIST",)


def _index() -> str:
    return "\n".join(
        [_HEAD, *_table(), "", *_by_severity(), *_by_framework(), _VERDICTS.rstrip(), ""]
    )


def _table() -> Iterator[str]:
    yield "| Rule | dev | staging | prod | Severity | |"
    yield "|---|---|---|---|---|---|"
    for rule in RULES:
        levels = " | ".join(str(rule.levels.of(environment)) for environment in Environment)
        yield f"| {_link(rule)} | {levels} | {rule.severity} | {rule.title} |"


def _by_severity() -> Iterator[str]:
    yield "## By severity"
    yield ""
    for severity in reversed(Severity):
        found = ", ".join(_link(rule) for rule in RULES if rule.severity is severity)
        yield f"- **{severity}**: {found}"
    yield ""


def _by_framework() -> Iterator[str]:
    yield "## By framework"
    yield ""
    for prefix, name in FRAMEWORKS.items():
        yield f"### {name}"
        yield ""
        controls: dict[str, list[Rule]] = {}
        for rule in RULES:
            for control in rule.frameworks:
                if prefix in frameworks_of(control):
                    controls.setdefault(control, []).append(rule)
        for control in sorted(controls):
            yield f"- {control}: {', '.join(map(_link, controls[control]))}"
        yield ""


def _link(rule: Rule) -> str:
    return f"[{rule.id}]({rule.id}.md)"


def main() -> None:
    """Print the index; `--write` rewrites all pages and removes those of rules that are gone."""
    if "--write" not in sys.argv[1:]:
        sys.stdout.write(_index())
        return
    FOLDER.mkdir(exist_ok=True)
    written = pages()
    for file in FOLDER.glob("*.md"):
        if file.name not in written:
            file.unlink()
    for name, text in written.items():
        (FOLDER / name).write_text(text, encoding="utf-8")


if __name__ == "__main__":
    main()
