"""Rules as one policy of the cluster, whatever engine there judges by it.

What an API server spends on a policy is mostly spent before its first expression: rules that stand
in one policy cost a tenth of as many policies. So a policy judges by many rules and says in one
answer which of them an object breaks.

Beside the rules stands here when they are asked at all:

- An object that is being deleted is let go.
- An update that changes nothing a rule reads is let through, so that what was there before the
  policies still gets its status, its finalizers and its scale.
- Pods, ReplicaSets and Jobs that a controller makes from something that was judged itself are let
  through: who made them is told by the API server, and cannot be forged.
- A waiver holds until its last day. The clock is the API server's own: the moment of creation, or
  that of the change, which stands in the managed fields.
"""

import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass

from holdfast_policies.admission.resources import CLUSTER_SCOPED
from holdfast_policies.evaluation.profile import Ruling
from holdfast_policies.model.cel import items_of, listed, quoted
from holdfast_policies.model.kinds import (
    ANY_KIND,
    POD_TEMPLATE_PATHS,
    SANDBOX_CLAIM,
    WARM_POOL,
    Kind,
)

_OWNERS = listed(
    sorted({kind.name for kind in (*POD_TEMPLATE_PATHS, SANDBOX_CLAIM, WARM_POOL)} - {"Pod"})
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
_READ = re.compile(r"(?<![.\w])variables\.([A-Za-z]\w*)")
_LONGEST_MESSAGE = 4000


def by_place(written: Callable[[tuple[str, ...]], str]) -> str:
    """CEL of what differs by where a kind keeps its pods' template; most keep it in one place."""
    kinds: dict[tuple[str, ...], list[str]] = {}
    for kind, steps in POD_TEMPLATE_PATHS.items():
        kinds.setdefault(steps, []).append(kind.name)
    usual = max(kinds, key=lambda steps: len(kinds[steps]))
    others = [
        f"object.kind in {listed(sorted(names))} ? {written(steps)} : "
        for steps, names in kinds.items()
        if steps != usual
    ]
    return "".join([*others, written(usual)])


def _template_at(steps: tuple[str, ...]) -> str:
    return f"variables.subject{''.join(f'.?{step}' for step in steps)}.orValue({{}})"


_TEMPLATE = by_place(lambda steps: _template_at(steps) if steps else "variables.subject")
_POD_PATH = by_place(lambda steps: quoted(".".join((*steps, "spec"))))
_ROLES = {"initContainers": "init", "containers": "main", "ephemeralContainers": "ephemeral"}
_CONTAINERS = " + ".join(
    f"{items_of(f'variables.podSpec.?{field}')}.map(c,"
    f' {{"path": dyn(variables.podPath + ".{field}[name=" + c.name + "]"),'
    f' "value": dyn(c), "role": dyn("{role}")}})'
    for field, role in _ROLES.items()
)
_VOLUMES = (
    f"{items_of('variables.podSpec.?volumes')}.map(v,"
    ' {"path": dyn(variables.podPath + ".volumes[name=" + v.name + "]"), "value": dyn(v)})'
)
_CONTEXTS = (
    '[{"path": dyn(variables.podPath + ".securityContext"),'
    ' "value": dyn(variables.podSpec.?securityContext.orValue({}))}]'
    ' + variables.containers.map(c, {"path": dyn(c.path + ".securityContext"),'
    ' "value": dyn(c.value.?securityContext.orValue({}))})'
)
SHARED = {
    "subject": "dyn(object)",
    "template": _TEMPLATE,
    "podSpec": "variables.template.?spec.orValue({})",
    "podPath": _POD_PATH,
    "containers": _CONTAINERS,
    "volumes": _VOLUMES,
    "contexts": _CONTEXTS,
}
_NOW = (
    "([variables.subject.metadata.creationTimestamp] + variables.subject.metadata"
    ".?managedFields.orValue([]).filter(f, has(f.time)).map(f, f.time))"
    ".map(t, timestamp(t)).max()"
)


@dataclass(frozen=True, slots=True)
class Given:
    """Where a policy finds what differs between stacks, as CEL.

    Attributes:
        settings: The parameters of all rules by their ids.
        waivers: The list of waivers.
        controllers: Names of users whose objects follow from what was judged.
        namespaces: Names of the namespaces of the stack; an empty list for every one.
        variables: What these read, where it has to be written down first: name and CEL.
        provided: Variables that the engine itself brings.
    """

    settings: str
    waivers: str
    controllers: str
    namespaces: str
    variables: tuple[tuple[str, str], ...] = ()
    provided: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class ClusterPolicy:
    """Rules as one policy of the cluster.

    Attributes:
        rulings: The rules as they are in force.
        conditions: When they are asked at all: name and CEL, all of which must hold.
        variables: Name and CEL, each reading those before it only.
        expression: CEL: whether the object passes.
        message: What to say when it does not, where `message_expression` cannot.
        message_expression: CEL of the same: every rule that is broken, and where.
        waived_expression: CEL of the same about what was waived; empty when nothing was.
    """

    rulings: tuple[Ruling, ...]
    conditions: tuple[tuple[str, str], ...]
    variables: tuple[tuple[str, str], ...]
    expression: str
    message: str
    message_expression: str
    waived_expression: str

    @property
    def kinds(self) -> frozenset[Kind]:
        """What it is asked about."""
        return frozenset().union(*(ruling.rule.kinds for ruling in self.rulings))


def cluster_policy(rulings: Sequence[Ruling], given: Given) -> ClusterPolicy:
    """The policy of rules that all have their CEL."""
    kinds: frozenset[Kind] = frozenset().union(*(each.rule.kinds for each in rulings))
    known = SHARED | dict(given.variables)
    for ruling in rulings:
        known |= own_variables(ruling, kinds, given)
    known |= {
        "waivers": held_waivers(given.waivers),
        "now": _NOW,
        "breaches": " + ".join(_words(ruling, is_waived=False) for ruling in rulings),
        "waived": " + ".join(_words(ruling, is_waived=True) for ruling in rulings),
    }
    return ClusterPolicy(
        rulings=tuple(rulings),
        conditions=tuple(conditions_of(kinds, given)),
        variables=tuple(variables_read(known, ("breaches", "waived"), given.provided)),
        expression="variables.breaches.size() == 0",
        message=_message(rulings),
        message_expression=_cut("variables.breaches"),
        waived_expression='variables.waivers.size() == 0 ? "" : ' + _cut("variables.waived"),
    )


def own_variables(ruling: Ruling, kinds: frozenset[Kind], given: Given) -> dict[str, str]:
    """Variables of one rule under names of its own; the last one holds its breaches."""
    rule, admission = ruling.rule, ruling.rule.admission
    assert admission is not None  # noqa: S101  # who asks has looked
    own = rule_name(ruling)
    texts = dict(admission.variables)
    if rule.parameters:
        texts = {"settings": f"{given.settings}[{quoted(rule.id)}]", **texts}
    texts["breaches"] = _guarded(
        " + ".join(f"({each})" for each in admission.breaches), rule.kinds, kinds
    )
    if ruling.applies_to is not None:
        texts["breaches"] = f"{ruling.applies_to.in_cel()} ? {_grouped(texts['breaches'])} : []"
    return {
        own if name == "breaches" else f"{own}_{name}": in_own_names(ruling, text)
        for name, text in texts.items()
    }


def in_own_names(ruling: Ruling, text: str) -> str:
    """CEL of a rule, with the names under which its variables stand beside those of other rules."""
    admission = ruling.rule.admission
    assert admission is not None  # noqa: S101  # who asks has looked
    own = {"settings", *(name for name, _ in admission.variables)}

    def renamed(read: re.Match[str]) -> str:
        name = read.group(1)
        return f"variables.{rule_name(ruling)}_{name}" if name in own else read.group(0)

    return _READ.sub(renamed, text)


def _grouped(text: str) -> str:
    return f"({text})"


def _guarded(breaches: str, judged: frozenset[Kind], asked: frozenset[Kind]) -> str:
    """Breaches of a rule that judges fewer kinds than its policy is asked about."""
    if judged == asked or ANY_KIND in judged:
        return breaches
    return f"object.kind in {listed(sorted({kind.name for kind in judged}))} ? {breaches} : []"


def _words(ruling: Ruling, *, is_waived: bool) -> str:
    """CEL of a list: what to say of a rule when it is broken, and is waived or not; or nothing."""
    found, rule = f"variables.{rule_name(ruling)}", ruling.rule
    waived = f"variables.waivers.exists(w, {quoted(rule.id)} in w.rules)"
    more = f'({found}.size() > 1 ? " (and " + string({found}.size() - 1) + " more)" : "")'
    text = f"{quoted(f'{rule.id}: ')} + {found}[0] + {more}"
    by = f"variables.waivers.filter(w, {quoted(rule.id)} in w.rules)[0]"
    granted = f'" (waived until " + string({by}.expires) + " by " + string({by}.approver) + ")"'
    end = f" + {granted if is_waived else quoted(f'; {rule.remedy}')}"
    holds = waived if is_waived else f"!{waived}"
    return f"({found}.size() > 0 && {holds} ? [{text}{end}] : [])"


def _cut(texts: str) -> str:
    """CEL of several texts as one, no longer than an API server passes on."""
    joined = f'{texts}.join(" | ")'
    cut = f'{joined}.substring(0, {_LONGEST_MESSAGE}) + "..."'
    return f"{joined}.size() > {_LONGEST_MESSAGE} ? {cut} : {joined}"


def _message(rulings: Sequence[Ruling]) -> str:
    if len(rulings) > 1:
        return f"breaks more of {len(rulings)} rules than fit into an answer"
    return f"{rulings[0].rule.description}; {rulings[0].rule.remedy}"


def rule_name(ruling: Ruling) -> str:
    """Name of the variable that holds the breaches of a rule."""
    return ruling.rule.id.replace("-", "_")


def variables_read(
    known: Mapping[str, str], wanted: Iterable[str], provided: Iterable[str]
) -> Iterator[tuple[str, str]]:
    """Variables that are read, directly or not, each after those that it reads."""
    done = set(provided)

    def visit(name: str) -> Iterator[tuple[str, str]]:
        if name not in done:
            done.add(name)
            for read in _READ.findall(known[name]):
                yield from visit(read)
            yield name, known[name]

    for name in wanted:
        yield from visit(name)


def held_waivers(waivers: str, *, is_timed: bool = True) -> str:
    """CEL: waivers for this object that have not ended: the last day counts.

    Args:
        waivers: CEL of the list.
        is_timed: Whether there is a clock; without one all waivers hold.
    """
    metadata = "variables.subject.metadata"
    ends = ' && timestamp(w.expires + "T00:00:00Z") + duration("24h") > variables.now'
    return (
        f"{waivers}.filter(w, w.kind == object.kind"
        f' && w.namespace == {metadata}.?namespace.orValue("default")'
        f' && w.name == {metadata}.?name.orValue("")'
        f"{ends if is_timed else ''})"
    )


def conditions_of(kinds: frozenset[Kind], given: Given) -> Iterator[tuple[str, str]]:
    """When rules about these kinds are asked at all: name and CEL."""
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
    if kinds & (CLUSTER_SCOPED | {ANY_KIND}):
        # The API server writes its own roles and bindings at every start.
        yield "not-the-api-server", f'{user} != "system:apiserver"'
        subjects = "dyn(object).?subjects.orValue([])"
        reached = f's.?namespace.orValue("") in {given.namespaces} || s.name.startsWith("system:")'
        yield (
            "reaches-the-stack",
            f'dyn(object).metadata.?namespace.orValue("") != "" || {given.namespaces}.size() == 0'
            f" || {subjects}.exists(s, {reached})",
        )
