"""Leases: which process of several may write. Read, taken, renewed and given back, each guarded.

Source: Kubernetes documentation, "Leases"; client-go, tools/leaderelection: a lease counts as
expired by the reader's own clock, from when it last saw the record change.
"""

import math
import time
from dataclasses import dataclass, field
from typing import Any, Final

import msgspec

from holdfast.adapters.clock import elapsed_seconds, utc_now
from holdfast.adapters.cluster.api_error import ApiError
from holdfast.adapters.cluster.client import JSON, ApiClient, path_of
from holdfast.adapters.cluster.json_answers import get_json, written_object
from holdfast.errors import ClusterError

LEASE_SECONDS: Final = 15
MOST_TRIES: Final = 3
_API: Final = "coordination.k8s.io/v1"


@dataclass
class Lease:
    """One lease, as one contender sees it.

    Attributes:
        client: Used for this lease alone.
        holder: Name of this contender.
    """

    client: ApiClient
    namespace: str
    name: str
    holder: str
    _seen: str = ""
    _seen_at: float = field(default=0.0)

    def try_to_hold(self, deadline: float = math.inf) -> bool:
        """Take the lease, or renew it; returns whether it is held now.

        A write that meets a conflict says nothing of who holds it: that is read again.

        Args:
            deadline: Time of `elapsed_seconds` at which all of it is over.

        Raises:
            ClusterError: nothing is known about it.
        """
        self.client.deadline = time.monotonic() + (deadline - elapsed_seconds())
        for _ in range(MOST_TRIES):
            is_held = self._try_once()
            if is_held is not None:
                return is_held
        raise ClusterError(
            f"lease {self.namespace}/{self.name} is written by another client all the time"
        )

    def _try_once(self) -> bool | None:
        """As above; None when another client wrote in between."""
        current = self._read()
        if current is None:
            return self._write("POST", {"metadata": self._metadata()}, changes=1)
        spec = current.get("spec") or {}
        holder, version = str(spec.get("holderIdentity") or ""), self._version(current)
        if version != self._seen:
            self._seen, self._seen_at = version, elapsed_seconds()
        seconds = float(spec.get("leaseDurationSeconds") or LEASE_SECONDS)
        is_free = not holder or elapsed_seconds() - self._seen_at > seconds
        if holder != self.holder and not is_free:
            return False
        changes = int(spec.get("leaseTransitions") or 0) + (holder != self.holder)
        return self._write("PUT", current, changes)

    def release(self) -> None:
        """Give it back, if it is held, so that no other process waits for it to expire.

        Raises:
            ClusterError: the server refused or did not answer.
        """
        self.client.deadline = math.inf
        current = self._read()
        if current is None or (current.get("spec") or {}).get("holderIdentity") != self.holder:
            return
        freed = current | {"spec": (current["spec"] | {"holderIdentity": ""})}
        self._send("PUT", freed)

    def _read(self) -> dict[str, Any] | None:
        try:
            path = path_of(_API, "leases", self.namespace, self.name)
            return get_json(self.client, path, of=dict[str, Any])
        except ApiError as error:
            if error.is_absent:
                return None
            raise

    def _write(self, method: str, current: dict[str, Any], changes: int) -> bool | None:
        now = utc_now("microseconds")
        before = current.get("spec") or {}
        is_kept = before.get("holderIdentity") == self.holder
        spec = {
            "holderIdentity": self.holder,
            "leaseDurationSeconds": LEASE_SECONDS,
            "acquireTime": before.get("acquireTime") if is_kept else now,
            "renewTime": now,
            "leaseTransitions": changes,
        }
        try:
            self._send(method, current | {"spec": spec})
        except ApiError as error:
            if error.is_conflict:
                return None
            raise
        return True

    def _send(self, method: str, lease: dict[str, Any]) -> None:
        body = {"apiVersion": _API, "kind": "Lease"} | lease
        name = "" if method == "POST" else self.name
        path = path_of(_API, "leases", self.namespace, name)
        answer = self.client.write(method, path, msgspec.json.encode(body), content_type=JSON)
        self._seen = self._version(written_object(answer, f"{method} {path}"))
        self._seen_at = elapsed_seconds()

    def _metadata(self) -> dict[str, Any]:
        return {"name": self.name, "namespace": self.namespace}

    @staticmethod
    def _version(lease: dict[str, Any]) -> str:
        return str(lease["metadata"].get("resourceVersion") or "")
