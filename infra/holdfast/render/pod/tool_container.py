"""Containers that Holdfast adds to a pod: small, restricted, and asking for all they may use."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Final

from holdfast.kube.objects import KubeObject
from holdfast.manifest.agent.agent import AgentSpec
from holdfast.render.pod.container import TEMPORARY_MOUNT, security_context

SMALL: Final = {"cpu": "100m", "memory": "128Mi", "ephemeral-storage": "128Mi"}
"""Requests and limits: equal, so that a pod's class of service is its agent's own."""

NON_ROOT_USER: Final = 65532


@dataclass(frozen=True)
class Script:
    """One of `tool_scripts` with its parameters, which are taken literally."""

    text: str
    variables: Mapping[str, str]


def added_container(
    name: str,
    image: str,
    spec: AgentSpec,
    *,
    env: Sequence[KubeObject] = (),
    mounts: Sequence[KubeObject] = (),
) -> KubeObject:
    """A container of Holdfast's own, with limits and the agent's security context.

    Its user is written out: an image with a user by name would not start under runAsNonRoot.
    """
    mounted = [*mounts, *([TEMPORARY_MOUNT] if spec.pod.security.read_only_root_filesystem else [])]
    container: KubeObject = {
        "name": name,
        "image": image,
        "imagePullPolicy": "IfNotPresent",
        "resources": {"requests": dict(SMALL), "limits": dict(SMALL)},
        "securityContext": {"runAsUser": NON_ROOT_USER} | security_context(spec),
        "terminationMessagePolicy": "FallbackToLogsOnError",
    }
    optional = {"env": sorted(env, key=lambda entry: str(entry["name"])), "volumeMounts": mounted}
    return container | {key: value for key, value in optional.items() if value}


def script_container(
    name: str,
    image: str,
    spec: AgentSpec,
    script: Script,
    *,
    env: Sequence[KubeObject] = (),
    mounts: Sequence[KubeObject] = (),
) -> KubeObject:
    """A container of the stack's tool image that runs a script.

    Args:
        name: Name of the container.
        image: The tool image.
        spec: The agent beside it.
        script: What to run.
        env: Further variables, such as those of a proxy.
        mounts: Volumes it needs.
    """
    own = [{"name": key, "value": _literal(value)} for key, value in script.variables.items()]
    container = added_container(name, image, spec, env=[*own, *env], mounts=mounts)
    return container | {"command": ["/bin/sh", "-c", _literal(script.text)]}


def _literal(text: str) -> str:
    """Text in which Kubernetes expands nothing: it reads `$$` as one `$`."""
    return text.replace("$", "$$")
