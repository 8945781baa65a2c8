"""Every workload says who answers for it and who pays for it."""

from collections.abc import Iterator

from holdfast_policies.api import (
    POD_KINDS,
    Admission,
    Breach,
    Edit,
    Finding,
    Fix,
    Level,
    Levels,
    Parameter,
    Rule,
    Settings,
    Severity,
    Subject,
    breaches,
    each,
    json_patch,
    key_path,
    mapping,
    patch_at,
    text,
)

LABELS = Parameter(
    name="labels",
    description="Labels that every workload must carry.",
    schema={"type": "array", "items": {"type": "string"}, "minItems": 1},
    default=["holdfast.dev/owner", "holdfast.dev/cost-center"],
)
DEFAULTS = Parameter(
    name="defaults",
    description="Labels that level remediate sets where they are missing, as label=value.",
    schema={
        "type": "array",
        "items": {
            "type": "string",
            "pattern": r"[^=\s]+=\S+",
            "examples": ["holdfast.dev/cost-center=4711"],
        },
    },
    default=[],
)


def check(subject: Subject, settings: Settings) -> Iterator[Finding]:
    """Labels of the object itself: those of its pods follow them."""

    def check_label(name: str, _: str) -> Iterator[Breach]:
        if not text(mapping(subject.metadata.get("labels")).get(name)):
            yield Breach(key_path("metadata.labels", name), got="nothing", required="a value")

    yield from each(settings["labels"], "", check_label)


def remediate(subject: Subject, settings: Settings) -> Iterator[Edit]:
    """Labels that are missing and whose value the settings give."""
    given = dict(each.split("=", 1) for each in settings["defaults"])
    declared = mapping(subject.metadata.get("labels"))
    for name in settings["labels"]:
        if name in given and not text(declared.get(name)):
            yield Edit(("metadata", "labels", name), given[name])


_KEY, _VALUE = 'd.split("=", 2)[0]', 'd.split("=", 2)[1]'
_IS_MISSING = (
    f"{_KEY} in variables.settings.labels"
    f' && variables.subject.metadata.?labels[?{_KEY}].orValue("") == ""'
)
_SET_LABEL = json_patch(f'"/metadata/labels/" + jsonpatch.escapeKey({_KEY})', _VALUE)

RULE = Rule(
    id="owner-and-cost-labels",
    title="Owner and cost",
    description="A workload does not say who answers for it, or who pays for it",
    rationale="When an agent misbehaves at night, the label is how the right person is found.",
    remedy="set spec.owner and spec.governance.costCenter of the agent",
    source="https://kubernetes.io/docs/concepts/overview/working-with-objects/common-labels/",
    severity=Severity.LOW,
    levels=Levels(Level.ADVISORY, Level.REMEDIATE, Level.MANDATORY),
    frameworks=(
        "CM-8",
        "PM-5",
    ),
    fix=Fix.PARTLY,
    remediate=remediate,
    kinds=POD_KINDS,
    check=check,
    admission=Admission(
        (
            breaches(
                "variables.settings.labels",
                "k",
                'variables.subject.metadata.?labels[?k].orValue("") == ""',
                '"metadata.labels[" + k + "]"',
                "a value",
                '"nothing"',
            ),
        ),
        patches=(
            patch_at(
                '"/metadata/labels"',
                "variables.subject.metadata.?labels.orValue(null) == null"
                f" && variables.settings.defaults.exists(d, {_IS_MISSING})",
                "{}",
            )
            + f" + variables.settings.defaults.filter(d, {_IS_MISSING})"
            f".map(d, {_SET_LABEL})",
        ),
    ),
    parameters=(LABELS, DEFAULTS),
)
