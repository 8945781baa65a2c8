"""The Services that lead to an agent: which there are, which ports they have, who moves them."""

from holdfast.kube.objects import KubeObject
from holdfast.manifest.agent.agent import AgentSpec
from holdfast.render.plan.marks import AgentMarks
from holdfast.render.pod.container import container_ports

STANDBY = "standby"
PREVIEW, CANARY = "preview", "canary"


def service_ports(spec: AgentSpec) -> list[KubeObject]:
    """Ports of a Service in front of the agent: those of its container, by name."""
    return [
        {
            "name": port["name"],
            "port": port["containerPort"],
            "protocol": port["protocol"],
            "targetPort": port["name"],
        }
        for port in container_ports(spec)
    ]


def is_routed(spec: AgentSpec) -> bool:
    """Whether a gateway divides the traffic of a canary; else the numbers of pods do."""
    return spec.rollout.strategy == "Canary" and spec.network.expose.gateway_ref is not None


def hands_over_service(spec: AgentSpec) -> bool:
    """Whether Argo Rollouts writes the selector of the agent's Service."""
    return spec.rollout.strategy == "BlueGreen" or is_routed(spec)


def moved_service(marks: AgentMarks, spec: AgentSpec) -> dict[str, str]:
    """Annotation by which Argo Rollouts marks a Service that it moves; empty for the others."""
    if not hands_over_service(spec):
        return {}
    return {"argo-rollouts.argoproj.io/managed-by-rollouts": marks.name}


def second_service(spec: AgentSpec) -> str:
    """Role of the Service that leads to a new version; empty where there is none."""
    if spec.rollout.strategy == "BlueGreen":
        return PREVIEW
    return CANARY if is_routed(spec) else ""
