"""How drift of one agent's objects is dealt with: not rendered, read by the scan.

With the probes that a manifest declares itself: what a command should print.
"""

from typing import Annotated, Literal

from pydantic import Field

from holdfast.manifest.kinds.exemptions import Day, Glob
from holdfast.manifest.types.conditions import Given
from holdfast.manifest.types.manifest_model import Items, ManifestModel
from holdfast.manifest.types.names import PartName
from holdfast.manifest.types.rules import OneOf, Rule, Ruled, Unique
from holdfast.manifest.types.values import Duration, FieldPath, Sha256, Text


class CommandProbe(Ruled):
    """A command that `holdfast drift --probe-commands` runs, and what it should print."""

    RULES = (
        OneOf(
            ("output", "digest"), remedy="write down what the command should print, or its sha256"
        ),
    )

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


class IgnoredField(ManifestModel):
    """A field of the agent's objects that may differ for a time."""

    path: FieldPath
    """Field of an object as reports write it, with everything below it: `spec.replicas`."""
    reason: Text
    """Why it may differ."""
    expires: Day
    """Last day on which it may; afterwards the entry itself is reported."""


class ExpectedManager(Ruled):
    """A field manager that may write to the agent's objects: an injector, an operator."""

    RULES = (
        Rule(
            "manager-has-paths",
            Given("paths"),
            "expected at least one field path",
            remedy="name the fields that the manager may write",
            at="paths",
        ),
    )

    manager: Glob
    """Its name or a glob; `(admission)` for what admission in the cluster sets."""
    paths: Items[FieldPath]
    """Fields that it may write, with everything below them; at least one."""


class DriftSettings(Ruled):
    """How drift of the agent's objects is dealt with."""

    mode: Literal["report", "revert", "adopt"] = "report"
    """What `holdfast drift revert --by-mode` does: report drift, revert it, or adopt it."""
    ignore: Items[IgnoredField] = ()
    """Fields that may differ for a time: counted, not listed."""
    expected_managers: Items[ExpectedManager] = ()
    """Managers whose writes to some fields are expected: counted, not listed."""
    probes: Annotated[Items[CommandProbe], Unique()] = ()
    """Commands whose output is compared with the reviewed one, by `--probe-commands`."""
    fingerprint: Sha256 | None = None
    """What running pods should publish in their annotation `holdfast.dev/fingerprint`: a digest
    over whatever the agent runs with, such as its packages and skills."""
