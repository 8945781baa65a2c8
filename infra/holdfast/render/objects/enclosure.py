"""The network rules of an agent in the words of a SandboxTemplate, whose controller holds them."""

from holdfast.kube.objects import KubeObject
from holdfast.manifest.agent.agent import AgentSpec
from holdfast.render.objects.network import render_network
from holdfast.render.plan.marks import AgentMarks
from holdfast.render.plan.surroundings import Surroundings


def enclosure(marks: AgentMarks, spec: AgentSpec, surroundings: Surroundings) -> KubeObject:
    """Ingress and egress as the agent's own NetworkPolicy has them; what is absent is denied."""
    [policy] = (
        item.manifest["spec"]
        for item in render_network(marks, spec, surroundings)
        if item.manifest["kind"] == "NetworkPolicy"
    )
    return {name: policy[name] for name in ("ingress", "egress") if name in policy}
