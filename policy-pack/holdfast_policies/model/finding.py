"""What a rule may say about an object: a breach, or that it cannot tell yet."""

from dataclasses import dataclass
from typing import TYPE_CHECKING, TypeAlias

if TYPE_CHECKING:
    from holdfast_policies.model.subject import Subject


@dataclass(frozen=True, slots=True)
class Breach:
    """One violation, as a rule finds it.

    Attributes:
        path: Field path, list items by name: `spec.containers[name=agent].image`.
        got: What stands there, in words; never the value of a secret.
        required: What must stand there.
        remedy: What to change, where it differs from the rule's own remedy.
        subject: Which object of the stack, for stack rules; None for the object judged.
    """

    path: str
    got: str
    required: str
    remedy: str = ""
    subject: "Subject | None" = None


@dataclass(frozen=True, slots=True)
class Undecided:
    """One part that a rule could not judge because a value is not known yet.

    Attributes:
        path: Field path of the unknown value.
        subject: Which object of the stack, for stack rules; None for the object judged.
    """

    path: str
    subject: "Subject | None" = None


Finding: TypeAlias = Breach | Undecided
