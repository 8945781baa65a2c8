"""Every pod of the stack is held by a network policy, in both directions."""

from collections.abc import Iterator

from holdfast_policies.api import (
    CILIUM_NETWORK_POLICY,
    NETWORK_POLICY,
    POD_KINDS,
    SANDBOX_TEMPLATE,
    Breach,
    Finding,
    Fix,
    Level,
    Levels,
    Rule,
    Settings,
    Severity,
    Stack,
    Subject,
    UndeterminedError,
    field_path,
    mapping,
    workloads,
)
from holdfast_policies.facts.network_policies import governed_directions, selects_pod

_DIRECTIONS = ("Ingress", "Egress")


def check(workload: Subject, stack: Stack, _: Settings) -> Iterator[Finding]:
    """Pods that no policy of the stack selects, for one direction or both.

    A policy that cannot be judged yet makes the result open, unless others cover the pods already.
    """
    pod = workload.pod
    if pod is None or _has_policy_of_its_own(workload):
        return
    labels, namespace = mapping(pod.metadata.get("labels")), workload.namespace
    governed: set[str] = set()
    unknown: UndeterminedError | None = None
    near = stack.near(NETWORK_POLICY, namespace) + stack.near(CILIUM_NETWORK_POLICY, namespace)
    for policy in near:
        if governed.issuperset(_DIRECTIONS):
            return
        try:
            if selects_pod(policy, namespace, labels):
                governed |= governed_directions(policy)
        except UndeterminedError as signal:
            unknown = signal
    missing = [direction.lower() for direction in _DIRECTIONS if direction not in governed]
    if missing and unknown is not None:
        raise unknown
    if missing:
        path = field_path(pod.path, "metadata", "labels")
        got = f"no policy of the stack that governs their {' and '.join(missing)}"
        yield Breach(path, got, "pods that a network policy selects")


def _has_policy_of_its_own(workload: Subject) -> bool:
    """A SandboxTemplate, unless it says Unmanaged: its controller makes one for both directions."""
    management = "networkPolicyManagement"
    return workload.kind == SANDBOX_TEMPLATE and workload.spec.get(management) != "Unmanaged"


RULE = Rule(
    id="stack-network-policy-coverage",
    title="Every pod behind a network policy",
    description="Pods of the stack are selected by no network policy",
    rationale="A pod that no policy selects may call, and be called by, everyone.",
    remedy="add a NetworkPolicy that selects them, with policyTypes Ingress and Egress",
    source="https://kubernetes.io/docs/concepts/services-networking/network-policies/",
    severity=Severity.HIGH,
    levels=Levels(Level.ADVISORY, Level.MANDATORY, Level.MANDATORY),
    frameworks=("C5.3.2", "N", "SC-7", "ASI07", "MCP"),
    fix=Fix.NO,
    kinds=POD_KINDS | {NETWORK_POLICY, CILIUM_NETWORK_POLICY},
    check_stack=workloads(check),
    not_in_cluster="it takes all network policies beside every pod, and a policy sees one object",
)
