"""Data rests on storage that someone has approved."""

from collections.abc import Iterator, Mapping
from typing import Any

from holdfast_policies.cel import Admission, breaches, said
from holdfast_policies.finding import Breach, Finding
from holdfast_policies.kinds import CLAIM, CLAIM_TEMPLATE_KINDS
from holdfast_policies.parts import all_of, each
from holdfast_policies.rule import Fix, Level, Levels, Parameter, Rule, Settings, Severity
from holdfast_policies.subject import Subject, field_path, items, mapping
from holdfast_policies.wording import either, shown

_NAMES = {"type": "array", "items": {"type": "string"}}
CLASSES = Parameter(
    name="classes",
    description="Storage classes that are approved: encrypted ones. An empty list allows none.",
    schema=_NAMES,
    default=[],
)
SHARED = Parameter(
    name="shared_classes",
    description="Approved classes whose volumes several nodes may write (ReadWriteMany).",
    schema=_NAMES,
    default=[],
)


def check_claim(subject: Subject, settings: Settings) -> Iterator[Finding]:
    """A PersistentVolumeClaim."""
    if subject.kind == CLAIM:
        yield from _check(subject.spec, "spec", settings)


def check_templates(subject: Subject, settings: Settings) -> Iterator[Finding]:
    """The claims that a StatefulSet or a sandbox makes."""

    def check_template(template: object, path: str) -> Iterator[Finding]:
        spec = mapping(mapping(template).get("spec"))
        yield from _check(spec, field_path(path, "spec"), settings)

    if subject.kind != CLAIM:
        path = "spec.volumeClaimTemplates"
        yield from each(subject.spec.get("volumeClaimTemplates"), path, check_template, "")


def _check(spec: Mapping[str, Any], path: str, settings: Settings) -> Iterator[Finding]:
    approved = [*settings["classes"], *settings["shared_classes"]]

    def check_class(_: object, __: str) -> Iterator[Breach]:
        name = spec.get("storageClassName")
        if name not in approved:
            required = either(approved) or "an approved class (the parameter classes is empty)"
            yield Breach(field_path(path, "storageClassName"), shown(name), required)

    def check_modes(_: object, __: str) -> Iterator[Breach]:
        is_shared = "ReadWriteMany" in items(spec.get("accessModes"))
        if is_shared and spec.get("storageClassName") not in settings["shared_classes"]:
            required = "a class on the list shared_classes, or ReadWriteOnce"
            yield Breach(field_path(path, "accessModes"), "ReadWriteMany", required)

    yield from each([None], "", check_class)
    yield from each([None], "", check_modes)


RULE = Rule(
    id="pvc-approved-class",
    title="Approved storage",
    description="Data is kept on storage that nobody has approved, or that others can write",
    rationale="What agents remember is often personal; a volume they share is a way between them.",
    remedy="name an approved class, or approve this one by the parameter classes",
    source="https://kubernetes.io/docs/concepts/storage/storage-classes/",
    severity=Severity.MEDIUM,
    levels=Levels(Level.ADVISORY, Level.MANDATORY, Level.MANDATORY),
    frameworks=(
        "SC-28",
        "LLM08",
        "ASI06",
    ),
    fix=Fix.NO,
    kinds=frozenset({CLAIM, *CLAIM_TEMPLATE_KINDS}),
    check=all_of(check_claim, check_templates),
    parameters=(
        CLASSES,
        SHARED,
    ),
    admission=Admission(
        (
            breaches(
                "variables.claims",
                "c",
                '!(c.spec.?storageClassName.orValue("") in variables.settings.classes'
                " + variables.settings.shared_classes)",
                'c.path + ".storageClassName"',
                "an approved class",
                said("c.spec.?storageClassName"),
            ),
            breaches(
                "variables.claims",
                "c",
                '"ReadWriteMany" in c.spec.?accessModes.orValue([])'
                ' && !(c.spec.?storageClassName.orValue("") in variables.settings.shared_classes)',
                'c.path + ".accessModes"',
                "a class on the list shared_classes, or ReadWriteOnce",
            ),
        ),
        variables=(
            (
                "claims",
                'object.kind == "PersistentVolumeClaim"'
                ' ? [{"path": dyn("spec"), "spec": dyn(variables.subject.?spec.orValue({}))}]'
                " : variables.subject.?spec.?volumeClaimTemplates.orValue([]).map(t,"
                ' {"path": dyn("spec.volumeClaimTemplates.spec"),'
                ' "spec": dyn(t.?spec.orValue({}))})',
            ),
        ),
    ),
)
