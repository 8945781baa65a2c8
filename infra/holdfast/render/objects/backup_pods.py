"""Who makes the backups of an agent: the account, its rights and network, and the pod.

Snapshots are taken by a script with an account of its own; a backup of method Job runs the user's
container as the agent itself, beside the agent's pods, with the agent's egress.
"""

from dataclasses import dataclass

from holdfast.kube.objects import KubeObject
from holdfast.kube.rbac import role_and_binding, service_account_subject
from holdfast.manifest.agent.agent import AgentSpec
from holdfast.manifest.agent.backup import Backup
from holdfast.manifest.types.marks import AGENT_LABEL, BACKUP_OF
from holdfast.render.objects.identity import service_account_name
from holdfast.render.objects.network import (
    api_server_policy,
    api_server_rules,
    dns_rule,
    domain_policy,
    egress_rules,
    reached_hosts,
)
from holdfast.render.objects.snapshot_script import ACCOUNT_FOLDER, snapshot_script
from holdfast.render.objects.storage import claim_name, volume_name
from holdfast.render.plan.metadata import AgentMetadata, RenderedObject
from holdfast.render.plan.render_context import RenderContext
from holdfast.render.pod.container import (
    pod_security_context,
    security_context,
    temporary_mounts,
)
from holdfast.render.pod.environment import render_declared_env, render_proxy

SUFFIX = "backup"
LONGEST_SECONDS = 3600
BACKUP_RESOURCES = {
    "requests": {"cpu": "50m", "memory": "64Mi", "ephemeral-storage": "64Mi"},
    "limits": {"cpu": "500m", "memory": "512Mi", "ephemeral-storage": "1Gi"},
}
BACKUP_TEMPORARY_SIZE = BACKUP_RESOURCES["limits"]["ephemeral-storage"]


@dataclass(frozen=True)
class BackupRunner:
    """Who runs an agent's backups.

    Attributes:
        objects: Account, rights and network policies.
        pod: Spec of the pod.
    """

    meta: AgentMetadata
    backup: Backup
    objects: tuple[RenderedObject, ...]
    pod: KubeObject

    def job(self) -> KubeObject:
        """Spec of a Job that makes one backup."""
        labels = pod_labels(self.meta)
        return {
            "activeDeadlineSeconds": LONGEST_SECONDS,
            "backoffLimit": 2,
            "template": {"metadata": {"labels": labels}, "spec": self.pod},
        }


def snapshot_runner(meta: AgentMetadata, spec: AgentSpec, context: RenderContext) -> BackupRunner:
    """Runs the script that takes snapshots.

    Raises:
        RenderError: the stack does not offer what snapshots take.
    """
    assert spec.storage.backup is not None  # noqa: S101 - the caller asked for it
    context.require_all(meta.name, spec, ("storage", "backup"))
    settings = context.environment.backups
    claims = [claim_name(meta, volume) for volume in spec.storage.volumes]
    script = snapshot_script(
        meta.name,
        meta.namespace,
        claims,
        spec.storage.backup.retention_days,
        settings.snapshot_class_name,
    )
    container = _container(spec, settings.image, ["/bin/sh", "-ec", script])
    # A token of its own with an end, in place of the one that every pod would get.
    container["volumeMounts"] += [
        {"name": "account", "mountPath": ACCOUNT_FOLDER, "readOnly": True}
    ]
    pod = _pod(meta, spec, _name(meta), [container])
    pod["volumes"] += [_account_volume()]
    rules = [
        {
            "apiGroups": ["snapshot.storage.k8s.io"],
            "resources": ["volumesnapshots"],
            "verbs": ["create", "get", "list", "deletecollection"],
        },
        {
            "apiGroups": [""],
            "resources": ["persistentvolumeclaims"],
            "resourceNames": claims,
            "verbs": ["get"],
        },
    ]
    egress = [dns_rule(context), *api_server_rules(context)]
    policies = (_policy(meta, egress), *api_server_policy(meta, context, SUFFIX))
    objects = (*_account(meta, rules), *policies)
    return BackupRunner(meta, spec.storage.backup, objects, pod)


