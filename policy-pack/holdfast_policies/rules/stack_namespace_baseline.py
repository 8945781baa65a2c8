"""Every namespace of the stack has a floor and a ceiling, and nothing runs in `default`."""

from collections.abc import Iterator
from dataclasses import replace

from holdfast_policies.api import (
    LIMIT_RANGE,
    NAMESPACE,
    POD_KINDS,
    RESOURCE_QUOTA,
    Breach,
    Finding,
    Fix,
    Level,
    Levels,
    Parameter,
    Rule,
    Settings,
    Severity,
    Stack,
    Subject,
    UndeterminedError,
    gather,
    key_path,
    mapping,
    shown,
    text,
)

_LABEL = "pod-security.kubernetes.io/enforce"
_KINDS = {"quota": RESOURCE_QUOTA, "limit-range": LIMIT_RANGE}
_WORDS = {"quota": "a ResourceQuota", "limit-range": "a LimitRange"}
REQUIRED = Parameter(
    name="required",
    description="What every namespace must have.",
    schema={
        "type": "array",
        "items": {"type": "string", "enum": ["pod-security", "quota", "limit-range"]},
        "minItems": 1,
    },
    default=["pod-security", "quota", "limit-range"],
)


def check(stack: Stack, settings: Settings) -> Iterator[Finding]:
    """Namespaces of the stack, and workloads in the default one."""
    for namespace in stack.of_kind(NAMESPACE):
        found: list[Finding] = []
        gather(found, lambda each, all_of: _check(each, all_of, settings), namespace, stack)
        yield from (replace(finding, subject=namespace) for finding in found)
    for workload in stack.workloads:
        found = []
        gather(found, _check_place, workload, settings)
        yield from (replace(finding, subject=workload) for finding in found)


def _check(namespace: Subject, stack: Stack, settings: Settings) -> Iterator[Finding]:
    if "pod-security" in settings["required"]:
        level = mapping(namespace.metadata.get("labels")).get(_LABEL)
        if level not in ("baseline", "restricted"):
            path = key_path("metadata.labels", _LABEL)
            yield Breach(path, shown(level), '"baseline" or "restricted"')
    for name, kind in _KINDS.items():
        if name in settings["required"] and not _holds(stack, kind, namespace.name):
            yield Breach("metadata.name", f"no {_WORDS[name][2:]} in it", _WORDS[name])


def _holds(stack: Stack, kind: object, namespace: str) -> bool:
    unknown: UndeterminedError | None = None
    for subject in stack.of_kind(kind):  # type: ignore[arg-type]  # a Kind, by the table above
        try:
            if subject.namespace == namespace:
                return True
        except UndeterminedError as signal:
            unknown = signal
    if unknown is not None:
        raise unknown
    return False


def _check_place(workload: Subject, _: Settings) -> Iterator[Breach]:
    if not text(workload.metadata.get("namespace")) or workload.namespace == "default":
        yield Breach("metadata.namespace", '"default"', "a namespace of its own")


RULE = Rule(
    id="stack-namespace-baseline",
    title="Namespaces with floor and ceiling",
    description="A namespace lacks Pod Security labels, quota or LimitRange, or is the default one",
    rationale="Without them one agent takes the cluster, and the next is admitted as privileged.",
    remedy="label the namespace, add a ResourceQuota and a LimitRange",
    source="https://kubernetes.io/docs/concepts/security/multi-tenancy/",
    severity=Severity.MEDIUM,
    levels=Levels(Level.ADVISORY, Level.MANDATORY, Level.MANDATORY),
    frameworks=(
        "C5.7.1",
        "C5.7.4",
        "C5.2.1",
        "SC-6",
    ),
    fix=Fix.PARTLY,
    kinds=POD_KINDS | {NAMESPACE, RESOURCE_QUOTA, LIMIT_RANGE},
    check_stack=check,
    parameters=(REQUIRED,),
    not_in_cluster=(
        "it takes the quotas and limit ranges of a namespace, and a policy sees one object"
    ),
)
