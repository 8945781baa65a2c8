"""A prompt that was reviewed is the prompt that runs."""

import re
from collections.abc import Iterator

from holdfast_policies.api import (
    CONFIG_MAP,
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
    all_of,
    in_object,
    quoted,
    shown,
)

_HASHED = re.compile(r".*-[0-9a-f]{6,64}")
NAMES = Parameter(
    name="names",
    description="Pattern (regular expression) of the names of ConfigMaps that hold prompts.",
    schema={"type": "string"},
    default=r"(.*-)?prompts?(-.*)?",
)


def check_immutable(subject: Subject, settings: Settings) -> Iterator[Breach]:
    """A prompt that may change under the agent that runs on it."""
    if _is_prompt(subject, settings) and subject.object.get("immutable") is not True:
        got = shown(subject.object.get("immutable"))
        yield Breach("immutable", got=got, required="true")


def check_name(subject: Subject, settings: Settings) -> Iterator[Breach]:
    """A prompt whose name stays the same when its text does not: pods would not roll."""
    if _is_prompt(subject, settings) and not _HASHED.fullmatch(subject.name):
        remedy = "end the name in a hash of the content, as prompt.systemMessage does"
        yield Breach("metadata.name", shown(subject.name), "a name that ends in a hash", remedy)


def _is_prompt(subject: Subject, settings: Settings) -> bool:
    return re.fullmatch(settings["names"], subject.name) is not None


_IS_PROMPT = 'variables.subject.metadata.name.matches("^(?:" + variables.settings.names + ")$")'
_HASHED_NAME = f"^{_HASHED.pattern}$"


RULE = Rule(
    id="prompt-config-immutable",
    title="Prompts that stay",
    description="A prompt can be changed under the agent that runs on it",
    rationale="A prompt is what an agent runs on; changed in place, it was reviewed by nobody.",
    remedy="set immutable to true, and let the name end in a hash of the content",
    source="https://kubernetes.io/docs/concepts/configuration/configmap/#configmap-immutable",
    severity=Severity.MEDIUM,
    levels=Levels(Level.ADVISORY, Level.ADVISORY, Level.MANDATORY),
    frameworks=(
        "CM-3",
        "SI-7",
        "LLM07",
        "ASI01",
        "ASI06",
    ),
    fix=Fix.YES,
    kinds=frozenset({CONFIG_MAP}),
    check=all_of(check_immutable, check_name),
    parameters=(NAMES,),
    admission=Admission(
        (
            in_object(
                f"{_IS_PROMPT} && variables.subject.?immutable.orValue(false) != true",
                "immutable",
                "true",
            ),
            in_object(
                f"{_IS_PROMPT} && !variables.subject.metadata.name.matches({quoted(_HASHED_NAME)})",
                "metadata.name",
                "a name that ends in a hash",
                "variables.subject.metadata.name",
            ),
        )
    ),
)
