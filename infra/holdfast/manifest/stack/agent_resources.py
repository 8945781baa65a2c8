"""Whether a stack's agents are resources of their cluster, and who applies their objects."""

from typing import Literal

from holdfast.manifest.types.manifest_model import ManifestModel


class AgentResources(ManifestModel):
    """The agents of the stack as `kubectl get agents` knows them."""

    mode: Literal["off", "observe", "expand"] = "off"
    """off: no resources; observe: Pulumi applies the agents' objects and registers a resource
    beside them, the operator reports and, by drift.mode, puts back; expand: Pulumi registers the
    resources alone, the operator renders and applies their objects. Default off."""
