"""What a validation found: faults, and what was granted for a time."""

from collections.abc import Sequence
from dataclasses import dataclass

from holdfast.errors import ManifestError, SourceLocation
from holdfast.kube.text import counted
from holdfast.operations.policy.model import PolicyFinding, Verdict


@dataclass(frozen=True, slots=True)
class Exemption:
    """Something that a person has granted for a time, reported although nothing is wrong.

    Attributes:
        location: Where it is declared.
        kind: PolicyException or DriftIgnore.
        name: Its name.
        about: What is exempt, in words.
        owner: Who answers for it.
        expires: Its last day, `2026-03-31`.
        approval: Who granted it and who wrote it; empty for what needs no approver.
    """

    location: SourceLocation
    kind: str
    name: str
    about: str
    owner: str
    expires: str
    approval: str = ""


@dataclass(frozen=True, slots=True)
class OnStacks:
    """A fault, and the stacks on which it shows; no stack when the manifests alone were read."""

    fault: ManifestError | PolicyFinding
    stacks: tuple[str, ...]

    @property
    def place(self) -> SourceLocation:
        """Where it is shown; what no file declares has an empty place."""
        return self.fault.location or SourceLocation("")

    @property
    def mark(self) -> str:
        """How bad it is: `error`, the rule's level, or why the rule does not count."""
        if isinstance(self.fault, ManifestError):
            return "error"
        is_violated = self.fault.verdict is Verdict.VIOLATED
        return self.fault.level if is_violated else self.fault.verdict.value

    @property
    def sentence(self) -> str:
        """What is wrong and what to change, without the place."""
        fault = self.fault
        if isinstance(fault, ManifestError):
            return str(fault).removeprefix(f"{fault.location}: ")
        note = f" [{fault.note}]" if fault.note else ""
        return f"{fault.subject}: {fault.headline} [{fault.rule}]; {fault.remedy}{note}"


@dataclass(frozen=True, slots=True)
class ValidationReport:
    """Everything that was found.

    Attributes:
        faults: Errors and breaches, each once, in order of place.
        stacks: Stacks against which the manifests were read.
        exemptions: What has been granted for a time, in order of place.
        errors_elsewhere: Errors in files that were not asked about; a stack with errors is not
            rendered, so no policy is evaluated on it.
        declares_nothing: The whole project was validated, and it has no manifest.
    """

    faults: tuple[OnStacks, ...]
    stacks: tuple[str, ...]
    exemptions: tuple[Exemption, ...] = ()
    errors_elsewhere: int = 0
    declares_nothing: bool = False

    @property
    def errors(self) -> list[ManifestError]:
        """What is wrong with the files."""
        return [each.fault for each in self.faults if isinstance(each.fault, ManifestError)]

    @property
    def breaches(self) -> list[PolicyFinding]:
        """What valid files stand for and the policy pack objects to."""
        return [each.fault for each in self.faults if isinstance(each.fault, PolicyFinding)]

    @property
    def refused(self) -> list[PolicyFinding]:
        """Mandatory rules broken."""
        return [breach for breach in self.breaches if breach.refuses]

    @property
    def is_accepted(self) -> bool:
        """Whether an update may follow: no error, and no mandatory rule broken."""
        return not self.errors and not self.refused

    @property
    def headline(self) -> str:
        """How much was found, in words: `1 error, 2 warnings`; else `valid`."""
        waived = sum(breach.verdict is Verdict.WAIVED for breach in self.breaches)
        counts = (
            (len(self.errors), "error"),
            (len(self.refused), "mandatory rule violation"),
            (len(self.breaches) - len(self.refused) - waived, "advisory violation"),
            (waived, "waived violation"),
        )
        found = [counted(count, noun) for count, noun in counts if count]
        return ", ".join(found) or "valid"


def sorted_faults(
    found: Sequence[tuple[ManifestError | PolicyFinding, str]],
) -> tuple[OnStacks, ...]:
    """Each fault once, with the stacks on which it was found; in order of place."""
    stacks_of: dict[str, tuple[ManifestError | PolicyFinding, list[str]]] = {}
    for fault, stack in found:
        key = str(fault) if isinstance(fault, ManifestError) else repr(fault)
        stacks_of.setdefault(key, (fault, []))[1].extend([stack] if stack else [])
    faults = [OnStacks(fault, tuple(stacks)) for fault, stacks in stacks_of.values()]
    return tuple(sorted(faults, key=lambda each: (each.place, each.fault.path)))
