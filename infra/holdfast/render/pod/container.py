"""The agent's container: ports, probes, hooks, mounts and security context.

What is declared is what refresh and scan can hold: defaults that matter are never left to the
server.
"""

from holdfast.kube.objects import KubeObject
from holdfast.manifest.agent.agent import AgentSpec
from holdfast.render.objects.secrets import CSI_FOLDER, csi_volume, secret_name, way_of
from holdfast.render.objects.storage import claim_name, volume_name
from holdfast.render.plan.metadata import AgentMetadata
from holdfast.render.plan.models import model_mounts
from holdfast.render.plan.render_context import RenderContext
from holdfast.render.pod.environment import render_env, render_env_from
from holdfast.render.pod.health import render_pre_stop, render_probes
from holdfast.render.pod.settings import Configuration, mounted_configs

CONTAINER = "agent"
TEMPORARY_FOLDER = "/tmp"  # noqa: S108 - the container's own, an emptyDir
TEMPORARY_MOUNT = {"name": "tmp", "mountPath": TEMPORARY_FOLDER}


def temporary_mounts(spec: AgentSpec) -> list[KubeObject]:
    """The mount of /tmp of a container beside the agent's; none where its root is writable."""
    return [dict(TEMPORARY_MOUNT)] if spec.pod.security.read_only_root_filesystem else []


def render_container(
    meta: AgentMetadata, spec: AgentSpec, context: RenderContext, configuration: Configuration
) -> KubeObject:
    """The container called `agent`."""
    requests, limits = spec.container.resources.effective()
    container: KubeObject = {
        "name": CONTAINER,
        "image": spec.image or context.image("runtime"),
        "imagePullPolicy": "IfNotPresent",
        "env": render_env(meta, spec, context),
        "resources": {"requests": requests, "limits": limits},
        "securityContext": security_context(spec),
        "terminationMessagePolicy": "FallbackToLogsOnError",
        "volumeMounts": [mount for mount, _ in _mounts(meta, spec, context, configuration)],
    }
    if spec.is_called:
        container |= _service_side(spec)
    optional = {
        "command": list(spec.container.command),
        "args": list(spec.container.args),
        "workingDir": spec.container.working_dir,
        "envFrom": render_env_from(spec),
    }
    return container | {key: value for key, value in optional.items() if value}


def render_volumes(
    meta: AgentMetadata, spec: AgentSpec, context: RenderContext, configuration: Configuration
) -> list[KubeObject]:
    """The volumes behind the container's mounts; a pool gives each of its pods its own claims."""
    volumes = [volume for _, volume in _mounts(meta, spec, context, configuration)]
    if spec.is_pooled:
        return [volume for volume in volumes if "persistentVolumeClaim" not in volume]
    return volumes


def container_ports(spec: AgentSpec) -> list[KubeObject]:
    """Exposed port, metrics port and the declared ones; none of an agent that nobody calls."""
    if not spec.is_called:
        return []
    ports: list[KubeObject] = [_port("http", spec.network.expose.port)]
    metrics = spec.telemetry.metrics
    if metrics.enabled:
        ports.append(_port("metrics", metrics.port))
    return ports + [
        _port(port.name, port.container_port, port.protocol) for port in spec.container.ports
    ]


def security_context(spec: AgentSpec) -> KubeObject:
    """Security context of every container: restricted, then what the manifest says."""
    defaults: KubeObject = {
        "allowPrivilegeEscalation": False,
        "capabilities": {"drop": ["ALL"]},
        "privileged": False,
        "readOnlyRootFilesystem": spec.pod.security.read_only_root_filesystem,
        "runAsNonRoot": True,
        "seccompProfile": {"type": "RuntimeDefault"},
    }
    return defaults | spec.pod.security.security_context


def pod_security_context(spec: AgentSpec) -> KubeObject:
    """Security context of the pod: restricted, then what the manifest says."""
    defaults: KubeObject = {
        "fsGroup": 65532,
        # Else the kubelet walks through a whole volume at every start.
        "fsGroupChangePolicy": "OnRootMismatch",
        "runAsNonRoot": True,
        "seccompProfile": {"type": "RuntimeDefault"},
    }
    return defaults | spec.pod.security.pod_security_context


def _service_side(spec: AgentSpec) -> KubeObject:
    """What a container has because somebody calls it."""
    return {
        "ports": container_ports(spec),
        "lifecycle": {"preStop": render_pre_stop(spec.container.lifecycle.pre_stop, spec)},
        **render_probes(spec),
    }


def _port(name: str, port: int, protocol: str = "TCP") -> KubeObject:
    return {"name": name, "containerPort": port, "protocol": protocol}


def _mounts(
    meta: AgentMetadata, spec: AgentSpec, context: RenderContext, configuration: Configuration
) -> list[tuple[KubeObject, KubeObject]]:
    """Pairs of a mount in the container and the pod's volume behind it."""
    pairs: list[tuple[KubeObject, KubeObject]] = []
    for config in mounted_configs(spec, configuration.names):
        volume = {"name": config.volume, "configMap": {"name": config.config_map}}
        pairs.append((_read_only(config.volume, config.folder), volume))
    for secret in spec.secrets:
        name = f"secret-{secret.name}"
        way = way_of(secret, context.environment)
        if way == "csi":
            # Also for a variable: the driver fills the Secret while the volume is mounted.
            folder = secret.mount_path or f"{CSI_FOLDER}/{secret.name}"
            pairs.append((_read_only(name, folder), {"name": name} | csi_volume(meta, secret)))
        elif secret.mount_path and way != "vault":
            volume = _secret(name, secret_name(meta, secret), secret.key)
            pairs.append((_read_only(name, secret.mount_path), volume))
    pairs += model_mounts(meta, spec, context)
    for claim in spec.storage.volumes:
        name = volume_name(claim)
        volume = {"name": name, "persistentVolumeClaim": {"claimName": claim_name(meta, claim)}}
        pairs.append(({"name": name, "mountPath": claim.mount_path}, volume))
    if spec.pod.security.read_only_root_filesystem:
        volume = {"name": "tmp", "emptyDir": {"sizeLimit": spec.container.tmp.size}}
        pairs.append((dict(TEMPORARY_MOUNT), volume))
    return pairs


def _read_only(volume: str, folder: str) -> KubeObject:
    return {"name": volume, "mountPath": folder, "readOnly": True}


def _secret(volume: str, secret: str, key: str | None) -> KubeObject:
    source: KubeObject = {"secretName": secret}
    if key:
        source["items"] = [{"key": key, "path": key}]
    return {"name": volume, "secret": source}
