"""Controllers that a cluster may offer: what each is for, which kinds it brings, where it is from.

An environment lists those that its cluster runs (`holdfast:controllers`). An agent that needs one
that is not listed is refused before anything is deployed: an object that no controller reads is
accepted in silence and does nothing.
"""

from dataclasses import dataclass
from typing import Literal

ControllerName = Literal[
    "agent-sandbox",
    "argo-rollouts",
    "cilium",
    "external-secrets",
    "gateway-api",
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
        groups: API groups whose kinds it defines; empty when it reads annotations or labels only.
    """

    title: str
    provides: str
    groups: tuple[str, ...] = ()


CONTROLLERS: dict[ControllerName, Controller] = {
    "agent-sandbox": Controller(
        "agent-sandbox",
        "sandboxes and warm pools",
        ("agents.x-k8s.io", "extensions.agents.x-k8s.io"),
    ),
    "argo-rollouts": Controller(
        "Argo Rollouts", "canary and blue-green rollouts", ("argoproj.io",)
    ),
    "cilium": Controller("Cilium", "network rules by domain name", ("cilium.io",)),
    "external-secrets": Controller(
        "External Secrets Operator", "secrets kept in an external store", ("external-secrets.io",)
    ),
    "gateway-api": Controller(
        "Gateway API", "routes from a gateway", ("gateway.networking.k8s.io",)
    ),
    "keda": Controller("KEDA", "scaling to zero and by schedule", ("keda.sh",)),
    "kueue": Controller("Kueue", "queues for scarce resources", ("kueue.x-k8s.io",)),
    "opentelemetry-operator": Controller(
        "OpenTelemetry Operator", "injected telemetry", ("opentelemetry.io",)
    ),
    "prometheus-operator": Controller(
        "Prometheus Operator", "scraping and alerts", ("monitoring.coreos.com",)
    ),
    "secrets-store-csi": Controller(
        "Secrets Store CSI Driver",
        "secrets mounted from an external store",
        ("secrets-store.csi.x-k8s.io",),
    ),
    "vault-injector": Controller("Vault Agent Injector", "secrets injected by Vault"),
    "volume-snapshots": Controller(
        "CSI volume snapshots", "backups of volumes", ("snapshot.storage.k8s.io",)
    ),
}
