"""Labels and annotations that Holdfast writes into objects; known without the models."""

from collections.abc import Mapping
from typing import Any, Final

from holdfast.kube.objects import mapping_at

AGENT_LABEL: Final = "holdfast.dev/agent"
OWNER_LABEL: Final = "holdfast.dev/owner"
BACKUP_OF: Final = "holdfast.dev/backup-of"
STACK: Final = "holdfast.dev/stack"
SOURCE: Final = "holdfast.dev/source"
REVISION: Final = "holdfast.dev/revision"
CONFIG_HASH: Final = "holdfast.dev/config-hash"
MOUNTED_HASH: Final = "holdfast.dev/mounted-hash"
"""Digest of what pods mount and nobody declares: Secrets and ConfigMaps of others."""
COMMIT: Final = "holdfast.dev/commit"
"""The commit that the stack was last updated with."""
ATTEMPT: Final = "holdfast.dev/attempt"
"""How often a check of a workload was tried."""
FAILOVER: Final = "holdfast.dev/failover"
"""On a Service that the operator may lead to the other one of primary and standby: after how long
without a ready pod."""


def agent_of(kube_object: Mapping[str, Any]) -> str:
    """Agent that an object belongs to; empty when it names none."""
    return str(mapping_at(kube_object, "metadata", "labels").get(AGENT_LABEL) or "")
