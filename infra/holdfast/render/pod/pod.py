"""The pods of an agent, whatever runs them: containers in their order, volumes, placement."""

from holdfast.kube.merging import strategic_merge
from holdfast.kube.objects import KubeObject
from holdfast.manifest.agent.agent import AgentSpec
from holdfast.manifest.types.kubernetes_fields import structure_named
from holdfast.manifest.types.marks import CONFIG_HASH
from holdfast.render.objects.backup import restore_container
from holdfast.render.objects.identity import service_account_name
from holdfast.render.objects.secrets import vault_annotations, vault_volumes
from holdfast.render.plan.metadata import AgentMetadata
from holdfast.render.plan.render_context import RenderContext
from holdfast.render.pod.container import pod_security_context, render_container, render_volumes
from holdfast.render.pod.prestart import fetch_folders, render_prestart
from holdfast.render.pod.settings import Configuration
from holdfast.render.pod.sidecars import LOG_MOUNT, LOG_VOLUME, declared_container, typed_sidecars
from holdfast.render.pod.skills import skill_containers, skill_mounts, skill_volumes
from holdfast.render.pod.wait_container import waiting_containers

TOKEN_FOLDER = "/var/run/secrets/kubernetes.io/serviceaccount"  # noqa: S105 - a folder, no token
TOKEN_SECONDS = 3607
"""Life of a token, in the odd number that Kubernetes uses itself; the kubelet renews it."""


def pod_template(
    meta: AgentMetadata, spec: AgentSpec, context: RenderContext, configuration: Configuration
) -> KubeObject:
    """Metadata and spec of an agent's pods; they roll when `configuration` changes.

    Raises:
        RenderError: the spec needs what the stack does not offer.
    """
    context.require_all(meta.name, spec)
    pod = _pod(meta, spec, context, configuration)
    if spec.pod.overrides:
        pod = strategic_merge(pod, spec.pod.overrides, structure_named("core.v1.PodSpec"))
    annotations = (
        dict(meta.annotations)
        | vault_annotations(spec, context)
        | {CONFIG_HASH: configuration.digest}
    )
    if spec.telemetry.traces.inject == "operator":
        language = spec.telemetry.traces.language
        annotations[f"instrumentation.opentelemetry.io/inject-{language}"] = "true"
    return {
        "metadata": {"labels": meta.workload_labels(), "annotations": annotations},
        "spec": pod,
    }


def _pod(
    meta: AgentMetadata, spec: AgentSpec, context: RenderContext, configuration: Configuration
) -> KubeObject:
    added = _added_volumes(spec)
    agent = render_container(meta, spec, context, configuration)
    agent["volumeMounts"] = [
        *agent["volumeMounts"],
        *(mount for mount, _ in added),
        *skill_mounts(spec),
    ]
    pod: KubeObject = {
        "automountServiceAccountToken": spec.pod.security.automount_token,
        "containers": [agent, *(declared_container(each, spec) for each in spec.pod.sidecars)],
        "enableServiceLinks": False,
        "securityContext": pod_security_context(spec),
        "serviceAccountName": service_account_name(meta, spec.pod.security),
        "terminationGracePeriodSeconds": spec.grace_seconds,
        "volumes": [
            *render_volumes(meta, spec, context, configuration),
            *(volume for _, volume in added),
            *skill_volumes(spec),
            *vault_volumes(spec),
        ],
    }
    optional = {
        "affinity": spec.pod.affinity,
        "imagePullSecrets": [{"name": each.name} for each in spec.pod.image_pull_secrets],
        "initContainers": _init_containers(meta, spec, agent, context),
        "nodeSelector": spec.pod.node_selector,
        "priorityClassName": spec.pod.priority_class_name,
        "runtimeClassName": spec.pod.runtime_class_name,
        "tolerations": list(spec.pod.tolerations),
        "topologySpreadConstraints": _spread(meta, spec),
    }
    return pod | {key: value for key, value in optional.items() if value}


def _init_containers(
    meta: AgentMetadata, spec: AgentSpec, agent: KubeObject, context: RenderContext
) -> list[KubeObject]:
    """What starts before the agent, in this order; sidecars run on."""
    return [
        *typed_sidecars(meta, spec, context),
        *waiting_containers(meta, spec, context),
        *(each for each in [restore_container(spec)] if each),
        *skill_containers(spec, context),
        *render_prestart(spec, agent, context),
        *(declared_container(each, spec) for each in spec.pod.init_containers),
    ]


def _added_volumes(spec: AgentSpec) -> list[tuple[KubeObject, KubeObject]]:
    """Volumes that live as long as the pod: mount in the agent's container, and volume."""
    added = list(fetch_folders(spec))
    if spec.telemetry.logs.shipper == "sidecar":
        added.append((dict(LOG_MOUNT), dict(LOG_VOLUME)))
    if spec.scaling.leader_election and not spec.pod.security.automount_token:
        # Only the agent itself gets the token, not the containers beside it.
        mount = {"name": "api-token", "mountPath": TOKEN_FOLDER, "readOnly": True}
        added.append((mount, {"name": "api-token", "projected": {"sources": _token_sources()}}))
    return added


def _token_sources() -> list[KubeObject]:
    namespace = {"path": "namespace", "fieldRef": {"fieldPath": "metadata.namespace"}}
    authority = {"name": "kube-root-ca.crt", "items": [{"key": "ca.crt", "path": "ca.crt"}]}
    return [
        {"serviceAccountToken": {"path": "token", "expirationSeconds": TOKEN_SECONDS}},
        {"configMap": authority},
        {"downwardAPI": {"items": [namespace]}},
    ]


def _spread(meta: AgentMetadata, spec: AgentSpec) -> list[KubeObject]:
    if spec.pod.topology_spread_constraints is not None:
        return list(spec.pod.topology_spread_constraints)
    if spec.scaling.most_replicas <= 1:
        return []
    # By version: else the pods of the previous one would count during an update.
    version = "rollouts-pod-template-hash" if spec.rollout.is_progressive else "pod-template-hash"
    return [
        {
            "maxSkew": 1,
            "topologyKey": key,
            "whenUnsatisfiable": "ScheduleAnyway",
            "labelSelector": {"matchLabels": meta.selector()},
            "matchLabelKeys": [version],
        }
        for key in ("topology.kubernetes.io/zone", "kubernetes.io/hostname")
    ]
