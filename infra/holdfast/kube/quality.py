"""The quality-of-service class that Kubernetes gives a pod.

Source: Kubernetes documentation, "Pod Quality of Service Classes".
"""

from collections.abc import Iterable, Mapping
from typing import Any

from holdfast.kube.objects import mapping_at
from holdfast.kube.quantities import parse_quantity

_COUNTED = ("cpu", "memory")


def quality_of(containers: Iterable[Mapping[str, Any]]) -> tuple[str, str]:
    """Class of a pod with these containers, init containers included, and what decides it.

    Returns:
        Guaranteed, Burstable or BestEffort; and the first container and resource for which it is
        not Guaranteed.
    """
    asked, reason = False, ""
    for container in containers:
        limits = mapping_at(container, "resources", "limits")
        requests = {**limits, **mapping_at(container, "resources", "requests")}
        for name in _COUNTED:
            request, limit = requests.get(name), limits.get(name)
            asked = asked or request is not None
            is_equal = limit is not None and parse_quantity(request) == parse_quantity(limit)
            if not is_equal and not reason:
                shown = f"request {request or 'none'}, limit {limit or 'none'}"
                reason = f"{name} of container {container.get('name')}: {shown}"
    if not asked:
        return "BestEffort", "no container asks for cpu or memory"
    return ("Burstable", reason) if reason else ("Guaranteed", "requests equal limits everywhere")
