"""Who makes the backups of an agent: the account, its rights and network, and the pod.

Snapshots are taken by a script with an account of its own; a backup of method Job runs the user's
container as the agent itself, beside the agent's pods, with the agent's egress.
"""

from dataclasses import dataclass

from holdfast.kube.objects import KubeObject
from holdfast.kube.rbac import role_and_binding, service_account_subject
from holdfast.manifest.agent.agent import AgentSpec
from holdfast.manifest.agent.backup import Backup
from holdfast.manifest.types.agent_label import AGENT_LABEL
from holdfast.render.objects.identity import service_account_name
from holdfast.render.objects.network import dns_rule, domain_policy, egress_rules
from holdfast.render.objects.snapshot_script import ACCOUNT_FOLDER, snapshot_script
from holdfast.render.objects.storage import claim_name, volume_name
from holdfast.render.plan.marks import AgentMarks, RenderedObject
from holdfast.render.plan.surroundings import Surroundings
from holdfast.render.pod.container import pod_security_context, security_context
from holdfast.render.pod.environment import render_declared_env, render_proxy

SUFFIX = "backup"
BACKUP_OF = "holdfast.dev/backup-of"
LONGEST_SECONDS = 3600
BACKUP_RESOURCES = {
    "requests": {"cpu": "50m", "memory": "64Mi", "ephemeral-storage": "64Mi"},
    "limits": {"cpu": "500m", "memory": "512Mi", "ephemeral-storage": "1Gi"},
}


@dataclass(frozen=True)
class BackupRunner:
    """Who runs an agent's backups.

    Attributes:
        objects: Account, rights and network policies.
        pod: Spec of the pod.
    """

    marks: AgentMarks
    backup: Backup
    objects: tuple[RenderedObject, ...]
    pod: KubeObject

    def job(self) -> KubeObject:
        """Spec of a Job that makes one backup."""
        labels = pod_labels(self.marks)
        return {
            "activeDeadlineSeconds": LONGEST_SECONDS,
            "backoffLimit": 2,
            "template": {"metadata": {"labels": labels}, "spec": self.pod},
        }


def snapshot_runner(marks: AgentMarks, spec: AgentSpec, surroundings: Surroundings) -> BackupRunner:
    """Runs the script that takes snapshots.

    Raises:
        RenderError: the stack does not offer what snapshots take.
    """
    assert spec.backup is not None  # noqa: S101 - the caller asked for it
    surroundings.require_all(marks.name, spec, ("backup",))
    settings = surroundings.environment.backups
    claims = [claim_name(marks, volume) for volume in spec.storage]
    script = snapshot_script(
        marks.name,
        marks.namespace,
        claims,
        spec.backup.retention_days,
        settings.snapshot_class_name,
    )
    container = _container(spec, settings.image, ["/bin/sh", "-ec", script])
    # A token of its own with an end, in place of the one that every pod would get.
    container["volumeMounts"] = [{"name": "account", "mountPath": ACCOUNT_FOLDER, "readOnly": True}]
    pod = _pod(marks, spec, _name(marks), [container]) | {"volumes": [_account_volume()]}
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
    endpoints = [{"ipBlock": {"cidr": cidr}} for cidr in settings.api_server_cidrs]
    port = {"port": settings.api_server_port, "protocol": "TCP"}
    egress = [dns_rule(surroundings), {"to": endpoints, "ports": [port]}]
    objects = (*_account(marks, rules), _policy(marks, egress))
    return BackupRunner(marks, spec.backup, objects, pod)


