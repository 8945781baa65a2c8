"""Probes that a manifest declares itself: what a command should print."""

from typing import Annotated, Literal, Self

from pydantic import Field, model_validator

from holdfast.manifest.text.faults import fault
from holdfast.manifest.types.values import Duration, Items, ManifestModel, PartName, Sha256, Text


class CommandProbe(ManifestModel):
    """A command that `holdfast drift --probe-commands` runs, and what it should print."""

    name: PartName
    """Name of the probe, unique in the agent."""
    command: Annotated[Items[Text], Field(min_length=1)]
    """Program and arguments; run without a shell, in the project's folder, on the machine of the
    scan, with its environment: credentials belong there and not here."""
    output: str | None = None
    """Reviewed output; reports show it line by line against the live one. Excludes digest."""
    digest: Sha256 | None = None
    """SHA-256 over the reviewed output, for output that should not stand here."""
    timeout: Duration = "30s"
    """Longest run; default 30s."""
    severity: Literal["critical", "high", "medium", "low"] = "high"
    """Severity of a finding; default high."""

    @model_validator(mode="after")
    def _output_or_digest(self) -> Self:
        if (self.output is None) is (self.digest is None):
            raise fault(
                "expected either output or digest",
                found="neither" if self.output is None else "both",
                remedy="write down what the command should print, or its sha256",
            )
        return self
