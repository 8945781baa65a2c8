"""What came of one workload: its manifest, and everything that is not as it was."""

from dataclasses import dataclass, field
from typing import Any

from holdfast.kube.objects import ObjectRef


@dataclass(frozen=True, slots=True)
class Remark:
    """One field of an object that its manifest does not say as it stood.

    Attributes:
        subject: The object.
        path: Field of it.
        value: What stood there.
        reason: Why, or what to do.
    """

    subject: ObjectRef
    path: str
    value: Any
    reason: str


@dataclass(slots=True)
class Findings:
    """Remarks as they are made.

    Attributes:
        lost: Not carried: what the imported agent will not have.
        changed: Carried in another form, by Holdfast's own rules.
        images: Images without a digest, which a manifest must have.
        escaped: Fields of a pod that only `podOverrides` can say.
    """

    lost: list[Remark] = field(default_factory=list)
    changed: list[Remark] = field(default_factory=list)
    images: list[str] = field(default_factory=list)
    escaped: list[str] = field(default_factory=list)


@dataclass(frozen=True, slots=True)
class ImportedAgent:
    """One agent, and the objects it stands for.

    Attributes:
        manifest: As it is written to a file; the image may still lack its digest.
        objects: What was taken over in it.
    """

    manifest: dict[str, Any]
    objects: tuple[ObjectRef, ...]
    findings: Findings

    @property
    def name(self) -> str:
        """Name of the agent."""
        return str(self.manifest["metadata"]["name"])

    @property
    def is_complete(self) -> bool:
        """Whether nothing is lost and nothing remains to be filled in."""
        return not self.findings.lost and not self.findings.images
