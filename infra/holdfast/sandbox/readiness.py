"""When a sandbox may be used: everything a first `kubectl apply` or `pulumi up` relies on is there.

Each condition has a name, so that a start that takes too long says what it waited for.
"""

import http.client
import time
from collections.abc import Callable
from typing import Any

from holdfast.errors import ExitCode, SandboxError
from holdfast.sandbox.api_client import ApiClient
from holdfast.sandbox.bootstrap import NODE_NAMES

POLL_SECONDS = 0.05
_RBAC = "/apis/rbac.authorization.k8s.io/v1/clusterroles"
_NOT_READY_TAINT = "node.kubernetes.io/not-ready"

Condition = Callable[[ApiClient], bool]


def accounts_are_made(client: ApiClient) -> bool:
    """The controllers work: pods of a namespace need its default service account."""
    return client.read("/api/v1/namespaces/default/serviceaccounts/default") is not None


def roles_are_filled(client: ApiClient) -> bool:
    """A controller fills the roles `edit` and `view` from others; until then they allow nothing."""
    roles = (client.read(f"{_RBAC}/{name}") for name in ("edit", "view"))
    return all(role is not None and bool(role.get("rules")) for role in roles)


def nodes_are_ready(client: ApiClient) -> bool:
    """Our nodes are ready; what a user did to them in an earlier run (a taint) stays."""
    nodes = (client.read(f"/api/v1/nodes/{name}") for name in NODE_NAMES)
    return all(node is not None and _is_ready(node) for node in nodes)


CONDITIONS: dict[str, Condition] = {
    "the default service account": accounts_are_made,
    "the rules of the roles edit and view": roles_are_filled,
    "ready nodes": nodes_are_ready,
}
"""After the API server is ready and the bootstrap objects are applied, in this order."""


class Waiter:
    """Waits for conditions within one time limit, looking after the programs meanwhile.

    Args:
        require_all_running: Raises when a program has ended; called at every look.
        timeout_seconds: For all waits together.
    """

    def __init__(self, require_all_running: Callable[[], None], timeout_seconds: float) -> None:
        self._require_all_running = require_all_running
        self._timeout_seconds = timeout_seconds
        self._deadline = time.monotonic() + timeout_seconds

    def wait(self, what: str, is_met: Callable[[], bool]) -> None:
        """Wait until a condition holds; a connection that fails counts as not yet.

        Raises:
            SandboxError: a program has ended, or the time is over (exit code 9).
        """
        while not _holds(is_met):
            self._require_all_running()
            if time.monotonic() > self._deadline:
                message = f"still without {what} after {self._timeout_seconds:.0f} s"
                raise SandboxError(
                    message,
                    remedy="see 'holdfast sandbox logs', and whether the machine is very busy",
                    exit_code=ExitCode.TIMEOUT,
                )
            time.sleep(POLL_SECONDS)


def _holds(is_met: Callable[[], bool]) -> bool:
    try:
        return is_met()
    except (OSError, http.client.HTTPException):
        return False


def _is_ready(node: dict[str, Any]) -> bool:
    conditions = node.get("status", {}).get("conditions", [])
    says_ready = any(item["type"] == "Ready" and item["status"] == "True" for item in conditions)
    # The controller takes this taint away a moment later; before that no pod is scheduled.
    taints = [taint["key"] for taint in node["spec"].get("taints", [])]
    return says_ready and _NOT_READY_TAINT not in taints
