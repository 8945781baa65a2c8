"""What people decided about an agent that Kubernetes has no field for: read by the policy pack."""

from collections.abc import Iterator
from typing import Final

from holdfast.manifest.types.manifest_model import ManifestModel
from holdfast.manifest.types.names import LabelValue
from holdfast.manifest.types.values import Retention

PREFIX: Final = "holdfast.dev/"
COST_CENTER: Final = f"{PREFIX}cost-center"


class LogGovernance(ManifestModel):
    """What becomes of log lines."""

    retention: Retention | None = None
    """How long they are kept, such as 30d."""
    redaction: LabelValue | None = None
    """What is cut out of them, such as personal-data."""


class Governance(ManifestModel):
    """Decisions that the policy pack asks for: `holdfast.dev/*` on objects, never on pods."""

    autonomy: LabelValue | None = None
    """How far the agent acts alone, such as supervised or autonomous."""
    approver: LabelValue | None = None
    """Team that approves what it may not do alone."""
    data_class: LabelValue | None = None
    """Most sensitive class of the data that it keeps, such as personal."""
    data_retention: Retention | None = None
    """How long that is kept, such as 30d or 1y."""
    tool_audit: LabelValue | None = None
    """Where calls of tools are written down, such as traces."""
    logs: LogGovernance = LogGovernance.model_construct()
    """What becomes of its log lines."""
    cost_center: LabelValue | None = None
    """Who pays; a label, for tools that add up costs."""

    def annotations(self) -> dict[str, str]:
        """Annotations of the agent's objects; nothing for what is not declared."""
        return {f"{PREFIX}{name}": value for name, value in self._declared() if value is not None}

    def labels(self) -> dict[str, str]:
        """Labels of the agent's objects."""
        return {COST_CENTER: self.cost_center} if self.cost_center is not None else {}

    def _declared(self) -> Iterator[tuple[str, str | None]]:
        yield "autonomy", self.autonomy
        yield "approver", self.approver
        yield "data-class", self.data_class
        yield "data-retention", self.data_retention
        yield "tool-audit", self.tool_audit
        yield "log-retention", self.logs.retention
        yield "log-redaction", self.logs.redaction
