"""What the rules `pss-*` share: the standard, its versions, and the two levels of its checks.

Each of these rules is one check (or the two levels of one) of Kubernetes' own Pod Security
Admission and is never stricter than it: a pod that admission lets in passes here as well.
"""

from holdfast_policies.model.rule import Parameter, Settings
from holdfast_policies.model.subject import Pod

STANDARD = "https://kubernetes.io/docs/concepts/security/pod-security-standards/"

PSS_VERSION = Parameter(
    name="pss_version",
    description=(
        "Version of the Pod Security Standards to judge by, as in the namespace label "
        "pod-security.kubernetes.io/enforce-version: 1.25 or later, or latest."
    ),
    schema={
        "type": "string",
        "pattern": r"latest|v?1\.(2[5-9]|[3-9]\d|\d{3})",
        "examples": ["1.36", "latest"],
    },
    default="latest",
)

PSS_LEVEL = Parameter(
    name="pss_level",
    description="Level of the Pod Security Standards to judge by.",
    schema={"type": "string", "enum": ["baseline", "restricted"]},
    default="restricted",
)

_USER_NAMESPACES_SINCE = 35


def is_in_force_since(minor: int, settings: Settings) -> bool:
    """Whether what came with version 1.`minor` of the standard is to be judged by."""
    version = str(settings["pss_version"])
    return version == "latest" or int(version.rpartition(".")[2]) >= minor


def is_restricted(settings: Settings) -> bool:
    """Whether the restricted level is wanted, not only the baseline."""
    return bool(settings["pss_level"] == "restricted")


def has_own_users(pod: Pod, settings: Settings) -> bool:
    """Whether the pod's users are not the node's, which relaxes some checks from 1.35 on.

    Source: Kubernetes enhancement 127, user namespaces.
    """
    return (
        is_in_force_since(_USER_NAMESPACES_SINCE, settings) and pod.spec.get("hostUsers") is False
    )
