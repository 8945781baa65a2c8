"""Which objects a rule is about, beyond their kinds: agents, namespaces, labels, or everything."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any

from holdfast_policies.decode.unknown import UndeterminedError
from holdfast_policies.model.cel import listed, quoted
from holdfast_policies.model.kinds import AGENT_EXTENSIONS, AGENTS
from holdfast_policies.model.subject import Subject, mapping, text

APPLIES_TO_KEY = "appliesTo"
AGENT_LABEL = "holdfast.dev/agent"
"""On every object of an agent, and on its pods."""

_ANY = "*"
_AGENT_GROUPS = (AGENTS, AGENT_EXTENSIONS)
_LABELS = (
    "variables.subject.metadata.?labels.orValue({})",
    "variables.template.?metadata.?labels.orValue({})",
)


@dataclass(frozen=True, slots=True)
class AppliesTo:
    """Conditions that all must hold of an object.

    Attributes:
        agents: Only objects of agents: those with the label `holdfast.dev/agent`, on themselves or
            on their pods, and sandboxes.
        namespaces: Only objects in these; `team-*` for all that begin so; empty for every one.
        labels: Only objects that have these labels, on themselves or on their pods; `*` for any
            value.
    """

    agents: bool = False
    namespaces: tuple[str, ...] = ()
    labels: Mapping[str, str] = field(default_factory=dict)

    @property
    def is_everything(self) -> bool:
        """Whether no object is left out."""
        return not (self.agents or self.namespaces or self.labels)

    def holds(self, subject: Subject) -> bool:
        """Whether an object is one of these; what is not known yet counts as one."""
        try:
            return self._holds(subject)
        except UndeterminedError:
            return True

    def _holds(self, subject: Subject) -> bool:
        if self.namespaces and not any(
            _is_named(subject.namespace, pattern) for pattern in self.namespaces
        ):
            return False
        is_agent = subject.kind.group in _AGENT_GROUPS or _has(subject, AGENT_LABEL, _ANY)
        return (is_agent or not self.agents) and all(
            _has(subject, key, value) for key, value in self.labels.items()
        )

    def in_cel(self) -> str:
        """The same of the object of a request; empty when every object is meant."""
        parts = []
        if self.agents:
            groups = [
                f"object.apiVersion.startsWith({quoted(f'{each}/')})" for each in _AGENT_GROUPS
            ]
            parts.append(f"({' || '.join(groups)} || {_has_in_cel(AGENT_LABEL, _ANY)})")
        if self.namespaces:
            place = 'variables.subject.metadata.?namespace.orValue("default")'
            exact = [each for each in self.namespaces if not each.endswith(_ANY)]
            begins = [each.removesuffix(_ANY) for each in self.namespaces if each.endswith(_ANY)]
            found = [f"{place}.startsWith({quoted(each)})" for each in begins]
            parts.append(f"({' || '.join([f'{place} in {listed(exact)}', *found])})")
        parts += [_has_in_cel(key, value) for key, value in self.labels.items()]
        return " && ".join(parts)

    def __str__(self) -> str:
        said = ["agents"] if self.agents else []
        said += [f"namespace {each}" for each in self.namespaces]
        said += [f"label {key}={value}" for key, value in self.labels.items()]
        return ", ".join(said) or "everything"


EVERYTHING = AppliesTo()
ONLY_AGENTS = AppliesTo(agents=True)
"""For rules about what only an agent has; other workloads are never asked about it."""


def applies_to_of(given: Mapping[str, Any]) -> AppliesTo:
    """What settings say, which have no fault."""
    return AppliesTo(
        given.get("agents", False), tuple(given.get("namespaces", ())), given.get("labels", {})
    )


def applies_to_faults(given: object) -> Iterator[str]:
    """What is wrong with a setting, one sentence each."""
    if not isinstance(given, dict):
        yield f"expected a mapping with agents, namespaces or labels as {APPLIES_TO_KEY}"
        return
    for key, value in given.items():
        if key == "agents":
            if not isinstance(value, bool):
                yield f"expected true or false as {APPLIES_TO_KEY}.agents"
        elif key == "namespaces":
            names = value if isinstance(value, list) else [None]
            if not names or not all(isinstance(each, str) and _is_pattern(each) for each in names):
                yield (
                    f"expected names of namespaces, or their beginning and *, as "
                    f"{APPLIES_TO_KEY}.namespaces"
                )
        elif key == "labels":
            pairs = value.items() if isinstance(value, dict) and value else [(None, None)]
            if not all(isinstance(name, str) and isinstance(text, str) for name, text in pairs):
                yield f"expected labels with their values, or *, as {APPLIES_TO_KEY}.labels"
        else:
            yield f"{APPLIES_TO_KEY} has no {key!r}; it has: agents, namespaces, labels"


def _is_pattern(name: str) -> bool:
    return bool(name) and _ANY not in name[:-1]


def _is_named(namespace: str, pattern: str) -> bool:
    if pattern.endswith(_ANY):
        return namespace.startswith(pattern.removesuffix(_ANY))
    return namespace == pattern


def _has(subject: Subject, key: str, value: str) -> bool:
    pod = subject.pod
    for metadata in (subject.metadata, pod.metadata if pod is not None else None):
        labels = mapping(mapping(metadata).get("labels"))
        if key in labels and (value == _ANY or text(labels.get(key)) == value):
            return True
    return False


def _has_in_cel(key: str, value: str) -> str:
    tests = []
    for labels in _LABELS:
        test = f"{quoted(key)} in {labels}"
        tests.append(
            test if value == _ANY else f"({test} && {labels}[{quoted(key)}] == {quoted(value)})"
        )
    return f"({' || '.join(tests)})"
