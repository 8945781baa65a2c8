"""Whoever writes in a replay: requests with credentials, field managers and verbs of their own."""

import base64
import json
import math
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

import yaml
from holdfast.adapters.cluster.api_error import ApiError
from holdfast.adapters.cluster.client import ApiClient, path_of
from holdfast.adapters.cluster.kubeconfig import Connection, connection_of
from holdfast.kube.objects import KubeObject
from holdfast.kube.structure import builtin_kind

from tests.e2e.live_sandbox import LiveSandbox
from tests.e2e.taxonomy.case import ADMIN

PATCHES = {
    "json": "application/json-patch+json",
    "merge": "application/merge-patch+json",
    "apply": "application/apply-patch+yaml",
}
_NOT_FOUND = 404
_CUSTOM = {"Mood": "moods"}


@dataclass(frozen=True)
class Hands:
    """The users of a sandbox, each with a client."""

    sandbox: LiveSandbox
    _clients: dict[str, ApiClient] = field(default_factory=dict)

    def read(self, path: str) -> Any:
        """An object; None where there is none."""
        try:
            return json.loads(self._client(ADMIN).get(path))
        except ApiError as error:
            if error.status == _NOT_FOUND:
                return None
            raise

    def write(
        self,
        verb: str,
        path: str,
        body: object,
        *,
        user: str = ADMIN,
        query: Mapping[str, str | int] | None = None,
    ) -> Any:
        """One write; returns the answer."""
        data = json.dumps(body).encode()
        method, kind = "PATCH", PATCHES.get(verb, "application/json")
        if verb == "apply":
            query = {**(query or {}), "force": "true"}
        elif verb == "create":
            method, path = "POST", path.rpartition("/")[0]
        elif verb == "delete":
            method, data = "DELETE", b"{}"
        answer = self._client(user).write(method, path, data, content_type=kind, query=query)
        return json.loads(answer)

    @property
    def bundle(self) -> str:
        """Certificates of the cluster's own authority, as an injector would write them."""
        config = yaml.safe_load(self.sandbox.kubeconfig().read_text())
        cluster = config["clusters"][0]["cluster"]
        if "certificate-authority-data" in cluster:
            return str(cluster["certificate-authority-data"])
        file = self.sandbox.directory / Path(cluster["certificate-authority"])
        return base64.b64encode(file.read_bytes()).decode()

    def _client(self, user: str) -> ApiClient:
        if user not in self._clients:
            is_cluster = user.startswith("system:")
            connection = connection_of(self.sandbox.kubeconfig(ADMIN if is_cluster else user))
            self._clients[user] = (
                _Impersonating(connection, user) if is_cluster else ApiClient(connection)
            )
        return self._clients[user]


class _Impersonating(ApiClient):
    """A client that writes as one of the cluster's own identities."""

    def __init__(self, connection: Connection, user: str) -> None:
        super().__init__(connection)
        self._user = user

    def _request(self, wanted: Any, end: float, most_bytes: float = math.inf) -> bytes:
        as_other = {"Impersonate-User": self._user, "Impersonate-Group": "system:masters"}
        sent = replace(wanted, headers={**wanted.headers, **as_other})
        return super()._request(sent, end, most_bytes)


def path_to(api_version: str, kind: str, namespace: str, name: str) -> str:
    """URL path of an object; of the whole cluster where its kind is."""
    entry = builtin_kind(api_version, kind)
    if entry is None:
        return path_of(api_version, _CUSTOM[kind], namespace, name)
    return path_of(api_version, entry.plural, namespace if entry.is_namespaced else "", name)


def path_of_object(one: KubeObject) -> str:
    """URL path of an object."""
    metadata = one["metadata"]
    kind, version = str(one["kind"]), str(one["apiVersion"])
    return path_to(version, kind, metadata.get("namespace", ""), metadata["name"])
