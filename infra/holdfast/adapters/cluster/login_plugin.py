"""Credentials from a login plugin (`exec` in a kubeconfig), as EKS, GKE and AKS use them.

Source: Kubernetes documentation, "Authenticating", section "client-go credential plugins".
"""

import os
import subprocess
from collections.abc import Mapping
from pathlib import Path
from typing import Any, Final

import msgspec

from holdfast.errors import LoginError

TIMEOUT_SECONDS: Final = 60.0
"""A plugin may ask a service for a token; one that waits for a person is ended."""
_VERSIONS: Final = tuple(f"client.authentication.k8s.io/{v}" for v in ("v1", "v1beta1"))


def plugin_credentials(
    plugin: Mapping[str, Any], file: Path, cluster: Mapping[str, Any], context: str
) -> dict[str, str]:
    """Token or certificate that a plugin returns.

    Args:
        plugin: The entry `exec` of a user.
        file: Its kubeconfig: a command that is a relative path is relative to its folder.
        cluster: The context's cluster, for plugins that ask for it.
        context: Name of the context, for messages.

    Raises:
        LoginError: the plugin is missing, failed or gave nothing. Its output is never shown.
    """
    version = str(plugin.get("apiVersion") or _VERSIONS[0])
    if version not in _VERSIONS:
        raise LoginError(
            f"the login plugin of context {context!r} has version {version!r}",
            remedy=f"use a plugin of version {_VERSIONS[0]}",
        )
    answer = _answer(plugin, version, file, cluster, context)
    status = answer.get("status")
    status = status if isinstance(status, Mapping) else {}
    given = {
        "token": str(status.get("token") or ""),
        "certificate": str(status.get("clientCertificateData") or ""),
        "key": str(status.get("clientKeyData") or ""),
    }
    if answer.get("apiVersion") != version or not (given["token"] or given["certificate"]):
        raise _failed(context)
    return given


def _answer(
    plugin: Mapping[str, Any],
    version: str,
    file: Path,
    cluster: Mapping[str, Any],
    context: str,
) -> dict[str, Any]:
    command = str(plugin.get("command") or "")
    if os.sep in command and not Path(command).is_absolute():
        command = str(file.absolute().parent / command)
    spec: dict[str, Any] = {"interactive": False}
    if plugin.get("provideClusterInfo"):
        spec["cluster"] = {key: value for key, value in cluster.items() if key}
    asked = {"apiVersion": version, "kind": "ExecCredential", "spec": spec}
    variables = {
        str(each.get("name")): str(each.get("value") or "") for each in plugin.get("env") or ()
    }
    variables["KUBERNETES_EXEC_INFO"] = msgspec.json.encode(asked).decode()
    try:
        done = subprocess.run(
            [command, *map(str, plugin.get("args") or ())],
            env=os.environ | variables,
            stdin=subprocess.DEVNULL,
            capture_output=True,
            check=True,
            timeout=TIMEOUT_SECONDS,
        )
        answer = msgspec.json.decode(done.stdout)
    except (OSError, ValueError, subprocess.SubprocessError, msgspec.DecodeError) as error:
        raise _failed(context) from error
    return answer if isinstance(answer, dict) else {}


def _failed(context: str) -> LoginError:
    return LoginError(
        f"the login plugin of context {context!r} gave no credentials",
        remedy="run `kubectl get --raw /version` with this context to see what it says",
    )
