"""Kubernetes Events: what happened to an object, for whoever describes it.

Source: Kubernetes API reference, Event (`events.k8s.io/v1`); those of an object without a namespace
lie in `default`.
"""

import secrets
from dataclasses import dataclass
from typing import Final

import msgspec

from holdfast.adapters.clock import utc_now
from holdfast.adapters.cluster.client import JSON, ApiClient, path_of
from holdfast.kube.objects import KubeObject

EVENTS: Final = "events.k8s.io/v1"
NAMESPACE_OF_THE_CLUSTER: Final = "default"
_MOST_NOTE_CHARACTERS: Final = 1024


@dataclass(frozen=True)
class EventWriter:
    """Tells of objects in the name of one program.

    Attributes:
        controller: Which program this is, such as `holdfast.dev/operator`.
        instance: Which one of its processes.
    """

    client: ApiClient
    controller: str
    instance: str

    def write(self, regarding: KubeObject, reason: str, note: str, *, is_warning: bool) -> None:
        """Tell of one object.

        Args:
            regarding: The object as it was read: its uid is needed.
            reason: One word in CamelCase, for programs.
            note: For people; never a secret.
            is_warning: Somebody should look at it.

        Raises:
            ClusterError: the server refused, or the outcome is not known.
        """
        metadata = regarding["metadata"]
        namespace = metadata.get("namespace") or NAMESPACE_OF_THE_CLUSTER
        event = {
            "apiVersion": EVENTS,
            "kind": "Event",
            "metadata": {
                "name": f"{metadata['name']}.{secrets.token_hex(8)}",
                "namespace": namespace,
            },
            "eventTime": utc_now("microseconds"),
            "reportingController": self.controller,
            "reportingInstance": self.instance,
            "action": reason,
            "reason": reason,
            "note": note[:_MOST_NOTE_CHARACTERS],
            "type": "Warning" if is_warning else "Normal",
            "regarding": {
                "apiVersion": regarding["apiVersion"],
                "kind": regarding["kind"],
                **{key: metadata[key] for key in ("name", "namespace", "uid") if key in metadata},
            },
        }
        path = path_of(EVENTS, "events", namespace)
        self.client.write("POST", path, msgspec.json.encode(event), content_type=JSON)
