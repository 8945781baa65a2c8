"""ConfigMaps of an agent in the cluster: they are named by their content."""

import re
from typing import Any

from tests.e2e.live_sandbox import Kubectl


def config_map(kubectl: Kubectl, agent: str, namespace: str, entry: str = "config") -> Any:
    """The only one of an entry; the previous one goes when an update has succeeded."""
    name = re.compile(rf"{agent}-{entry}-[0-9a-f]{{8}}")
    selector = f"holdfast.dev/agent={agent}"
    items = kubectl.get("configmaps", "-n", namespace, "-l", selector)["items"]
    [found] = [each for each in items if name.fullmatch(each["metadata"]["name"])]
    return found


def config_map_name(kubectl: Kubectl, agent: str, namespace: str, entry: str = "config") -> str:
    """Its name."""
    return str(config_map(kubectl, agent, namespace, entry)["metadata"]["name"])
