"""What only the graph shows: lost dependencies, cycles, volumes and namespaces claimed twice."""

from collections.abc import Iterator

from holdfast.errors import ManifestError
from holdfast.kube.paths import Path, format_path
from holdfast.manifest.agent.agent import AGENT_KIND
from holdfast.manifest.agent.dependency import Dependency, as_dependency
from holdfast.manifest.fleet.declared_names import DeclaredNames
from holdfast.manifest.fleet.fleet import DeclaredAgent, Fleet
from holdfast.manifest.fleet.references import ManifestReference, faults_of_entry, faults_of_sharing
from holdfast.manifest.fleet.topology import Edge, Node, candidates_of, edges_of, node_of
from holdfast.manifest.kinds.kinds import MCP_SERVER_KIND, AgentTeam, McpServer, ModelConfig
from holdfast.manifest.types.ordering import cycles
from holdfast.manifest.types.validation import suggestion


def faults_of_dependencies(
    agent: DeclaredAgent, fleet: Fleet, names: DeclaredNames
) -> Iterator[ManifestError]:
    """Dependencies that lead nowhere, to several objects, or to one that cannot be reached."""
    for index, reference in enumerate(agent.spec.depends_on):
        path: Path = ("spec", "dependsOn", index)
        found = candidates_of(reference, agent, fleet)
        if not found:
            yield from _absent(agent, path, as_dependency(reference), names)
        elif len(found) > 1:
            yield _fault(
                agent,
                path,
                expected="expected one object",
                found=" and ".join(f"{each.kind} {each.label}" for each in found),
                remedy=f"say which: {{kind: {found[0].kind}, name: {found[0].name}}}",
            )
        else:
            yield from _unreachable(agent, path, found[0], fleet)


def faults_of_cycles(fleet: Fleet) -> Iterator[ManifestError]:
    """Agents that wait for, or delegate to, one another; the whole way is told with its places."""
    edges = {
        (edge.source, edge.target): edge
        for edge in edges_of(fleet)
        if edge.relation in {"dependsOn", "calls"} and edge.target.kind == AGENT_KIND
    }
    needs: dict[Node, list[Node]] = {node_of(agent): [] for agent in fleet.agents}
    for source, target in edges:
        needs[source].append(target)
    for cycle in cycles(needs):
        way = [
            edges[source, target]
            for source, target in zip(cycle, [*cycle[1:], cycle[0]], strict=True)
        ]
        yield ManifestError(
            way[0].location,
            format_path(way[0].path),
            expected="expected no cycle of dependencies",
            found=_way(way),
            remedy="remove one of these references; for calls alone, use network.egress",
        )


def faults_of_volumes(fleet: Fleet) -> Iterator[ManifestError]:
    """Claims that one pod at a time may write, mounted by several agents."""
    writers: dict[tuple[str, str], tuple[DeclaredAgent, Path]] = {}
    for agent in fleet.agents:
        for index, volume in enumerate(agent.spec.storage.volumes):
            if agent.spec.is_pooled or not volume.is_single_writer:
                continue
            claim = volume.existing_claim or f"{agent.name}-{volume.name}"
            path: Path = ("spec", "storage", "volumes", index)
            first, place = writers.setdefault((agent.namespace, claim), (agent, path))
            if first is not agent:
                yield _fault(
                    agent,
                    path,
                    expected="expected a claim that no other agent writes",
                    found=f"{claim!r} of {first.name!r} ({first.location_of(place)})",
                    remedy="give each agent a claim of its own, or one with ReadWriteMany",
                )


def faults_of_tenants(fleet: Fleet) -> Iterator[ManifestError]:
    """Namespaces that two teams claim, and agents that live in another team's namespace."""
    owners: dict[str, tuple[str, str]] = {}
    for team in fleet.of(AgentTeam):
        for index, namespace in enumerate(team.spec.namespaces):
            path: Path = ("spec", "namespaces", index)
            place = str(team.location_of(path))
            owner, other = owners.setdefault(namespace, (team.name, place))
            if owner != team.name:
                yield ManifestError(
                    team.location_of(path),
                    format_path(path),
                    expected="expected a namespace that no other team claims",
                    found=f"{namespace!r} of {owner!r} ({other})",
                    remedy="remove it from one of them",
                )
    for agent in fleet.agents:
        owner, place = owners.get(agent.namespace, ("", ""))
        team_of_agent = fleet.team_of(agent)
        if owner and (team_of_agent is None or team_of_agent.name != owner):
            yield _fault(
                agent,
                ("metadata", "namespace"),
                expected=f"expected a namespace that is not only for team {owner!r} ({place})",
                found=repr(agent.namespace),
                remedy=f"add {agent.name} to the members of {owner!r}, or move it",
            )


def _absent(
    agent: DeclaredAgent, path: Path, dependency: Dependency, names: DeclaredNames
) -> Iterator[ManifestError]:
    kinds = (
        (dependency.kind,) if dependency.kind else (AGENT_KIND, MCP_SERVER_KIND, ModelConfig.KIND)
    )
    namespace = dependency.namespace or agent.namespace
    declared = [names.of(kind) for kind in kinds]
    places = {place for each in declared for place in each.get(dependency.name, {})}
    if namespace in places or not names.are_complete:
        return  # what is wrong with it, or with its file, is reported there
    remedy = suggestion(dependency.name, {name for each in declared for name in each})
    if places:
        remedy = f"write {{namespace: {min(places)}, name: {dependency.name}}}"
    elif dependency.kind is None:
        remedy += "; a Service needs {kind: Service, name, port}"
    yield _fault(
        agent,
        path,
        expected=f"expected {' or '.join(kinds)} of namespace {namespace!r}",
        found=repr(dependency.name),
        remedy=remedy,
    )


def _unreachable(
    agent: DeclaredAgent, path: Path, target: Node, fleet: Fleet
) -> Iterator[ManifestError]:
    if target.kind == AGENT_KIND:
        callee = fleet.agent(target.name, target.namespace)
        if callee is not None and callee is not agent:
            yield from faults_of_entry(agent, path, callee)
    elif target.kind == MCP_SERVER_KIND:
        server = fleet.find(McpServer, target.name, target.namespace)
        if server is not None:
            reference = ManifestReference(MCP_SERVER_KIND, target.name, path)
            yield from faults_of_sharing(reference, agent, server)
    elif target.kind == ModelConfig.KIND:
        model = fleet.find(ModelConfig, target.name, target.namespace)
        if model is None:
            return
        yield from faults_of_sharing(
            ManifestReference(ModelConfig.KIND, target.name, path), agent, model
        )
        if model.spec.base_url is None:
            yield _fault(
                agent,
                path,
                expected="expected a ModelConfig with an address to wait for",
                found=f"{model.name!r}, which has no baseUrl ({model.location_of('spec')})",
                remedy="remove it: the provider is not a part of the cluster",
            )


def _way(edges: list[Edge]) -> str:
    """`a (agents/a.yaml:7:15) -> b (agents/b.yaml:8:3) -> a`."""
    steps = [f"{edge.source.label} ({edge.location})" for edge in edges]
    return " -> ".join([*steps, edges[0].source.label])


def _fault(
    agent: DeclaredAgent, path: Path, *, expected: str, found: str, remedy: str
) -> ManifestError:
    return ManifestError(
        agent.location_of(path), format_path(path), expected=expected, found=found, remedy=remedy
    )
