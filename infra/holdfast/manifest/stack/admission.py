"""How the cluster of a stack is held to the rules of the stack's own preview."""

from typing import Literal

from pydantic import Field

from holdfast.manifest.types.manifest_model import Items, ManifestModel
from holdfast.manifest.types.names import LabelName
from holdfast.manifest.types.values import Text


class AdmissionSettings(ManifestModel):
    """The rules as admission policies of the cluster: kubectl is refused what preview is."""

    mode: Literal["enforce", "warn", "audit"] = "enforce"
    """What follows where a mandatory rule is broken: enforce refuses, warn tells the client, audit
    tells the audit log alone. A rule that is only advisory never refuses."""
    scope: Literal["namespaces", "cluster"] = "namespaces"
    """Whose objects are judged: those in the stack's own namespaces and bindings that reach into
    them, or those of the whole cluster."""
    left_out_namespaces: Items[LabelName] = Field(
        default=("kube-node-lease", "kube-public", "kube-system")
    )
    """With scope cluster: namespaces that are not judged; default those of Kubernetes itself."""
    controllers: Items[Text] = ()
    """Users, such as system:serviceaccount:rollouts:controller, whose pods follow from an object
    that was judged already; Kubernetes' own, agent-sandbox and Argo Rollouts are known."""
