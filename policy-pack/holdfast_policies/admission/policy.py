"""One rule as one policy of the cluster, whatever engine there judges by it.

Beside the rule itself stands here when it is asked at all:

- An object that is being deleted is let go.
- An update that changes nothing a rule reads is let through, so that what was there before the
  policies still gets its status, its finalizers and its scale.
- Pods, ReplicaSets and Jobs that a controller makes from something that was judged itself are let
  through: who made them is told by the API server, and cannot be forged.
- A waiver holds until its last day. The clock is the API server's own: the moment of creation, or
  that of the change, which stands in the managed fields.
"""

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass

from holdfast_policies.admission.resources import CLUSTER_SCOPED
from holdfast_policies.cel import quoted
from holdfast_policies.profile import Ruling

_OWNERS = '["ReplicaSet", "Deployment", "StatefulSet", "DaemonSet", "Job", "CronJob", ' + (
    '"ReplicationController", "Rollout", "Sandbox", "SandboxTemplate", "SandboxWarmPool", '
    '"SandboxClaim", "ScaledJob"]'
)
_CONTENT = (
    "spec",
    "template",
    "data",
    "stringData",
    "binaryData",
    "immutable",
    "type",
    "rules",
    "aggregationRule",
    "roleRef",
    "subjects",
    "automountServiceAccountToken",
)
_READ = re.compile(r"variables\.([A-Za-z]\w*)")

_TEMPLATE = (
    'object.kind == "Pod" ? variables.subject'
    ' : object.kind == "PodTemplate" ? variables.subject.?template.orValue({})'
    ' : object.kind == "CronJob"'
    " ? variables.subject.?spec.?jobTemplate.?spec.?template.orValue({})"
    ' : object.kind == "ScaledJob"'
    " ? variables.subject.?spec.?jobTargetRef.?template.orValue({})"
    ' : object.kind in ["Sandbox", "SandboxTemplate"]'
    " ? variables.subject.?spec.?podTemplate.orValue({})"
    " : variables.subject.?spec.?template.orValue({})"
)
_POD_PATH = (
    'object.kind == "Pod" ? "spec"'
    ' : object.kind == "PodTemplate" ? "template.spec"'
    ' : object.kind == "CronJob" ? "spec.jobTemplate.spec.template.spec"'
    ' : object.kind == "ScaledJob" ? "spec.jobTargetRef.template.spec"'
    ' : object.kind in ["Sandbox", "SandboxTemplate"] ? "spec.podTemplate.spec"'
    ' : "spec.template.spec"'
)
_ROLES = {"initContainers": "init", "containers": "main", "ephemeralContainers": "ephemeral"}
_CONTAINERS = " + ".join(
    f"variables.podSpec.?{field}.orValue([]).map(c,"
    f' {{"path": dyn(variables.podPath + ".{field}[name=" + c.name + "]"),'
    f' "value": dyn(c), "role": dyn("{role}")}})'
    for field, role in _ROLES.items()
)
_VOLUMES = (
    "variables.podSpec.?volumes.orValue([]).map(v,"
    ' {"path": dyn(variables.podPath + ".volumes[name=" + v.name + "]"), "value": dyn(v)})'
)
_CONTEXTS = (
    '[{"path": dyn(variables.podPath + ".securityContext"),'
    ' "value": dyn(variables.podSpec.?securityContext.orValue({}))}]'
    ' + variables.containers.map(c, {"path": dyn(c.path + ".securityContext"),'
    ' "value": dyn(c.value.?securityContext.orValue({}))})'
)
_NOW = (
    "([variables.subject.metadata.creationTimestamp] + variables.subject.metadata"
    ".?managedFields.orValue([]).filter(f, has(f.time)).map(f, f.time))"
    ".map(t, timestamp(t)).max()"
)


@dataclass(frozen=True, slots=True)
class Given:
    """Where a policy finds what differs between stacks, as CEL.

    Attributes:
        settings: The parameters of the rule.
        waivers: The list of waivers.
        controllers: Names of users whose objects follow from what was judged.
        namespaces: Names of the namespaces of the stack; an empty list for every one.
    """

    settings: str
    waivers: str
    controllers: str
    namespaces: str


@dataclass(frozen=True, slots=True)
class ClusterPolicy:
    """One rule as a policy of the cluster.

    Attributes:
        ruling: The rule as it is in force.
        conditions: When it is asked at all: name and CEL, all of which must hold.
        variables: Name and CEL, each reading those before it only.
        expression: CEL: whether the object passes.
        message: What to say when it does not, where `message_expression` cannot.
        message_expression: CEL of the same, with the field path.
        waived_expression: CEL of what to note of a waiver that was needed; empty without one.
    """

    ruling: Ruling
    conditions: tuple[tuple[str, str], ...]
    variables: tuple[tuple[str, str], ...]
    expression: str
    message: str
    message_expression: str
    waived_expression: str

    @property
    def id(self) -> str:
        """Id of the rule."""
        return self.ruling.rule.id


