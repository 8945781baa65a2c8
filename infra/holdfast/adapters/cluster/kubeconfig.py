"""Where the API server is and with which credentials, from a kubeconfig or from inside a pod.

Certificates and tokens are read here in a few milliseconds; an `auth-provider` is left to the
official client, which is an extra and whose import alone costs a third of a scan.

Source: Kubernetes documentation, "Organizing Cluster Access Using kubeconfig Files".
"""

import base64
import binascii
import os
import ssl
import tempfile
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Final
from urllib.parse import urlsplit

from holdfast.adapters.cluster.login_plugin import plugin_credentials
from holdfast.errors import InputError
from holdfast.manifest.text.kube_files import read_data

_POD_FOLDER: Final = Path("/var/run/secrets/kubernetes.io/serviceaccount")
_LOOPBACK: Final = frozenset({"localhost", "127.0.0.1", "::1"})


@dataclass(frozen=True)
class Connection:
    """How to reach one API server.

    Attributes:
        server: Base URL.
        authority: PEM of the certificate authority; empty for the system's.
        certificate: PEM of the client certificate; empty without one.
        key: PEM of its key. Never shown.
        token: Bearer token; never shown.
        token_file: File the token is read from again when the server stops accepting it.
        is_verified: False where the kubeconfig says to skip verification.
        server_name: Name to verify instead of the host's.
        namespace: Namespace of objects that name none.
        context: Name of the context, for messages; empty inside a pod.
    """

    server: str
    authority: str = ""
    certificate: str = field(default="", repr=False)
    key: str = field(default="", repr=False)
    token: str = field(default="", repr=False)
    token_file: str = ""
    is_verified: bool = True
    server_name: str = ""
    namespace: str = "default"
    context: str = ""


def connection_of(kubeconfig: Path | None = None, context: str | None = None) -> Connection:
    """Connection of a context.

    Args:
        kubeconfig: Default: the files in KUBECONFIG, else ~/.kube/config, else a pod's own account.
        context: Default: the kubeconfig's current context.

    Raises:
        InputError: there is no kubeconfig, or it does not say where the server is.
    """
    files = [kubeconfig] if kubeconfig is not None else _default_files()
    present = [file for file in files if file.is_file()]
    if not present:
        if kubeconfig is None and context is None and "KUBERNETES_SERVICE_HOST" in os.environ:
            return _connection_in_pod()
        named = ", ".join(str(file) for file in files)
        raise InputError(f"no kubeconfig at {named}", remedy="set --kubeconfig or KUBECONFIG")
    merged = _merge(present)
    chosen = context or str(merged["current-context"] or "")
    entry = merged["contexts"].get(chosen)
    if entry is None:
        names = ", ".join(sorted(merged["contexts"])) or "none"
        raise InputError(
            f"no context {chosen!r} in {present[0]}",
            remedy="set KUBECONFIG to a file that has it, or choose with --context; "
            f"there are: {names}",
        )
    return _connection_of_context(merged, chosen, entry, present)


def _default_files() -> list[Path]:
    listed = os.environ.get("KUBECONFIG", "")
    if listed:
        return [Path(part).expanduser() for part in listed.split(os.pathsep) if part]
    return [Path("~/.kube/config").expanduser()]


def _merge(files: list[Path]) -> dict[str, Any]:
    """Contexts, clusters and users by name, with the file each came from; the first one wins."""
    merged: dict[str, Any] = {"contexts": {}, "clusters": {}, "users": {}, "current-context": ""}
    for file in files:
        documents = read_data(file)
        config = documents[0] if documents and isinstance(documents[0], Mapping) else {}
        merged["current-context"] = merged["current-context"] or config.get("current-context")
        for part in ("contexts", "clusters", "users"):
            for entry in config.get(part) or ():
                inner = {**(entry.get(part[:-1]) or {}), "": file}
                merged[part].setdefault(str(entry.get("name")), inner)
    return merged


def _connection_of_context(
    merged: dict[str, Any], name: str, entry: Mapping[str, Any], files: list[Path]
) -> Connection:
    cluster = merged["clusters"].get(str(entry.get("cluster")))
    user = merged["users"].get(str(entry.get("user")), {"": files[0]})
    if cluster is None or not cluster.get("server"):
        raise InputError(f"context {name!r} in {files[0]} names no cluster with a server")
    server = _checked_server(str(cluster["server"]), name)
    if user.get("exec"):
        login = plugin_credentials(user["exec"], user[""], cluster, name)
    elif user.get("auth-provider"):
        from holdfast.adapters.cluster.auth_provider import token_of_context  # noqa: PLC0415  (slow import)

        login = token_of_context(files, name)
    else:
        login = {
            "certificate": _pem(user, "client-certificate"),
            "key": _pem(user, "client-key"),
            "token": str(user.get("token") or ""),
            "token_file": str(user.get("tokenFile") or ""),
        }
    return Connection(
        server=server,
        authority=_pem(cluster, "certificate-authority"),
        is_verified=not cluster.get("insecure-skip-tls-verify"),
        server_name=str(cluster.get("tls-server-name") or ""),
        namespace=str(entry.get("namespace") or "default"),
        context=name,
        **login,
    )


def _checked_server(server: str, context: str) -> str:
    parts = urlsplit(server)
    if parts.scheme == "https" or (parts.scheme == "http" and parts.hostname in _LOOPBACK):
        return server.rstrip("/")
    raise InputError(
        f"context {context!r}: {server} is not encrypted",
        remedy="use https://, or a loopback proxy",
    )


def _pem(entry: Mapping[str, Any], name: str) -> str:
    """Text of a certificate or key, given as data or as a file beside the kubeconfig."""
    data, file = entry.get(f"{name}-data"), entry.get(name)
    try:
        if data:
            return base64.b64decode(str(data), validate=True).decode()
        if file:
            beside: Path = entry[""].parent
            return (beside / Path(str(file)).expanduser()).read_text()
    except (binascii.Error, UnicodeDecodeError, OSError) as error:
        # The content may be a key: only its place is named.
        raise InputError(f"{entry['']}: {name} cannot be read") from error
    return ""


def _connection_in_pod() -> Connection:
    host, port = os.environ["KUBERNETES_SERVICE_HOST"], os.environ["KUBERNETES_SERVICE_PORT"]
    address = f"[{host}]" if ":" in host else host
    try:
        return Connection(
            server=f"https://{address}:{port}",
            authority=(_POD_FOLDER / "ca.crt").read_text(),
            token_file=str(_POD_FOLDER / "token"),
            namespace=(_POD_FOLDER / "namespace").read_text().strip(),
        )
    except OSError as error:
        raise InputError(
            f"{_POD_FOLDER}: {error.strerror}", remedy="mount the service account's token"
        ) from error


def tls_context(connection: Connection) -> ssl.SSLContext:
    """Whom to trust, and who we are."""
    context = ssl.create_default_context(cadata=connection.authority or None)
    if not connection.is_verified:
        context.check_hostname = False
        context.verify_mode = ssl.CERT_NONE
    if connection.certificate:
        # The library reads certificates from files only; the file lives for this one call.
        with tempfile.NamedTemporaryFile("w", suffix=".pem") as file:
            file.write(connection.certificate.rstrip() + "\n" + connection.key)
            file.flush()
            context.load_cert_chain(file.name)
    return context
