"""What agents refer to by name: each reference must lead to something that admits it."""

import difflib
from collections.abc import Iterator, Mapping
from dataclasses import dataclass

from holdfast.errors import ManifestError
from holdfast.kube.paths import Path, format_path
from holdfast.manifest.agent.agent import AGENT_KIND, AgentSpec
from holdfast.manifest.agent.exposure import GATEWAY, Caller, Namespace
from holdfast.manifest.agent.model import ModelAccess, ObjectReference, as_reference
from holdfast.manifest.fleet.declared_names import DeclaredNames
from holdfast.manifest.fleet.fleet import (
    Declaration,
    DeclaredAgent,
    DeclaredMcpServer,
    DeclaredModelConfig,
    Fleet,
)
from holdfast.manifest.kinds.kinds import MCP_SERVER_KIND, AgentTeam, McpServer, ModelConfig
from holdfast.manifest.types.references import RefersTo, marked, parts_of
from holdfast.manifest.types.validation import NONE_DECLARED

_WORDS = {
    AGENT_KIND: "an agent",
    ModelConfig.KIND: "a ModelConfig",
    MCP_SERVER_KIND: "an MCPServer",
}


@dataclass(frozen=True, slots=True)
class ManifestReference:
    """One reference, as it stands in a manifest.

    Attributes:
        kind: Kind of what it leads to.
        reference: Bare name, or namespace and name.
        path: Where it stands.
    """

    kind: str
    reference: str | ObjectReference
    path: Path


def references_of(agent: DeclaredAgent) -> Iterator[ManifestReference]:
    """Every reference to a declared object of one kind in an agent's manifest."""
    for each in marked(agent.spec, RefersTo):
        if each.mark.kind and each.value != GATEWAY and not isinstance(each.value, Namespace):
            yield ManifestReference(each.mark.kind, each.value, each.path)


def model_choices(spec: AgentSpec) -> Iterator[tuple[ModelAccess, Path]]:
    """Every model that an agent asks, with its place: its own, fallbacks, the embedding one."""
    yield from parts_of(spec, ModelAccess)
    for each in marked(spec, RefersTo):
        if each.mark.relation == "embedding":
            yield ModelAccess(ref=each.value), each.path


def peers_of(agent: DeclaredAgent) -> Iterator[ManifestReference]:
    """Every agent that an agent may call: as a tool, or by an entry of egress."""
    for each in marked(agent.spec, RefersTo):
        if each.mark.relation in {"calls", "egress"}:
            yield ManifestReference(each.mark.kind, each.value, each.path)


def lets_in(callee: DeclaredAgent, caller: DeclaredAgent) -> bool:
    """Whether an agent's ingressFrom names another agent, or its namespace."""
    return any(_names(each, callee, caller) for each in callee.spec.network.ingress_from)


def faults_of_references(
    agent: DeclaredAgent, fleet: Fleet, names: DeclaredNames
) -> Iterator[ManifestError]:
    """References that lead nowhere, or to an object that does not let itself be referred to."""
    for each in references_of(agent):
        target = target_of(each, agent, fleet)
        if target is None:
            yield from faults_of_absence(each, agent, names)
        elif not isinstance(target, DeclaredAgent):
            yield from faults_of_sharing(each, agent, target)
    for each in peers_of(agent):
        callee = fleet.agent(each.reference, agent.namespace)
        if callee is not None:
            yield from faults_of_entry(agent, each.path, callee)


def faults_of_entry(
    agent: DeclaredAgent, path: Path, callee: DeclaredAgent
) -> Iterator[ManifestError]:
    """What keeps an agent from calling another one that it names; both ends are told."""
    bar = _bar_between(agent, callee)
    if bar is not None:
        expected, found, remedy = bar
        yield _fault(agent, path, expected=expected, found=found, remedy=remedy)


def _bar_between(agent: DeclaredAgent, callee: DeclaredAgent) -> tuple[str, str, str] | None:
    """What was expected, what is there and what to do, of an agent that cannot call another."""
    if not callee.spec.has_service:
        place = callee.location_of("spec.type")
        what = "a warm pool" if callee.spec.is_pooled else f"of type {callee.spec.type}"
        return (
            "expected an agent that can be called",
            f"{callee.name!r}, which is {what} ({place}) and has no address",
            "remove the reference",
        )
    if agent.spec.network.deny_egress:
        place = agent.location_of("spec.network.denyEgress")
        return (
            "expected no call to other agents",
            f"one to {callee.name!r}, although denyEgress is true ({place})",
            "remove denyEgress, or the reference",
        )
    if agent.namespace not in {callee.namespace, *callee.spec.allowed_namespaces}:
        place = callee.location_of("spec.allowedNamespaces")
        return (
            f"expected an agent that namespace {agent.namespace!r} may refer to",
            f"{callee.name!r}, whose allowedNamespaces ({place}) does not name it",
            f"add {agent.namespace} to allowedNamespaces of {callee.name!r}",
        )
    if not lets_in(callee, agent):
        place = callee.location_of("spec.network.ingressFrom")
        entry = agent.name
        if callee.namespace != agent.namespace:
            entry = f"{{namespace: {agent.namespace}, name: {agent.name}}}"
        return (
            f"expected an agent that lets {agent.name!r} in",
            f"{callee.name!r}, whose ingressFrom ({place}) does not name it",
            f"add {entry} to ingressFrom of {callee.name!r}, or remove the reference",
        )
    return None


