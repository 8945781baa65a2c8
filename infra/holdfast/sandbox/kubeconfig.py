"""Kubeconfigs of people and programs, with their certificates inside.

Written as JSON, which every reader of YAML reads.
"""

import base64
import json
from typing import Any

from holdfast.adapters.files.atomic_write import write_private_file
from holdfast.sandbox.paths import LOOPBACK, SandboxPaths


def api_address(port: int) -> str:
    """The URL of a sandbox's API server."""
    return f"https://{LOOPBACK}:{port}"


def write_kubeconfig(place: SandboxPaths, client: str, port: int) -> None:
    """Write a client's kubeconfig from the certificates that lie in the sandbox's folder."""
    content = json.dumps(kubeconfig(place, client, port), indent=2)
    write_private_file(place.kubeconfig(client), f"{content}\n".encode())


def kubeconfig(place: SandboxPaths, client: str, port: int) -> dict[str, Any]:
    """A kubeconfig whose only context is the sandbox's, used by `client`."""

    def embedded(name: str) -> str:
        return base64.b64encode((place.certificates / name).read_bytes()).decode()

    user = f"{place.context}-{client}"
    cluster = {
        "server": api_address(port),
        "certificate-authority-data": embedded("ca.crt"),
    }
    credentials = {
        "client-certificate-data": embedded(f"{client}.crt"),
        "client-key-data": embedded(f"{client}.key"),
    }
    return {
        "apiVersion": "v1",
        "kind": "Config",
        "current-context": place.context,
        "clusters": [{"name": place.context, "cluster": cluster}],
        "users": [{"name": user, "user": credentials}],
        "contexts": [{"name": place.context, "context": {"cluster": place.context, "user": user}}],
    }