def cluster_policy(ruling: Ruling, given: Given) -> ClusterPolicy:
    """The policy of one rule that has its CEL."""
    rule = ruling.rule
    assert rule.admission is not None  # noqa: S101  # who asks has looked
    known: dict[str, str] = {
        "subject": "dyn(object)",
        "template": _TEMPLATE,
        "podSpec": "variables.template.?spec.orValue({})",
        "podPath": _POD_PATH,
        "containers": _CONTAINERS,
        "volumes": _VOLUMES,
        "contexts": _CONTEXTS,
        "settings": given.settings,
        **dict(rule.admission.variables),
        "breaches": " + ".join(f"({each})" for each in rule.admission.breaches),
        "now": _NOW,
        "waivers": _held_waivers(rule.id, given.waivers),
    }
    used = tuple(_used(known, ("breaches", "waivers")))
    return ClusterPolicy(
        ruling=ruling,
        conditions=tuple(_conditions(ruling, given)),
        variables=used,
        expression="variables.breaches.size() == 0 || variables.waivers.size() > 0",
        message=f"{rule.description}; {rule.remedy}",
        message_expression=_message(rule.remedy),
        waived_expression=(
            'variables.breaches.size() == 0 || variables.waivers.size() == 0 ? "" : '
            '"until " + string(variables.waivers[0].expires) + " by "'
            ' + string(variables.waivers[0].approver) + ": " + string(variables.breaches[0])'
        ),
    )


def _used(known: Mapping[str, str], wanted: tuple[str, ...]) -> Iterator[tuple[str, str]]:
    """Variables that are read, directly or not, in the order in which they are known."""
    needed, waiting = set(wanted), list(wanted)
    while waiting:
        for name in _READ.findall(known[waiting.pop()]):
            if name not in needed:
                needed.add(name)
                waiting.append(name)
    return ((name, text) for name, text in known.items() if name in needed)


def _message(remedy: str) -> str:
    more = '" (and " + string(variables.breaches.size() - 1) + " more)"'
    rest = f'(variables.breaches.size() > 1 ? {more} : "")'
    return f"string(variables.breaches[0]) + {rest} + {quoted(f'; {remedy}')}"


def _held_waivers(rule: str, waivers: str) -> str:
    """Waivers for this rule and object that have not ended: the last day counts."""
    metadata = "variables.subject.metadata"
    return (
        f"{waivers}.filter(w, {quoted(rule)} in w.rules && w.kind == object.kind"
        f' && w.namespace == {metadata}.?namespace.orValue("default")'
        f' && w.name == {metadata}.?name.orValue("")'
        ' && timestamp(w.expires + "T00:00:00Z") + duration("24h") > variables.now)'
    )


def _conditions(ruling: Ruling, given: Given) -> Iterator[tuple[str, str]]:
    yield "not-being-deleted", "!has(object.metadata.deletionTimestamp)"
    changed = [f"dyn(object).?{name} != dyn(oldObject).?{name}" for name in _CONTENT]
    changed += [
        f"dyn(object).metadata.?{name} != dyn(oldObject).metadata.?{name}"
        for name in ("labels", "annotations")
    ]
    yield "changes-what-is-judged", f"oldObject == null || {' || '.join(changed)}"
    user = 'dyn(request).?userInfo.?username.orValue("")'
    owned = f"o.?controller.orValue(false) && o.kind in {_OWNERS}"
    yield (
        "not-made-from-what-was-judged",
        f"!({user} in {given.controllers}"
        f' || {user}.startsWith("system:serviceaccount:kube-system:"))'
        f" || !dyn(object).metadata.?ownerReferences.orValue([]).exists(o, {owned})",
    )
    if ruling.rule.kinds & CLUSTER_SCOPED:
        # The API server writes its own roles and bindings at every start.
        yield "not-the-api-server", f'{user} != "system:apiserver"'
        subjects = "dyn(object).?subjects.orValue([])"
        reached = f's.?namespace.orValue("") in {given.namespaces} || s.name.startsWith("system:")'
        yield (
            "reaches-the-stack",
            f'dyn(object).metadata.?namespace.orValue("") != "" || {given.namespaces}.size() == 0'
            f" || {subjects}.exists(s, {reached})",
        )
