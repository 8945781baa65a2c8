"""The way to a model: its certificate, and the gateway that stands before it."""

from typing import Final, Self

from pydantic import model_validator

from holdfast.manifest.text.faults import fault
from holdfast.manifest.types.values import FileName, ManifestModel, ObjectName

DIRECT: Final = "direct"
"""In gatewayRef: past the stack's gateway."""


class ModelTls(ManifestModel):
    """How the model's certificate is judged; by default like any public one."""

    ca_secret: ObjectName | None = None
    """Secret in the agent's namespace that holds the certificate of a private authority."""
    ca_key: FileName = "ca.crt"
    """Key in that Secret; default ca.crt."""
    insecure: bool = False
    """Accept any certificate; whoever stands between reads and changes all. Default false."""

    @model_validator(mode="after")
    def _one_way(self) -> Self:
        if self.insecure == (self.ca_secret is not None):
            raise fault(
                "expected either caSecret or insecure: true",
                remedy="without tls, certificates are judged like any public one",
            )
        if self.ca_secret is None and self.ca_key != "ca.crt":
            raise fault("caKey needs caSecret", at=("caKey",))
        return self
