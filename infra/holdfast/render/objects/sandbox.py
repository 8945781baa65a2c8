"""An agent of type Sandbox: one Sandbox, or a template with a pool of warm ones.

The kinds are those of agent-sandbox (kubernetes-sigs), which does not change the pod of a running
sandbox: a changed Sandbox is recreated, a changed template recreates its pool. What somebody has
claimed stays as it is until it is released.
"""

from holdfast.kube.objects import KubeObject
from holdfast.manifest.agent.agent import AgentSpec
from holdfast.manifest.types.values import duration_milliseconds
from holdfast.render.objects.network import render_policies
from holdfast.render.objects.storage import claim_spec, volume_name
from holdfast.render.plan.metadata import AgentMetadata, RenderedObject
from holdfast.render.plan.render_context import RenderContext
from holdfast.render.pod.pod import pod_template
from holdfast.render.pod.settings import Configuration

API_VERSION = "agents.x-k8s.io/v1beta1"
EXTENSIONS_API_VERSION = "extensions.agents.x-k8s.io/v1beta1"


def render_sandbox(
    meta: AgentMetadata, spec: AgentSpec, context: RenderContext, configuration: Configuration
) -> list[RenderedObject]:
    """Sandbox; or SandboxTemplate, SandboxWarmPool and, if asked for, SandboxClaim.

    Raises:
        RenderError: the stack does not declare agent-sandbox.
    """
    context.require_all(meta.name, spec, ("type",))
    template = pod_template(meta, spec, context, configuration)
    if spec.sandbox.shutdown_after is not None:
        # The sandbox's own shutdownTime is a moment, this is a length: the pod's own deadline.
        seconds = -(-duration_milliseconds(spec.sandbox.shutdown_after) // 1000)
        template["spec"]["activeDeadlineSeconds"] = seconds
    if spec.is_pooled:
        return _pool(meta, spec, template, enclosure(meta, spec, context))
    body: KubeObject = {
        "operatingMode": spec.sandbox.operating_mode,
        "podTemplate": template,
        # The agent's own Service has this name, and a policy and a port with it.
        "service": False,
        "shutdownPolicy": "Delete",
    }
    sandbox = _object(meta, API_VERSION, "Sandbox", body)
    return [RenderedObject(meta.name, "sandbox", sandbox, replaced_on=("spec.podTemplate",))]


def _pool(
    meta: AgentMetadata, spec: AgentSpec, template: KubeObject, network_policy: KubeObject
) -> list[RenderedObject]:
    body: KubeObject = {
        "envVarsInjectionPolicy": spec.sandbox.env_injection,
        # Without rules of its own, the controller's policy would open the internet.
        "networkPolicy": network_policy,
        "networkPolicyManagement": "Managed",
        "podTemplate": template,
        "volumeClaimTemplatesPolicy": "Disallowed",
    }
    if spec.storage.volumes:
        body["volumeClaimTemplates"] = [
            {"metadata": {"name": volume_name(volume)}, "spec": claim_spec(volume)}
            for volume in spec.storage.volumes
        ]
    assert spec.sandbox.warm_pool is not None  # noqa: S101 - what a pool is
    pool: KubeObject = {
        "replicas": spec.sandbox.warm_pool.replicas,
        "sandboxTemplateRef": {"name": meta.name},
        "updateStrategy": {"type": "Recreate"},
    }
    rendered = [("sandboxtemplate", "SandboxTemplate", body), ("warmpool", "SandboxWarmPool", pool)]
    if spec.sandbox.claim:
        lifecycle = {
            "shutdownPolicy": "Delete",
            "ttlSecondsAfterFinished": spec.sandbox.ttl_seconds_after_finished,
        }
        claim = {"lifecycle": lifecycle, "warmPoolRef": {"name": meta.name}}
        rendered.append(("sandboxclaim", "SandboxClaim", claim))
    return [
        RenderedObject(meta.name, role, _object(meta, EXTENSIONS_API_VERSION, kind, each))
        for role, kind, each in rendered
    ]


def _object(meta: AgentMetadata, api_version: str, kind: str, body: KubeObject) -> KubeObject:
    return {"apiVersion": api_version, "kind": kind, "metadata": meta.metadata(), "spec": body}


def enclosure(meta: AgentMetadata, spec: AgentSpec, context: RenderContext) -> KubeObject:
    """Ingress and egress as the agent's own NetworkPolicy has them; what is absent is denied."""
    policy = render_policies(meta, spec, context)[0].manifest["spec"]
    return {name: policy[name] for name in ("ingress", "egress") if name in policy}
