"""How the volumes of an agent are filled from a backup of its own making."""

from holdfast.kube.objects import KubeObject
from holdfast.manifest.agent.agent import AgentSpec
from holdfast.render.objects.backup_pods import BACKUP_RESOURCES
from holdfast.render.objects.storage import volume_name
from holdfast.render.pod.container import security_context
from holdfast.render.pod.environment import render_declared_env


def restore_container(spec: AgentSpec) -> KubeObject | None:
    """Init container that fills new volumes from a backup of method Job; once, not at every start.

    A marker in each volume says that it is filled.
    """
    backup = spec.backup
    if backup is None or backup.method != "Job" or spec.restore_from is None:
        return None
    script = (
        'for folder in $RESTORE_FOLDERS; do [ -e "$folder/.restored-$RESTORE_FROM" ] && exit 0; '
        'done; "$@"; '
        'for folder in $RESTORE_FOLDERS; do : > "$folder/.restored-$RESTORE_FROM"; done'
    )
    volumes = [volume for volume in spec.storage if volume.name in spec.restored]
    variables = {
        "RESTORE_FROM": next(iter(spec.restored.values())),
        "RESTORE_FOLDERS": " ".join(volume.mount_path for volume in volumes),
    }
    own = [{"name": name, "value": value} for name, value in sorted(variables.items())]
    return {
        "name": "restore",
        "image": backup.image,
        "imagePullPolicy": "IfNotPresent",
        "command": ["/bin/sh", "-ec", script, "restore", *backup.restore_command],
        "env": [*own, *render_declared_env(backup.env)],
        "resources": BACKUP_RESOURCES,
        "securityContext": security_context(spec),
        "volumeMounts": [
            {"name": volume_name(volume), "mountPath": volume.mount_path} for volume in volumes
        ],
    }
