"""Why pods cannot stay on a node, or come to it. Pure.

Source: Kubernetes API reference, NodeSpec and NodeStatus.
"""

from collections.abc import Mapping
from typing import Any

from holdfast.kube.objects import mapping_at

NODE_GONE = "it does not exist any more"


def node_trouble(node: Mapping[str, Any] | None) -> str:
    """Why a node is to be left; empty when it takes pods.

    Args:
        node: The live node; None when there is none of that name.
    """
    if node is None:
        return NODE_GONE
    conditions = mapping_at(node, "status").get("conditions") or ()
    ready: Mapping[str, Any] = next(
        (each for each in conditions if each.get("type") == "Ready"), {}
    )
    if ready.get("status") != "True":
        return f"it is not ready: {ready.get('reason') or 'it says nothing'}"
    if mapping_at(node, "spec").get("unschedulable"):
        return "it is cordoned"
    return ""
