"""The AgentStack of a stack in its cluster: whether its Git loop is suspended, by whom, and why.

It is the only place: every user with the rights suspends a loop from any machine, also with
`kubectl patch`. Source: Flux, "Suspend and resume".
"""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Final

from holdfast.adapters.clock import utc_now
from holdfast.adapters.cluster.api_error import ApiError
from holdfast.adapters.cluster.client import ApiClient
from holdfast.adapters.cluster.kubeconfig import Connection, connection_of
from holdfast.adapters.cluster.writing import Writer, apply_object, read_object
from holdfast.errors import ClusterError
from holdfast.kube.objects import KubeObject, ObjectRef, mapping_at
from holdfast.kube.structure import KindEntry
from holdfast.manifest.publish.custom_resource import plural_of
from holdfast.manifest.publish.resource_interface import AGENT_STACK_KIND
from holdfast.manifest.types.manifest import API_VERSION
from holdfast.operations.stack.context import StackContext
from holdfast.operations.stack.update_history import action_record, caller, journal_of

ENTRY: Final = KindEntry(plural_of(AGENT_STACK_KIND), is_namespaced=False, type_name="")
ANSWER_SECONDS: Final = 10.0
_FIELD_MANAGER: Final = "holdfast-suspend"

Conflict = tuple[str, str]
"""An object and the path of a field in it, as reports write them."""


@dataclass(frozen=True)
class Suspension:
    """Why a loop changes nothing.

    Attributes:
        by: User who suspended it; empty where nobody said.
        since: RFC 3339 time; empty where nobody said.
        reason: Why; empty where nobody said.
    """

    by: str = ""
    since: str = ""
    reason: str = ""

    def __str__(self) -> str:
        who, since = self.by and f" by {self.by}", self.since and f" since {self.since}"
        return f"suspended{who}{since}" + (f": {self.reason}" if self.reason else "")


@dataclass(frozen=True)
class LoopControl:
    """What an AgentStack says to the loop of its stack.

    Attributes:
        suspension: None while the loop may act.
        conflicts_reset_at: RFC 3339 time when a person ended all field conflicts; empty for never.
        conflicts: Fields that the loop has stopped reverting, to the RFC 3339 time since when.
    """

    suspension: Suspension | None = None
    conflicts_reset_at: str = ""
    conflicts: Mapping[Conflict, str] = field(default_factory=dict)


def agent_stack_ref(stack: str) -> ObjectRef:
    """The resource of a stack."""
    name = stack.rpartition("/")[2].lower().replace("_", "-")
    return ObjectRef("", AGENT_STACK_KIND, name, API_VERSION)


def agent_stack_body(stack: str, part: Mapping[str, Any]) -> KubeObject:
    """What is applied of a stack's resource."""
    ref = agent_stack_ref(stack)
    # Of no stack by its labels: a scan does not take it for an unmanaged object.
    metadata = {"name": ref.name, "labels": {"app.kubernetes.io/managed-by": "holdfast"}}
    return {"apiVersion": ref.api_version, "kind": ref.kind, "metadata": metadata, **part}


def stack_client(context: StackContext) -> ApiClient:
    """Talks to the cluster of a stack; nothing is sent yet.

    Raises:
        InputError: the kubeconfig has no such context.
        LoginError: the login plugin failed.
    """

    def log_in() -> Connection:
        return connection_of(context.kubeconfig, context.kube_context)

    return ApiClient(log_in(), ANSWER_SECONDS, log_in)


def read_control(client: ApiClient, stack: str) -> LoopControl:
    """What the stack's resource says; nothing where there is none, or the cluster has no such kind.

    Raises:
        ClusterError: it cannot be read: whether the loop may act is not known.
    """
    try:
        return control_of(read_object(client, agent_stack_ref(stack), ENTRY) or {})
    except ApiError as error:
        if not error.is_forbidden:
            raise
        raise ClusterError(
            f"whether stack {stack} is suspended cannot be read: {error.message}",
            remedy="`holdfast drift rbac -s STACK --loop` prints the rights that a loop needs",
        ) from error


def control_of(resource: Mapping[str, Any]) -> LoopControl:
    """What a live AgentStack says."""
    spec, suspension = mapping_at(resource, "spec"), None
    if spec.get("suspend") is True:
        said = mapping_at(spec, "suspension")
        suspension = Suspension(*(str(said.get(key) or "") for key in ("by", "since", "reason")))
    recorded = mapping_at(resource, "status").get("conflicts") or ()
    conflicts = {(str(each["object"]), str(each["path"])): str(each["since"]) for each in recorded}
    return LoopControl(suspension, str(spec.get("conflictsResetAt") or ""), conflicts)


def suspend(context: StackContext, reason: str) -> None:
    """Let no loop act on a stack until it is resumed, and record who has suspended it.

    Raises:
        ClusterError: the cluster does not serve AgentStack, or refuses.
    """
    suspension = Suspension(caller(), utc_now(), reason)
    suspend_stack(stack_client(context), context.name, suspension)
    journal_of(context.root, context.name).add(action_record("suspend", context.name, reason))


def resume(context: StackContext, reason: str) -> Suspension | None:
    """Let the loops of a stack act again, end all field conflicts, and record who did it.

    Returns:
        The suspension that this has ended; None when there was none.

    Raises:
        ClusterError: the cluster does not serve AgentStack, or refuses.
    """
    ended = resume_stack(stack_client(context), context.name)
    journal_of(context.root, context.name).add(action_record("resume", context.name, reason))
    return ended


def suspend_stack(client: ApiClient, stack: str, suspension: Suspension) -> None:
    """Let no loop act on a stack until it is resumed.

    Raises:
        ClusterError: the cluster does not serve AgentStack, or refuses.
    """
    said = {"by": suspension.by, "since": suspension.since, "reason": suspension.reason}
    before = read_control(client, stack)
    reset = {"conflictsResetAt": before.conflicts_reset_at} if before.conflicts_reset_at else {}
    _apply(client, stack, {"suspend": True, "suspension": said, **reset})


def resume_stack(client: ApiClient, stack: str) -> Suspension | None:
    """Let the loops of a stack act again, and end all field conflicts.

    Returns:
        The suspension that this has ended; None when there was none.

    Raises:
        ClusterError: the cluster does not serve AgentStack, or refuses.
    """
    before = read_control(client, stack)
    _apply(client, stack, {"suspend": False, "conflictsResetAt": utc_now()})
    return before.suspension


def _apply(client: ApiClient, stack: str, spec: Mapping[str, Any]) -> None:
    body = agent_stack_body(stack, {"spec": spec})
    try:
        apply_object(client, ENTRY, agent_stack_ref(stack), body, Writer(_FIELD_MANAGER))
    except ApiError as error:
        if not error.is_absent:
            raise
        raise ClusterError(
            f"the cluster does not serve {AGENT_STACK_KIND}, which keeps the suspension",
            remedy="run `holdfast operator install`",
        ) from error
