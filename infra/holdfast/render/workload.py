"""The Deployment of an agent."""

from holdfast.kube.objects import KubeObject
from holdfast.manifest.agent import AgentSpec
from holdfast.render.container import pod_security_context, render_container, render_volumes
from holdfast.render.identity import service_account_name
from holdfast.render.marks import AgentMarks, RenderedObject
from holdfast.render.restore import restore_container
from holdfast.render.secrets import vault_annotations, vault_volumes
from holdfast.render.surroundings import Surroundings

CONFIG_HASH = "holdfast.dev/config-hash"


def render_workload(
    marks: AgentMarks, spec: AgentSpec, surroundings: Surroundings, config_hash: str
) -> list[RenderedObject]:
    """The Deployment; its pods roll when `config_hash` changes.

    An autoscaler owns the number of replicas: with a range, none is rendered.
    """
    deployment: KubeObject = {
        "progressDeadlineSeconds": spec.rollout.progress_deadline_seconds,
        "revisionHistoryLimit": 10,
        "selector": {"matchLabels": marks.selector()},
        "strategy": _strategy(spec),
        "template": pod_template(marks, spec, surroundings, config_hash),
    }
    if not spec.scaling.is_automatic:
        deployment["replicas"] = spec.scaling.most_replicas
    deadline = {"pulumi.com/timeoutSeconds": str(spec.rollout.progress_deadline_seconds)}
    manifest: KubeObject = {
        "apiVersion": "apps/v1",
        "kind": "Deployment",
        "metadata": marks.metadata(annotations=deadline),
        "spec": deployment,
    }
    return [RenderedObject(marks.name, "deployment", manifest)]


def pod_template(
    marks: AgentMarks, spec: AgentSpec, surroundings: Surroundings, config_hash: str
) -> KubeObject:
    """The pods of an agent, whatever runs them: metadata and spec."""
    return {
        "metadata": {
            "labels": marks.object_labels(),
            "annotations": dict(marks.annotations)
            | vault_annotations(spec, surroundings)
            | {CONFIG_HASH: config_hash},
        },
        "spec": _pod(marks, spec, surroundings),
    }


def _strategy(spec: AgentSpec) -> KubeObject:
    single_writer = any(volume.is_single_writer for volume in spec.storage)
    if single_writer or spec.rollout.strategy == "Recreate":
        # Two pods cannot hold a single-writer claim, not even during an update.
        return {"type": "Recreate"}
    surge = {"maxSurge": spec.rollout.max_surge, "maxUnavailable": spec.rollout.max_unavailable}
    return {"type": "RollingUpdate", "rollingUpdate": surge}


def _pod(marks: AgentMarks, spec: AgentSpec, surroundings: Surroundings) -> KubeObject:
    pod: KubeObject = {
        "automountServiceAccountToken": spec.security.automount_token,
        "containers": [render_container(marks, spec, surroundings)],
        "enableServiceLinks": False,
        "securityContext": pod_security_context(spec),
        "serviceAccountName": service_account_name(marks, spec.security),
        "terminationGracePeriodSeconds": spec.grace_seconds,
        "volumes": [*render_volumes(marks, spec, surroundings), *vault_volumes(spec)],
    }
    optional = {
        "affinity": spec.affinity,
        "imagePullSecrets": [{"name": name} for name in spec.image_pull_secrets],
        "nodeSelector": spec.node_selector,
        "priorityClassName": spec.priority_class_name,
        "runtimeClassName": spec.runtime_class_name,
        "tolerations": list(spec.tolerations),
        "topologySpreadConstraints": _spread(marks, spec),
        "initContainers": [each for each in [restore_container(spec)] if each],
    }
    return pod | {key: value for key, value in optional.items() if value}


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
