"""What the engine reports while it runs: steps, messages, violations and a last word.

Outputs of resources are not among it, and inputs only of what changes, as a text that no log can
show by accident: they can hold secrets.
"""

from collections.abc import Mapping

import msgspec

from holdfast.kube.objects import ObjectRef

KUBERNETES_TYPE_PREFIX = "kubernetes:"
MANDATORY = "mandatory"
UNCHANGED_OPERATIONS = ("same", "refresh")


class PropertyDifference(msgspec.Struct, frozen=True, order=True):
    """One property that differs.

    Attributes:
        path: In Pulumi's notation, list items by index: `spec.containers[0].image`.
        kind: `add`, `delete` or `update`, with `-replace` when it forces a replacement.
    """

    path: str
    kind: str


class Inputs(msgspec.Struct, frozen=True):
    """What the program asks of one resource, as JSON text; shows itself without it.

    Values that the program calls secret are blinded by the engine, all others are not: mask one
    before it is shown.
    """

    text: msgspec.Raw

    def __repr__(self) -> str:
        return "Inputs(...)"


class ResourceStep(msgspec.Struct, frozen=True):
    """What the engine did, or would do, with one resource.

    Attributes:
        type: Pulumi type token, such as `kubernetes:apps/v1:Deployment`.
        operation: `create`, `update`, `delete`, `replace`, `same`, `refresh`, ...
        reference: The Kubernetes object, None for components, providers and the stack itself.
        differences: By path; empty as well for a resource that is only unhealthy.
        initialisation_errors: Why an object that exists is not ready.
        labels: Of the Kubernetes object.
        before: Inputs that the last update recorded; None where nothing is changed or known.
        after: Inputs that the program asks for now; as `before`.
    """

    urn: str
    type: str
    operation: str
    reference: ObjectRef | None = None
    differences: tuple[PropertyDifference, ...] = ()
    initialisation_errors: tuple[str, ...] = ()
    labels: Mapping[str, str] = {}
    before: Inputs | None = None
    after: Inputs | None = None

    @property
    def name(self) -> str:
        """Name in the program: the last part of the URN."""
        return self.urn.rpartition("::")[2]

    def __str__(self) -> str:
        return str(self.reference) if self.reference else f"{self.type.split(':')[-1]} {self.name}"


class StepStarted(msgspec.Struct, frozen=True):
    """The engine begins a step."""

    step: ResourceStep


class StepDone(msgspec.Struct, frozen=True):
    """A step has been done, or has been planned when this is a preview."""

    step: ResourceStep


class StepFailed(msgspec.Struct, frozen=True):
    """A step failed; a diagnostic of severity `error` says why."""

    step: ResourceStep


class Diagnostic(msgspec.Struct, frozen=True):
    """A message of the engine, a provider or the program.

    Attributes:
        severity: `info`, `info#err` (what the program wrote to standard error), `warning`, `error`.
        urn: The resource it is about; empty for none.
    """

    severity: str
    message: str
    urn: str = ""


class PolicyViolation(msgspec.Struct, frozen=True):
    """A rule of a policy pack that a resource, or the stack as a whole, breaks.

    Attributes:
        level: `mandatory` (refuses the run), `advisory` (warns), `remediate`, `disabled`.
        severity: `low`, `medium`, `high`, `critical`, or empty.
        urn: Empty for a rule about the whole stack.
    """

    policy: str
    pack: str
    level: str
    message: str
    severity: str = ""
    urn: str = ""

    @property
    def is_mandatory(self) -> bool:
        """Whether it refuses the run."""
        return self.level == MANDATORY


class PolicySummary(msgspec.Struct, frozen=True):
    """Rules that one resource (or the stack, when `urn` is empty) passed and failed."""

    pack: str
    passed: tuple[str, ...]
    failed: tuple[str, ...]
    urn: str = ""


class PolicyRemediation(msgspec.Struct, frozen=True):
    """What a rule changed before the engine compared a resource."""

    policy: str
    pack: str
    urn: str
    before: Inputs
    after: Inputs


class Summary(msgspec.Struct, frozen=True):
    """The last word of a run: how many resources had which operation."""

    counts: Mapping[str, int]
    result: str = ""


class UnreadLine(msgspec.Struct, frozen=True):
    """A line that could not be read: cut off, no event, or an event of another format.

    Attributes:
        kind: Its event, such as `policyEvent`; empty where it names none.
    """

    kind: str = ""

    @property
    def is_verdict(self) -> bool:
        """Whether it is one of what a policy pack says."""
        return self.kind.startswith("policy")


Event = (
    StepStarted
    | StepDone
    | StepFailed
    | Diagnostic
    | PolicyViolation
    | PolicySummary
    | PolicyRemediation
    | Summary
)
