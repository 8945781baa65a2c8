"""Every workload says who answers for it and who pays for it."""

from collections.abc import Iterator

from holdfast_policies.cel import Admission, breaches
from holdfast_policies.edit import Edit
from holdfast_policies.finding import Breach, Finding
from holdfast_policies.kinds import POD_KINDS
from holdfast_policies.parts import each
from holdfast_policies.rule import Fix, Level, Levels, Parameter, Rule, Settings, Severity
from holdfast_policies.subject import Subject, key_path, mapping, text

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


def mend(subject: Subject, settings: Settings) -> Iterator[Edit]:
    """Labels that are missing and whose value the settings give."""
    given = dict(each.split("=", 1) for each in settings["defaults"])
    declared = mapping(subject.metadata.get("labels"))
    for name in settings["labels"]:
        if name in given and not text(declared.get(name)):
            yield Edit(("metadata", "labels", name), given[name])


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
    mend=mend,
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
        )
    ),
    parameters=(LABELS, DEFAULTS),
)
