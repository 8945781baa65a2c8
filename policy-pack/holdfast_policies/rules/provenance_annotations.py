"""Every workload says which declaration it was made from."""

import hashlib
import json
from collections.abc import Iterator

from holdfast_policies.api import (
    ONLY_AGENTS,
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
    holds_secret,
    key_path,
    mapping,
    text,
)

ANNOTATIONS = Parameter(
    name="annotations",
    description="Annotations that lead from a workload back to what declared it.",
    schema={"type": "array", "items": {"type": "string"}, "minItems": 1},
    default=["holdfast.dev/stack", "holdfast.dev/revision"],
)
_URN = "urn:pulumi:"
_DIGITS = 12


def check(subject: Subject, settings: Settings) -> Iterator[Finding]:
    """Annotations that are missing. The commit follows from the revision, by `holdfast history`."""

    def check_annotation(name: str, _: str) -> Iterator[Breach]:
        if not text(mapping(subject.metadata.get("annotations")).get(name)):
            yield Breach(key_path("metadata.annotations", name), got="nothing", required="a value")

    yield from each(settings["annotations"], "", check_annotation)


def remediate(subject: Subject, settings: Settings) -> Iterator[Edit]:
    """The stack, from the resource's own name, and a digest of what the program declares.

    Nothing is said of an object that holds a secret: its digest could be searched for the secret.
    """
    if not subject.urn.startswith(_URN) or holds_secret(subject.object):
        return
    content = json.dumps(subject.object, sort_keys=True).encode()
    known = {
        "holdfast.dev/stack": subject.urn.removeprefix(_URN).partition("::")[0],
        "holdfast.dev/revision": hashlib.sha256(content).hexdigest()[:_DIGITS],
    }
    declared = mapping(subject.metadata.get("annotations"))
    for name in settings["annotations"]:
        if name in known and not text(declared.get(name)):
            yield Edit(("metadata", "annotations", name), known[name])


RULE = Rule(
    id="provenance-annotations",
    title="Traceable to its source",
    description="A workload does not say which declaration it was made from",
    rationale="What cannot be traced to a review cannot be told from what somebody added by hand.",
    remedy="deploy it through Holdfast, or set the annotations in the program that deploys it",
    source="https://slsa.dev/spec/v1.0/provenance",
    severity=Severity.LOW,
    levels=Levels(Level.ADVISORY, Level.REMEDIATE, Level.MANDATORY),
    frameworks=(
        "CM-2",
        "CM-3",
        "SR-4",
        "AU-10",
    ),
    fix=Fix.YES,
    remediate=remediate,
    kinds=POD_KINDS,
    applies_to=ONLY_AGENTS,
    check=check,
    parameters=(ANNOTATIONS,),
    admission=Admission(
        (
            breaches(
                "variables.settings.annotations",
                "k",
                'variables.subject.metadata.?annotations[?k].orValue("") == ""',
                '"metadata.annotations[" + k + "]"',
                "a value",
                '"nothing"',
            ),
        )
    ),
)
