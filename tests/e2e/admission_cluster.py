"""Asking a real API server what it makes of an object, without keeping it."""

import json
from collections.abc import Iterator, Mapping
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from kubernetes import client, config

THREADS = 8
_TAKEN = (200, 201)
_NOT_FOUND, _CONFLICT = 404, 409
_DENIED_BY = "ValidatingAdmissionPolicy '"


@dataclass(frozen=True)
class Answer:
    """What the API server said.

    Attributes:
        status: HTTP status.
        message: Its words; empty when it took the object.
        policy: The admission policy that denied it, if one did.
    """

    status: int
    message: str = ""
    policy: str = ""

    @property
    def is_taken(self) -> bool:
        """Whether it would have been created."""
        return self.status in _TAKEN

    @property
    def is_judged(self) -> bool:
        """Whether a policy decided, and not the API server's own validation."""
        return self.is_taken or bool(self.policy)


@dataclass(frozen=True)
class ApiServer:
    """One API server, over one pool of connections."""

    api: client.ApiClient
    plurals: Mapping[tuple[str, str], tuple[str, bool]]

    @classmethod
    def of(cls, kubeconfig: Path) -> "ApiServer":
        """Reach it as a kubeconfig says, and learn which kinds it serves."""
        api = config.new_client_from_config(str(kubeconfig))  # type: ignore[no-untyped-call]  # its own lack
        plurals: dict[tuple[str, str], tuple[str, bool]] = {}
        for prefix in _versions(api):
            for each in _get(api, prefix)["resources"]:
                if "/" not in each["name"]:
                    version = prefix.removeprefix("/apis/").removeprefix("/api/")
                    plurals[version, each["kind"]] = (each["name"], each["namespaced"])
        return cls(api, plurals)

    def create(self, kube_object: Mapping[str, Any], *, dry_run: bool = True) -> Answer:
        """What it makes of creating an object."""
        return self._send("POST", self.collection(kube_object), kube_object, dry_run=dry_run)

    def made(self, kube_object: Mapping[str, Any]) -> dict[str, Any] | None:
        """An object as it would be kept if it were created; None where it is refused."""
        path = f"{self.collection(kube_object)}?dryRun=All"
        status, content = _call(self.api, "POST", path, kube_object)
        return content if status in _TAKEN else None

    def keep(self, kube_object: Mapping[str, Any]) -> Answer:
        """Create an object for good; one that is there already is left as it is."""
        answer = self._send("POST", self.collection(kube_object), kube_object, dry_run=False)
        return Answer(_TAKEN[0]) if answer.status == _CONFLICT else answer

    def replace(
        self, kube_object: Mapping[str, Any], subresource: str = "", *, dry_run: bool = True
    ) -> Answer:
        """What it makes of replacing an object that is there."""
        path = f"{self.collection(kube_object)}/{kube_object['metadata']['name']}{subresource}"
        return self._send("PUT", path, kube_object, dry_run=dry_run)

    def get(self, kube_object: Mapping[str, Any]) -> dict[str, Any]:
        """An object as it is kept."""
        return _get(self.api, f"{self.collection(kube_object)}/{kube_object['metadata']['name']}")

    def create_all(self, kube_objects: list[dict[str, Any]]) -> list[Answer]:
        """What it makes of creating each of several objects, asked side by side."""
        with ThreadPoolExecutor(THREADS) as pool:
            return list(pool.map(self.create, kube_objects))

    def collection(self, kube_object: Mapping[str, Any]) -> str:
        """Address of the objects of its kind; a kind made since is that of the parameters."""
        version, kind = kube_object["apiVersion"], kube_object["kind"]
        plural, is_namespaced = self.plurals.get((version, kind), (kind.lower(), False))
        prefix = f"/apis/{version}" if "/" in version else f"/api/{version}"
        if not is_namespaced:
            return f"{prefix}/{plural}"
        namespace = kube_object["metadata"].get("namespace", "default")
        return f"{prefix}/namespaces/{namespace}/{plural}"

    def _send(self, method: str, path: str, body: Mapping[str, Any], *, dry_run: bool) -> Answer:
        query = "?dryRun=All" if dry_run else ""
        status, content = _call(self.api, method, path + query, body)
        if status in _TAKEN or (status == _CONFLICT and method == "POST" and dry_run):
            return Answer(_TAKEN[0])  # it is there already: admission has let it in
        message = str(content["message"])
        _, found, rest = message.partition(_DENIED_BY)
        return Answer(status, message, rest.partition("'")[0] if found else "")


def _versions(api: client.ApiClient) -> Iterator[str]:
    yield "/api/v1"
    for group in _get(api, "/apis")["groups"]:
        for version in group["versions"]:
            yield f"/apis/{version['groupVersion']}"


def _get(api: client.ApiClient, path: str) -> dict[str, Any]:
    status, content = _call(api, "GET", path)
    assert status in _TAKEN, content
    return content


def _call(
    api: client.ApiClient, method: str, path: str, body: Mapping[str, Any] | None = None
) -> tuple[int, dict[str, Any]]:
    response = api.rest_client.pool_manager.request(
        method,
        api.configuration.host + path,
        body=None if body is None else json.dumps(body),
        headers={"Content-Type": "application/json", "Accept": "application/json"},
    )
    if response.status == _NOT_FOUND:
        return response.status, {"message": f"nothing at {path}"}
    content: dict[str, Any] = json.loads(response.data)
    return response.status, content
