"""The files of a new own rule: the rule, its cases, its page, and a pack to hold them."""

from dataclasses import dataclass
from pathlib import Path
from string import Template
from typing import Final

from holdfast_policies.api import API_VERSION
from holdfast_policies.own.loading import name_fault
from holdfast_policies.own.source import FOLDER

from holdfast.errors import InputError
from holdfast.operations.policy.rule_cases import CASES_SUFFIX
from holdfast.operations.stack.project import PACK_FOLDER, write_pack

_RULE: Final = Template('''\
"""$title: change this example to what the rule is about."""

from collections.abc import Iterator

from holdfast_policies.api import (
    POD_KINDS,
    Admission,
    Breach,
    Fix,
    Level,
    Levels,
    Parameter,
    Rule,
    Settings,
    Severity,
    Subject,
    breaches,
    key_path,
    mapping,
    text,
)

RULE_API = $version

LABELS = Parameter(
    name="labels",
    description="Labels that every workload needs.",
    schema={"type": "array", "items": {"type": "string"}, "minItems": 1},
    default=["example.com/team"],
)


def check(subject: Subject, settings: Settings) -> Iterator[Breach]:
    """Labels that an object lacks. A rule is pure: no files, no network, no clock."""
    for name in settings["labels"]:
        if not text(mapping(subject.metadata.get("labels")).get(name)):
            yield Breach(key_path("metadata.labels", name), got="nothing", required="a value")


RULE = Rule(
    id="$name",
    title="$title",
    description="A workload lacks a label that we need",
    rationale="Say why that matters.",
    remedy="set the label",
    source="https://example.com/rules/$name",
    severity=Severity.MEDIUM,
    levels=Levels(dev=Level.ADVISORY, staging=Level.ADVISORY, prod=Level.MANDATORY),
    frameworks=(),
    fix=Fix.NO,
    kinds=POD_KINDS,
    check=check,
    parameters=(LABELS,),
    admission=Admission(
        (
            breaches(
                "variables.settings.labels",
                "k",
                'variables.subject.metadata.?labels[?k].orValue("") == ""',
                '"metadata.labels[" + k + "]"',
                "a value",
            ),
        )
    ),
)
''')
_CASES: Final = Template("""\
# Cases of rule $name; `holdfast validate` runs them. The object passes the rule; each case is one
# edit of it (set and remove take JSON pointers), or an object of its own.
object:
  apiVersion: apps/v1
  kind: Deployment
  metadata:
    name: web
    namespace: shop
    labels: {example.com/team: checkout}
  spec:
    template: {spec: {containers: [{name: web, image: registry.example/web:1.0.0}]}}
cases:
  no label:
    remove: [/metadata/labels/example.com~1team]
    violates: metadata.labels["example.com/team"]
  another label is asked for:
    settings: {labels: [example.com/owner]}
    violates: metadata.labels["example.com/owner"]
  more labels:
    set: {/metadata/labels/app: web}
""")
_PAGE: Final = Template("""\
# $name

Say in two sentences what the rule demands, and why.

## Example

```yaml
metadata:
  labels: {example.com/team: checkout}
```

## Remedy

Set the label where the workload is declared.

## Waiver

```yaml
apiVersion: holdfast.dev/v1alpha1
kind: PolicyException
metadata: {name: $name-web}
spec:
  rules: [$name]
  target: {kind: Deployment, namespace: shop, name: web}
  reason: why this one object may violate the rule
  owner: team-checkout
  ticket: https://example.com/tickets/1
  approver: platform-team
  expires: 2026-12-31
```
""")


@dataclass(frozen=True, slots=True)
class NewRule:
    """What was written for a rule, relative to the project.

    Attributes:
        files: Rule, cases and page.
        pack_files: Files of the pack that were not there.
    """

    files: tuple[str, ...]
    pack_files: tuple[str, ...] = ()


def new_rule(root: Path, name: str) -> NewRule:
    """Write the files of an own rule; nothing that exists is changed.

    Args:
        root: Folder of Pulumi.yaml.
        name: Name of the rule.

    Raises:
        InputError: no rule can have this name, or one of the files exists.
    """
    if fault := name_fault(name):
        raise InputError(fault, remedy="choose another name")
    stem = name.replace("-", "_")
    pack = root / PACK_FOLDER
    values = {
        "name": name,
        "title": name.replace("-", " ").capitalize(),
        "version": str(API_VERSION),
    }
    texts = {
        f"{stem}.py": _RULE.substitute(values),
        f"{stem}{CASES_SUFFIX}": _CASES.substitute(values),
        f"{stem}.md": _PAGE.substitute(values),
    }
    rules = {pack / FOLDER / file: text for file, text in texts.items()}
    for path in rules:
        if path.exists() or path.is_symlink():
            raise InputError(
                f"{path.relative_to(root)} exists", remedy="choose another name, or edit the file"
            )
    pack_files = write_pack(root)
    (pack / FOLDER).mkdir(exist_ok=True)
    for path, text in rules.items():
        with path.open("x", encoding="utf-8") as stream:
            stream.write(text)
    return NewRule(tuple(str(path.relative_to(root)) for path in rules), pack_files)
