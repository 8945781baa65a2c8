"""Controllers that a cluster may offer: what each is for, which kinds it brings, where it is from.

An environment lists those that its cluster runs (`holdfast:controllers`). An agent that needs one
that is not listed is refused before anything is deployed: an object that no controller reads is
accepted in silence and does nothing. What a controller writes into objects of other kinds is drift
unless it is listed.
"""

from dataclasses import dataclass
from typing import Literal

ControllerName = Literal[
    "agent-sandbox",
    "argo-cd",
    "argo-rollouts",
    "cilium",
    "cloud-provider",
    "external-secrets",
    "flux",
    "gateway-api",
    "helm",
    "keda",
    "kueue",
    "opentelemetry-operator",
    "prometheus-operator",
    "secrets-store-csi",
    "vault-injector",
    "volume-snapshots",
]


@dataclass(frozen=True)
class Controller:
    """One controller of the ecosystem.

    Attributes:
        title: Its name as its project writes it.
        provides: What agents need it for, in words.
        home: Where its project says how to install it.
        groups: API groups whose kinds it defines; empty when it reads annotations or labels only.
    """

    title: str
    provides: str
    home: str
    groups: tuple[str, ...] = ()


CONTROLLERS: dict[ControllerName, Controller] = {
    "agent-sandbox": Controller(
        "agent-sandbox",
        "sandboxes and warm pools",
        "https://agent-sandbox.sigs.k8s.io",
        ("agents.x-k8s.io", "extensions.agents.x-k8s.io"),
    ),
    "argo-cd": Controller(
        "Argo CD", "its marks on the objects that it delivers", "https://argo-cd.readthedocs.io"
    ),
    "argo-rollouts": Controller(
        "Argo Rollouts",
        "canary and blue-green rollouts",
        "https://argoproj.github.io/rollouts",
        ("argoproj.io",),
    ),
    "cilium": Controller(
        "Cilium", "network rules by domain name", "https://cilium.io", ("cilium.io",)
    ),
    "cloud-provider": Controller(
        "The cloud's controllers",
        "their annotations on Services and Ingresses",
        "https://kubernetes.io/docs/concepts/architecture/cloud-controller",
    ),
    "external-secrets": Controller(
        "External Secrets Operator",
        "secrets kept in an external store",
        "https://external-secrets.io",
        ("external-secrets.io",),
    ),
    "flux": Controller("Flux", "its marks on the objects that it delivers", "https://fluxcd.io"),
    "gateway-api": Controller(
        "Gateway API",
        "routes from a gateway",
        "https://gateway-api.sigs.k8s.io",
        ("gateway.networking.k8s.io",),
    ),
    "helm": Controller("Helm", "its marks on the objects of a release", "https://helm.sh"),
    "keda": Controller("KEDA", "scaling to zero and by schedule", "https://keda.sh", ("keda.sh",)),
    "kueue": Controller(
        "Kueue", "queues for scarce resources", "https://kueue.sigs.k8s.io", ("kueue.x-k8s.io",)
    ),
    "opentelemetry-operator": Controller(
        "OpenTelemetry Operator",
        "injected telemetry",
        "https://opentelemetry.io/docs/platforms/kubernetes/operator",
        ("opentelemetry.io",),
    ),
    "prometheus-operator": Controller(
        "Prometheus Operator",
        "scraping and alerts",
        "https://prometheus-operator.dev",
        ("monitoring.coreos.com",),
    ),
    "secrets-store-csi": Controller(
        "Secrets Store CSI Driver",
        "secrets mounted from an external store",
        "https://secrets-store-csi-driver.sigs.k8s.io",
        ("secrets-store.csi.x-k8s.io",),
    ),
    "vault-injector": Controller(
        "Vault Agent Injector",
        "secrets injected by Vault",
        "https://developer.hashicorp.com/vault/docs/deploy/kubernetes/injector",
    ),
    "volume-snapshots": Controller(
        "CSI volume snapshots",
        "backups of volumes",
        "https://kubernetes-csi.github.io/docs/snapshot-controller.html",
        ("snapshot.storage.k8s.io",),
    ),
}
