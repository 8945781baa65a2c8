"""Events of the API server's audit log, as far as they record who changed or entered which object.

Source: Kubernetes documentation, "Auditing"; audit.k8s.io/v1 Event.
"""

import re
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Final
from urllib.parse import parse_qs, urlsplit

import msgspec

from holdfast.kube.structure import builtin_kind

WRITES: Final = frozenset({"create", "update", "patch", "delete", "deletecollection"})

SESSIONS: Final = frozenset({"exec", "attach", "portforward", "ephemeralcontainers"})
"""Subresources of a pod through which a user enters it."""

_ENTRIES: Final = SESSIONS - {"ephemeralcontainers"}
_STARTED: Final = "ResponseStarted"
"""Stage of a session that lasts: it is logged when it begins, not when the user has left."""


@dataclass(frozen=True)
class AuditEvent:
    """One write that the API server carried out, or one session in a pod that it let begin.

    Attributes:
        resource: Plural, such as `deployments`.
        name: Empty for a deletion of a whole collection.
        user: Effective user: the impersonated one where there is impersonation.
        manager: Field manager named in the request, else what the server derives from the client.
        user_agent: Client, as it names itself.
        source_address: Where the request came from.
        identifier: Of the request: a session is logged twice, when it begins and when it ends.
    """

    time: datetime
    verb: str
    group: str
    resource: str
    subresource: str
    namespace: str
    name: str
    user: str
    manager: str
    user_agent: str = ""
    source_address: str = ""
    identifier: str = ""

    @property
    def is_session(self) -> bool:
        """Whether a user entered a pod, which changes no field."""
        return self.resource == "pods" and self.subresource in _ENTRIES

    @property
    def enters_pod(self) -> bool:
        """Whether it lets a user into a pod, as a session or by a container added to it."""
        return self.resource == "pods" and self.subresource in SESSIONS


class _User(msgspec.Struct):
    username: str = ""


class _ObjectRef(msgspec.Struct, rename="camel"):
    resource: str = ""
    namespace: str = ""
    name: str = ""
    api_group: str = ""
    subresource: str = ""


class _Status(msgspec.Struct):
    code: int = 0


class _Event(msgspec.Struct, rename="camel"):
    verb: str = ""
    stage: str = ""
    user: _User | None = None
    impersonated_user: _User | None = None
    user_agent: str = ""
    source_ips: list[str] = msgspec.field(default_factory=list, name="sourceIPs")
    object_ref: _ObjectRef | None = None
    response_status: _Status | None = None
    request_received_timestamp: str = ""
    request_uri: str = msgspec.field(default="", name="requestURI")
    audit_id: str = msgspec.field(default="", name="auditID")


_decoder: Final = msgspec.json.Decoder(_Event)
_FIRST_FAILURE: Final = 300
_REFUSED: Final = frozenset({400, 401, 403, 404})


def parse_event(line: bytes) -> AuditEvent | None:
    """Event of one line of the log; None for reads, failures and lines that are no events."""
    try:
        event = _decoder.decode(line)
        time = datetime.fromisoformat(event.request_received_timestamp)
    except (msgspec.DecodeError, ValueError):
        return None
    ref, status = event.object_ref, event.response_status
    if ref is None:
        return None
    is_entry = ref.resource == "pods" and ref.subresource in _ENTRIES
    if event.stage not in {"", "ResponseComplete"} and not (is_entry and event.stage == _STARTED):
        return None
    code = status.code if status is not None else 0
    # Whether a session got through is the node's word; that it was allowed to is the server's.
    if code in _REFUSED if is_entry else (code >= _FIRST_FAILURE or event.verb not in WRITES):
        return None
    effective = event.impersonated_user or event.user or _User()
    query = parse_qs(urlsplit(event.request_uri).query)
    if "dryRun" in query:
        return None
    manager = query.get("fieldManager", [event.user_agent.partition("/")[0]])[0]
    return AuditEvent(
        time=time if time.tzinfo else time.replace(tzinfo=UTC),
        verb=event.verb,
        group=ref.api_group,
        resource=ref.resource,
        subresource=ref.subresource,
        namespace=ref.namespace,
        name=ref.name,
        user=effective.username,
        manager=manager,
        user_agent=event.user_agent,
        source_address=event.source_ips[0] if event.source_ips else "",
        identifier=event.audit_id,
    )


def plurals_of(api_version: str, kind: str) -> frozenset[str]:
    """Names that a kind may have in URLs: the one it has, or the likely ones of a custom kind."""
    known = builtin_kind(api_version, kind)
    if known is not None:
        return frozenset({known.plural})
    name = kind.lower()
    return frozenset({name, f"{name}s", f"{name}es", re.sub("y$", "ies", name)})
