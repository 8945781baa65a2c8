"""How bad a finding is, by the field; a policy rule that it newly breaks can only make it worse.

critical: exposure, widened rights, isolation or Pod Security lowered. high: identity, selectors,
Secrets, whole objects gone. medium: other fields. low: metadata. `info` is for remarks, which are
no drift. The policy pack is not imported: the caller passes a function that judges one object.
"""

import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final

from holdfast.drift.compare.difference import Difference
from holdfast.drift.finding import DriftClass, Severity
from holdfast.drift.looked_for import LOOKED_FOR, Power
from holdfast.kube.objects import KubeObject, ObjectRef
from holdfast.kube.paths import ABSENT, Path, format_path, with_value

_POD_SECURITY_LEVELS: Final = ("restricted", "baseline", "privileged")
_ROLES: Final = frozenset({"Role", "ClusterRole"})
_BINDINGS: Final = frozenset({"RoleBinding", "ClusterRoleBinding"})
_OF_POWER: Final[Mapping[Power, Severity]] = {
    Power.RUNS_CODE: Severity.MEDIUM,
    Power.TAKES_TRAFFIC: Severity.MEDIUM,
    Power.OPENS_NETWORK: Severity.CRITICAL,
    Power.GRANTS_RIGHTS: Severity.CRITICAL,
    Power.HOLDS_CREDENTIALS: Severity.HIGH,
    Power.SCALES: Severity.MEDIUM,
    Power.LIMITS: Severity.MEDIUM,
}
_BREAKOUT: Final = re.compile(
    r"\.(hostNetwork|hostPID|hostIPC|hostPath|privileged|allowPrivilegeEscalation)$"
    r"|\.capabilities(\.add.*)?$|\.(runAsNonRoot|seccompProfile|procMount)\b|\.hostPort$"
)
_IDENTITY: Final = re.compile(
    r"\.(serviceAccountName|serviceAccount|automountServiceAccountToken|runAsUser|runAsGroup)$"
)
_SELECTOR: Final = re.compile(
    r"^spec\.(selector|podSelector)\b|\.targetPort$|^spec\.scaleTargetRef"
)
_METADATA: Final = re.compile(r"^metadata\b|\.template\.metadata\b")
_EXPOSING_TYPES: Final = frozenset({"NodePort", "LoadBalancer"})


@dataclass(frozen=True)
class BrokenRule:
    """A rule of the policy pack that an object breaks.

    Attributes:
        is_mandatory: The rule would refuse the object on this stack.
        is_security: Breaking it weakens isolation, identity or supply chain.
    """

    name: str
    is_mandatory: bool
    is_security: bool


def severity_of_field(
    ref: ObjectRef,
    drift_class: DriftClass,
    path: Path,
    desired: Any,  # noqa: ANN401  (any JSON value)
    live: Any,  # noqa: ANN401  (any JSON value)
) -> Severity:
    """Severity of a difference in one field, before the rules are asked."""
    text = format_path(path)
    if _METADATA.search(text):
        return _severity_of_metadata(ref.kind, text, desired, live)
    if ref.kind in _ROLES and drift_class is not DriftClass.REMOVED:
        return Severity.CRITICAL
    is_opening = (
        ref.kind == "NetworkPolicy"
        or (ref.kind == "Service" and _is_exposed(text, live))
        or _BREAKOUT.search(text)
        or _holds_breakout(live)
    )
    if is_opening:
        return Severity.CRITICAL
    is_about_access = ref.kind in _ROLES | _BINDINGS | {"Secret", "ServiceAccount"}
    if is_about_access or _IDENTITY.search(text) or _SELECTOR.search(text):
        return Severity.HIGH
    return Severity.MEDIUM


def _severity_of_metadata(kind: str, text: str, desired: Any, live: Any) -> Severity:  # noqa: ANN401
    if kind == "Namespace" and "pod-security.kubernetes.io/enforce" in text:
        return Severity.CRITICAL if _is_lowered(desired, live) else Severity.MEDIUM
    if kind == "ServiceAccount" and text.startswith("metadata.annotations"):
        # Cloud providers bind roles by annotations of the service account.
        return Severity.HIGH
    return Severity.LOW


def _is_lowered(desired: Any, live: Any) -> bool:  # noqa: ANN401  (JSON values)
    ranks = {level: rank for rank, level in enumerate(_POD_SECURITY_LEVELS)}
    weakest = len(ranks)
    before = weakest if desired is ABSENT else ranks.get(desired, weakest)
    return before < (weakest if live is ABSENT else ranks.get(live, weakest))


def _is_exposed(text: str, live: Any) -> bool:  # noqa: ANN401  (any JSON value)
    if text == "spec.type":
        return live in tuple(_EXPOSING_TYPES)
    return text.startswith(("spec.externalIPs", "spec.externalName", "spec.loadBalancer"))


def _holds_breakout(live: Any) -> bool:  # noqa: ANN401  (any JSON value)
    """Whether a value that appeared as a whole (a container, a volume) holds a way out."""
    if isinstance(live, dict):
        return any(
            (key in {"privileged", "hostPath"} and value) or _holds_breakout(value)
            for key, value in live.items()
        )
    return isinstance(live, list) and any(_holds_breakout(item) for item in live)


def severity_of_object(ref: ObjectRef, drift_class: DriftClass) -> Severity:
    """Severity of a finding about a whole object."""
    if drift_class is DriftClass.RECREATED:
        return Severity.MEDIUM
    if drift_class is DriftClass.UNMANAGED:
        sought = LOOKED_FOR.get((ref.group, ref.kind))
        return _OF_POWER[sought.power] if sought else Severity.LOW
    return Severity.CRITICAL if ref.kind == "NetworkPolicy" else Severity.HIGH


def with_rules(severity: Severity, broken: Iterable[BrokenRule]) -> Severity:
    """Severity raised by the mandatory rules that a finding breaks."""
    worst = severity
    for rule in broken:
        if rule.is_mandatory:
            raised = Severity.CRITICAL if rule.is_security else Severity.HIGH
            worst = min(worst, raised, key=lambda each: each.rank)
    return worst


RuleJudge = Callable[[Mapping[str, Any]], Mapping[str, BrokenRule]]
"""Judge one object by the rules of the stack: name of each broken rule to the rule."""


def rules_broken_by(
    judge: RuleJudge | None,
    desired: KubeObject,
    live: Mapping[str, Any],
    differences: Sequence[Difference],
) -> list[tuple[BrokenRule, ...]]:
    """Rules newly broken by each difference, in the order of the differences.

    A rule is newly broken when it holds for the declared object and not for the live one. Which
    difference breaks it is found by making each change alone; a rule that only several changes
    together break is held against all of them.
    """
    nothing: list[tuple[BrokenRule, ...]] = [() for _ in differences]
    if judge is None or not differences:
        return nothing
    before = judge(desired)
    newly = {name: rule for name, rule in judge(live).items() if name not in before}
    if not newly:
        return nothing
    if len(differences) == 1:
        return [_sorted(newly.values())]
    alone = [
        {
            name
            for name in judge(with_value(desired, difference.path, difference.live))
            if name in newly
        }
        for difference in differences
    ]
    together = set(newly) - set().union(*alone)
    return [_sorted(newly[name] for name in names | together) for names in alone]


def _sorted(rules: Any) -> tuple[BrokenRule, ...]:  # noqa: ANN401  (any iterable of rules)
    return tuple(sorted(rules, key=lambda rule: rule.name))