def job_runner(meta: AgentMetadata, spec: AgentSpec, context: RenderContext) -> BackupRunner:
    """Runs the container that the manifest names."""
    assert spec.storage.backup is not None  # noqa: S101 - the caller asked for it
    variables = {
        "BACKUP_AGENT": meta.name,
        "BACKUP_FOLDERS": " ".join(volume.mount_path for volume in spec.storage.volumes),
        "BACKUP_RETENTION_DAYS": str(spec.storage.backup.retention_days),
    } | render_proxy(spec, context)
    container = _container(spec, spec.storage.backup.image, list(spec.storage.backup.command))
    own = [{"name": name, "value": value} for name, value in sorted(variables.items())]
    container["env"] = [*own, *render_declared_env(spec.storage.backup.env)]
    container["volumeMounts"] += [
        {"name": volume_name(volume), "mountPath": volume.mount_path, "readOnly": True}
        for volume in spec.storage.volumes
    ]
    pod = _pod(meta, spec, service_account_name(meta, spec.pod.security), [container])
    pod["volumes"] += [
        {
            "name": volume_name(volume),
            "persistentVolumeClaim": {"claimName": claim_name(meta, volume)},
        }
        for volume in spec.storage.volumes
    ]
    # A claim of one node can be mounted beside the agent's pod only.
    beside = {"labelSelector": {"matchLabels": meta.selector()}}
    term = {"weight": 100, "podAffinityTerm": beside | {"topologyKey": "kubernetes.io/hostname"}}
    pod["affinity"] = {"podAffinity": {"preferredDuringSchedulingIgnoredDuringExecution": [term]}}
    hosts = reached_hosts(meta, spec, context)
    policy = _policy(meta, egress_rules(meta, spec, context, hosts))
    objects = (policy, *domain_policy(meta, spec, context, hosts, SUFFIX))
    return BackupRunner(meta, spec.storage.backup, objects, pod)


def pod_labels(meta: AgentMetadata) -> dict[str, str]:
    """Labels of the pods: neither the agent's Service nor its network rules are theirs."""
    labels = meta.object_labels() | {"app.kubernetes.io/name": _name(meta), BACKUP_OF: meta.name}
    return {name: value for name, value in labels.items() if name != AGENT_LABEL}


def _name(meta: AgentMetadata) -> str:
    return f"{meta.name}-{SUFFIX}"


def _container(spec: AgentSpec, image: str | None, command: list[str]) -> KubeObject:
    return {
        "name": SUFFIX,
        "image": image,
        "imagePullPolicy": "IfNotPresent",
        "command": command,
        "resources": BACKUP_RESOURCES,
        "securityContext": security_context(spec),
        "terminationMessagePolicy": "FallbackToLogsOnError",
        "volumeMounts": temporary_mounts(spec),
    }


def _pod(
    meta: AgentMetadata, spec: AgentSpec, account: str, containers: list[KubeObject]
) -> KubeObject:
    pod: KubeObject = {
        "automountServiceAccountToken": False,
        "containers": containers,
        "enableServiceLinks": False,
        "restartPolicy": "Never",
        "securityContext": pod_security_context(spec),
        "serviceAccountName": account,
        "volumes": [
            {"name": mount["name"], "emptyDir": {"sizeLimit": BACKUP_TEMPORARY_SIZE}}
            for mount in temporary_mounts(spec)
        ],
    }
    if spec.pod.image_pull_secrets:
        pod["imagePullSecrets"] = [{"name": each.name} for each in spec.pod.image_pull_secrets]
    return pod


def _account_volume() -> KubeObject:
    sources: list[KubeObject] = [
        {"serviceAccountToken": {"path": "token", "expirationSeconds": LONGEST_SECONDS}},
        {"configMap": {"name": "kube-root-ca.crt", "items": [{"key": "ca.crt", "path": "ca.crt"}]}},
    ]
    return {"name": "account", "projected": {"sources": sources}}


def _account(meta: AgentMetadata, rules: list[KubeObject]) -> list[RenderedObject]:
    metadata = meta.metadata(SUFFIX)
    account: KubeObject = {
        "apiVersion": "v1",
        "kind": "ServiceAccount",
        "metadata": metadata,
        "automountServiceAccountToken": False,
    }
    subject = service_account_subject(meta.namespace, _name(meta))
    role, binding = role_and_binding(metadata, rules, subject)
    return [
        RenderedObject(meta.name, "backup-account", account),
        RenderedObject(meta.name, "backup-role", role),
        RenderedObject(meta.name, "backup-rolebinding", binding),
    ]


def _policy(meta: AgentMetadata, egress: list[KubeObject]) -> RenderedObject:
    labels = meta.selector() | {"app.kubernetes.io/name": _name(meta)}
    manifest: KubeObject = {
        "apiVersion": "networking.k8s.io/v1",
        "kind": "NetworkPolicy",
        "metadata": meta.metadata(SUFFIX),
        "spec": {
            "podSelector": {"matchLabels": labels},
            "policyTypes": ["Ingress", "Egress"],
        }
        # An absent list denies; an empty one would vanish in the provider's normalisation.
        | ({"egress": egress} if egress else {}),
    }
    return RenderedObject(meta.name, "backup-networkpolicy", manifest)
