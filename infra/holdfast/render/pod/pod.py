"""The pods of an agent, whatever runs them: containers in their order, volumes, placement."""

from holdfast.kube.merging import strategic_merge
from holdfast.kube.objects import KubeObject
from holdfast.manifest.agent.agent import AgentSpec
from holdfast.manifest.types.kubernetes_fields import structure_named
from holdfast.render.objects.backup import restore_container
from holdfast.render.objects.identity import service_account_name
from holdfast.render.objects.secrets import vault_annotations, vault_volumes
from holdfast.render.plan.marks import AgentMarks
from holdfast.render.plan.surroundings import Surroundings
from holdfast.render.pod.container import pod_security_context, render_container, render_volumes
from holdfast.render.pod.prestart import fetch_folders, render_prestart
from holdfast.render.pod.sidecars import LOG_MOUNT, LOG_VOLUME, declared_container, typed_sidecars
from holdfast.render.pod.skills import skill_containers, skill_mounts, skill_volumes
from holdfast.render.pod.wait_container import waiting_containers

CONFIG_HASH = "holdfast.dev/config-hash"
TOKEN_FOLDER = "/var/run/secrets/kubernetes.io/serviceaccount"  # noqa: S105 - a folder, no token
TOKEN_SECONDS = 3607
"""Life of a token, in the odd number that Kubernetes uses itself; the kubelet renews it."""


def pod_template(
    marks: AgentMarks, spec: AgentSpec, surroundings: Surroundings, config_hash: str
) -> KubeObject:
    """Metadata and spec of an agent's pods; they roll when `config_hash` changes.

    Raises:
        RenderError: the spec needs what the stack does not offer.
    """
    surroundings.require_all(marks.name, spec)
    pod = _pod(marks, spec, surroundings)
    if spec.pod_overrides:
        pod = strategic_merge(pod, spec.pod_overrides, structure_named("core.v1.PodSpec"))
    annotations = (
        dict(marks.annotations) | vault_annotations(spec, surroundings) | {CONFIG_HASH: config_hash}
    )
    if spec.telemetry.traces.inject == "operator":
        language = spec.telemetry.traces.language
        annotations[f"instrumentation.opentelemetry.io/inject-{language}"] = "true"
    return {
        "metadata": {"labels": marks.workload_labels(), "annotations": annotations},
        "spec": pod,
    }


def _pod(marks: AgentMarks, spec: AgentSpec, surroundings: Surroundings) -> KubeObject:
    added = _added_volumes(spec)
    agent = render_container(marks, spec, surroundings)
    agent["volumeMounts"] = [
        *agent["volumeMounts"],
        *(mount for mount, _ in added),
        *skill_mounts(spec),
    ]
    pod: KubeObject = {
        "automountServiceAccountToken": spec.security.automount_token,
        "containers": [agent, *(declared_container(each, spec) for each in spec.sidecars)],
        "enableServiceLinks": False,
        "securityContext": pod_security_context(spec),
        "serviceAccountName": service_account_name(marks, spec.security),
        "terminationGracePeriodSeconds": spec.grace_seconds,
        "volumes": [
            *render_volumes(marks, spec, surroundings),
            *(volume for _, volume in added),
            *skill_volumes(spec),
            *vault_volumes(spec),
        ],
    }
    optional = {
        "affinity": spec.affinity,
        "imagePullSecrets": [{"name": each.name} for each in spec.image_pull_secrets],
        "initContainers": _init_containers(marks, spec, agent, surroundings),
        "nodeSelector": spec.node_selector,
        "priorityClassName": spec.priority_class_name,
        "runtimeClassName": spec.runtime_class_name,
        "tolerations": list(spec.tolerations),
        "topologySpreadConstraints": _spread(marks, spec),
    }
    return pod | {key: value for key, value in optional.items() if value}


def _init_containers(
    marks: AgentMarks, spec: AgentSpec, agent: KubeObject, surroundings: Surroundings
) -> list[KubeObject]:
    """What starts before the agent, in this order; sidecars run on."""
    return [
        *typed_sidecars(marks, spec, surroundings),
        *waiting_containers(marks, spec, surroundings),
        *(each for each in [restore_container(spec)] if each),
        *skill_containers(spec, surroundings),
        *render_prestart(spec, agent, surroundings),
        *(declared_container(each, spec) for each in spec.init_containers),
    ]


def _added_volumes(spec: AgentSpec) -> list[tuple[KubeObject, KubeObject]]:
    """Volumes that live as long as the pod: mount in the agent's container, and volume."""
    added = list(fetch_folders(spec))
    if spec.telemetry.logs.shipper == "sidecar":
        added.append((dict(LOG_MOUNT), dict(LOG_VOLUME)))
    if spec.lifecycle.leader_election and not spec.security.automount_token:
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


def _spread(marks: AgentMarks, spec: AgentSpec) -> list[KubeObject]:
    if spec.topology_spread_constraints is not None:
        return list(spec.topology_spread_constraints)
    if spec.scaling.most_replicas <= 1:
        return []
    return [
        {
            "maxSkew": 1,
            "topologyKey": "topology.kubernetes.io/zone",
            "whenUnsatisfiable": "ScheduleAnyway",
            "labelSelector": {"matchLabels": marks.selector()},
        }
    ]