def faults_of_teams(fleet: Fleet, names: DeclaredNames) -> Iterator[ManifestError]:
    """Members of teams that are no agents."""
    for team in fleet.of(AgentTeam):
        for each in marked(team.spec, RefersTo):
            if fleet.agent(each.value, team.namespace) is None:
                member = ManifestReference(AGENT_KIND, each.value, each.path)
                yield from faults_of_absence(member, team, names)


def target_of(
    reference: ManifestReference, agent: DeclaredAgent, fleet: Fleet
) -> DeclaredAgent | DeclaredModelConfig | DeclaredMcpServer | None:
    """What a reference leads to; None when it leads nowhere."""
    if reference.kind == AGENT_KIND:
        return fleet.agent(reference.reference, agent.namespace)
    if reference.kind == ModelConfig.KIND:
        return fleet.find(ModelConfig, reference.reference, agent.namespace)
    return fleet.find(McpServer, reference.reference, agent.namespace)


def _names(entry: Caller, callee: DeclaredAgent, caller: DeclaredAgent) -> bool:
    if isinstance(entry, Namespace):
        return entry.namespace == caller.namespace
    return entry != GATEWAY and as_reference(entry, callee.namespace) == (
        caller.namespace,
        caller.name,
    )


def faults_of_absence(
    reference: ManifestReference, referrer: Declaration, names: DeclaredNames
) -> Iterator[ManifestError]:
    """A reference that leads nowhere, with what may be meant."""
    namespace, name = as_reference(reference.reference, referrer.namespace)
    known = names.of(reference.kind)
    namespaces = known.get(name, {})
    if namespace in namespaces or not names.are_complete:
        return  # what is wrong with it, or with its file, is reported there
    if namespaces:
        elsewhere = next(iter(namespaces))
        remedy = f"write {{namespace: {elsewhere}, name: {name}}}"
    else:
        remedy = _meant(name, known, referrer.namespace)
    yield _fault(
        referrer,
        reference.path,
        expected=f"expected {_WORDS[reference.kind]} of namespace {namespace!r}",
        found=repr(name),
        remedy=remedy,
    )


def _meant(name: str, known: Mapping[str, Mapping[str, object]], namespace: str) -> str:
    """A name spelled alike, else every known one, each in the form that leads to it."""
    forms = {each: _form(each, namespaces, namespace) for each, namespaces in known.items()}
    if close := difflib.get_close_matches(name, forms, n=1, cutoff=0.6):
        form = forms[close[0]]
        return f"did you mean {form}?" if form.startswith("{") else f'did you mean "{form}"?'
    return f"known: {', '.join(forms[each] for each in sorted(forms))}" if forms else NONE_DECLARED


def _form(name: str, namespaces: Mapping[str, object], namespace: str) -> str:
    if namespace in namespaces:
        return name
    return f"{{namespace: {next(iter(namespaces))}, name: {name}}}"


def faults_of_sharing(
    reference: ManifestReference,
    agent: DeclaredAgent,
    target: DeclaredModelConfig | DeclaredMcpServer,
) -> Iterator[ManifestError]:
    """A reference to what another namespace shares, though not with this one."""
    if agent.namespace in {target.namespace, *target.spec.allowed_namespaces}:
        return
    place = target.location_of("spec.allowedNamespaces")
    yield _fault(
        agent,
        reference.path,
        expected=f"expected {_WORDS[reference.kind]} that namespace {agent.namespace!r} may use",
        found=f"{target.name!r}, whose allowedNamespaces ({place}) does not name it",
        remedy=f"add {agent.namespace} to allowedNamespaces of {target.name!r}",
    )


def _fault(
    referrer: Declaration, path: Path, *, expected: str, found: str, remedy: str
) -> ManifestError:
    return ManifestError(
        referrer.location_of(path), format_path(path), expected=expected, found=found, remedy=remedy
    )
