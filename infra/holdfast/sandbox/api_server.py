"""Kubeconfigs for a sandbox's API server, and the few requests that starting and watching it takes.

Kubeconfigs are written as JSON, which every reader of YAML reads. The client is the standard
library's: no other server, no retries, no paging.
"""

import base64
import http.client
import json
import ssl
from collections.abc import Iterator
from types import TracebackType
from typing import Any, Self

from holdfast.adapters.files import write_private_file
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


TIMEOUT_SECONDS = 5.0
_SCHEMAS = "application/com.github.proto-openapi.spec.v2@v1.0+protobuf"
_SERVER_SIDE_APPLY = "application/apply-patch+yaml"


class SandboxApiClient:
    """One connection to a sandbox's API server, as the user `holdfast-sandbox`.

    A request that gets no answer raises OSError or http.client.HTTPException; the connection is
    then opened again by the next request.
    """

    def __init__(
        self, place: SandboxPaths, port: int, timeout_seconds: float = TIMEOUT_SECONDS
    ) -> None:
        context = ssl.create_default_context(cafile=place.certificates / "ca.crt")
        context.load_cert_chain(
            place.certificates / "sandbox.crt", place.certificates / "sandbox.key"
        )
        self._connection = http.client.HTTPSConnection(
            LOOPBACK, port, timeout=timeout_seconds, context=context
        )

    def __enter__(self) -> Self:
        """Use the connection."""
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        """Close the connection."""
        self._connection.close()

    def answers(self) -> bool:
        """Whether the server takes requests, ready or not."""
        status, _ = self._request("GET", "/readyz")
        return status in (http.client.OK, http.client.INTERNAL_SERVER_ERROR)

    def is_ready(self) -> bool:
        """Whether the server says that it and its database are ready."""
        status, _ = self._request("GET", "/readyz")
        return status == http.client.OK

    def read(self, path: str) -> dict[str, Any] | None:
        """Read an object or list; None unless the answer is 200."""
        status, body = self._request("GET", path)
        return json.loads(body) if status == http.client.OK else None

    def changes(self, path: str, seconds: int) -> Iterator[bytes]:
        """Each event of a watch on a list, the objects that are there first; ends after a time."""
        joint = "&" if "?" in path else "?"
        query = f"watch=true&timeoutSeconds={seconds}"
        self._connection.request("GET", f"{path}{joint}{query}")
        response = self._connection.getresponse()
        if response.status != http.client.OK:
            self._connection.close()
            raise ConnectionError(f"watching {path} was answered with {response.status}")
        yield from response

    def has_schemas(self) -> bool:
        """Whether the server has put the schemas of all kinds together, as clients read them."""
        status, _ = self._request("GET", "/openapi/v2", accept=_SCHEMAS)
        return status == http.client.OK

    def apply(self, path: str, content: dict[str, Any] | bytes) -> str:
        """Create or update an object by server-side apply; the server's words when it refuses.

        Args:
            path: Path of the object.
            content: The object, or the bytes of a YAML file that holds it.
        """
        query = "fieldManager=holdfast-sandbox&force=true"
        body = content if isinstance(content, bytes) else json.dumps(content).encode()
        status, answer = self._request("PATCH", f"{path}?{query}", body, _SERVER_SIDE_APPLY)
        if status in (http.client.OK, http.client.CREATED):
            return ""
        return f"{status} {answer.decode(errors='replace')[:500]}"

    def _request(
        self,
        method: str,
        path: str,
        body: bytes | None = None,
        content_type: str = "",
        *,
        accept: str = "application/json",
    ) -> tuple[int, bytes]:
        headers = {"Accept": accept}
        if content_type:
            headers["Content-Type"] = content_type
        try:
            self._connection.request(method, path, body=body, headers=headers)
            response = self._connection.getresponse()
            return response.status, response.read()
        except (OSError, http.client.HTTPException):
            self._connection.close()
            raise