def job_runner(marks: AgentMarks, spec: AgentSpec, surroundings: Surroundings) -> BackupRunner:
    """Runs the container that the manifest names."""
    assert spec.backup is not None  # noqa: S101 - the caller asked for it
    variables = {
        "BACKUP_AGENT": marks.name,
        "BACKUP_FOLDERS": " ".join(volume.mount_path for volume in spec.storage),
        "BACKUP_RETENTION_DAYS": str(spec.backup.retention_days),
    } | render_proxy(spec, surroundings)
    container = _container(spec, spec.backup.image, list(spec.backup.command))
    own = [{"name": name, "value": value} for name, value in sorted(variables.items())]
    container["env"] = [*own, *render_declared_env(spec.backup.env)]
    container["volumeMounts"] = [
        {"name": volume_name(volume), "mountPath": volume.mount_path, "readOnly": True}
        for volume in spec.storage
    ]
    pod = _pod(marks, spec, service_account_name(marks, spec.security), [container])
    pod["volumes"] = [
        {
            "name": volume_name(volume),
            "persistentVolumeClaim": {"claimName": claim_name(marks, volume)},
        }
        for volume in spec.storage
    ]
    # A claim of one node can be mounted beside the agent's pod only.
    beside = {"labelSelector": {"matchLabels": marks.selector()}}
    term = {"weight": 100, "podAffinityTerm": beside | {"topologyKey": "kubernetes.io/hostname"}}
    pod["affinity"] = {"podAffinity": {"preferredDuringSchedulingIgnoredDuringExecution": [term]}}
    policy = _policy(marks, egress_rules(marks, spec, surroundings))
    objects = (policy, *domain_policy(marks, spec, surroundings, SUFFIX))
    return BackupRunner(marks, spec.backup, objects, pod)


def pod_labels(marks: AgentMarks) -> dict[str, str]:
    """Labels of the pods: neither the agent's Service nor its network rules are theirs."""
    labels = marks.object_labels() | {"app.kubernetes.io/name": _name(marks), BACKUP_OF: marks.name}
    return {name: value for name, value in labels.items() if name != AGENT_LABEL}


def _name(marks: AgentMarks) -> str:
    return f"{marks.name}-{SUFFIX}"


def _container(spec: AgentSpec, image: str | None, command: list[str]) -> KubeObject:
    return {
        "name": SUFFIX,
        "image": image,
        "imagePullPolicy": "IfNotPresent",
        "command": command,
        "resources": BACKUP_RESOURCES,
        "securityContext": security_context(spec),
    }


def _pod(
    marks: AgentMarks, spec: AgentSpec, account: str, containers: list[KubeObject]
) -> KubeObject:
    pod: KubeObject = {
        "automountServiceAccountToken": False,
        "containers": containers,
        "enableServiceLinks": False,
        "restartPolicy": "Never",
        "securityContext": pod_security_context(spec),
        "serviceAccountName": account,
    }
    if spec.image_pull_secrets:
        pod["imagePullSecrets"] = [{"name": each.name} for each in spec.image_pull_secrets]
    return pod


def _account_volume() -> KubeObject:
    sources: list[KubeObject] = [
        {"serviceAccountToken": {"path": "token", "expirationSeconds": LONGEST_SECONDS}},
        {"configMap": {"name": "kube-root-ca.crt", "items": [{"key": "ca.crt", "path": "ca.crt"}]}},
    ]
    return {"name": "account", "projected": {"sources": sources}}


def _account(marks: AgentMarks, rules: list[KubeObject]) -> list[RenderedObject]:
    metadata = marks.metadata(SUFFIX)
    account: KubeObject = {
        "apiVersion": "v1",
        "kind": "ServiceAccount",
        "metadata": metadata,
        "automountServiceAccountToken": False,
    }
    subject = service_account_subject(marks.namespace, _name(marks))
    role, binding = role_and_binding(metadata, rules, subject)
    return [
        RenderedObject(marks.name, "backup-account", account),
        RenderedObject(marks.name, "backup-role", role),
        RenderedObject(marks.name, "backup-rolebinding", binding),
    ]


def _policy(marks: AgentMarks, egress: list[KubeObject]) -> RenderedObject:
    labels = marks.selector() | {"app.kubernetes.io/name": _name(marks)}
    manifest: KubeObject = {
        "apiVersion": "networking.k8s.io/v1",
        "kind": "NetworkPolicy",
        "metadata": marks.metadata(SUFFIX),
        "spec": {
            "podSelector": {"matchLabels": labels},
            "policyTypes": ["Ingress", "Egress"],
        }
        # An absent list denies; an empty one would vanish in the provider's normalisation.
        | ({"egress": egress} if egress else {}),
    }
    return RenderedObject(marks.name, "backup-networkpolicy", manifest)
