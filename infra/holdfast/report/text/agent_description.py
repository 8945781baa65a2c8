"""What one agent is, in words: how it runs, who may call it, what it may reach and do."""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass

from holdfast.errors import SourceLocation
from holdfast.kube.paths import Segment, format_path
from holdfast.kube.text import counted
from holdfast.manifest.agent.agent import AGENT_KIND, AgentSpec
from holdfast.manifest.agent.exposure import GATEWAY, Namespace
from holdfast.manifest.agent.model import ModelChoice, as_reference
from holdfast.manifest.fleet.egress import destinations_of, targets_of
from holdfast.manifest.fleet.fleet import DeclaredAgent, Fleet
from holdfast.manifest.fleet.references import peers_of
from holdfast.manifest.fleet.topology import Edge, edges_of, node_of
from holdfast.manifest.kinds.kinds import MCP_SERVER_KIND, ModelConfig
from holdfast.manifest.kinds.mcp_server import OWN_PATHS
from holdfast.manifest.stack.environment import PodGroup
from holdfast.manifest.types.hosts import HostKind


@dataclass(frozen=True, slots=True)
class Statement:
    """One sentence about an agent, and the field that makes it true.

    Attributes:
        path: Field of the manifest; empty where none says it.
        location: Where that field was written; None for a default.
    """

    text: str
    path: str = ""
    location: SourceLocation | None = None


@dataclass(frozen=True, slots=True)
class Section:
    """What is said about one side of an agent; `key` names it for programs."""

    key: str
    title: str
    statements: tuple[Statement, ...]


def describe(agent: DeclaredAgent, fleet: Fleet) -> tuple[Section, ...]:
    """Everything about an agent that a person asks first, section by section."""
    words = _Words(agent, fleet)
    sections = (
        ("runs", "Runs as", words.runs()),
        ("model", "Thinks with", words.model()),
        ("tools", "Tools", words.tools()),
        ("callers", "Who may call it", words.callers()),
        ("reaches", "What it may reach", words.reaches()),
        ("rights", "Rights at the API server", words.rights()),
        ("secrets", "Secrets, by reference", words.secrets()),
        ("storage", "Storage", words.storage()),
        ("schedules", "Schedule", words.schedules()),
    )
    found = [Section(key, title, tuple(statements)) for key, title, statements in sections]
    return tuple(section for section in found if section.statements)


class _Words:
    def __init__(self, agent: DeclaredAgent, fleet: Fleet) -> None:
        self._agent = agent
        self._fleet = fleet

    @property
    def _spec(self) -> AgentSpec:
        return self._agent.spec

    def runs(self) -> Iterator[Statement]:
        spec, settings = self._spec, self._spec.sandbox
        if spec.type == "Job":
            yield self._say("runs that end; nothing waits to be called", "type")
        elif spec.is_pooled:
            assert settings.warm_pool is not None  # noqa: S101 - what a pool is
            text = f"a pool of {settings.warm_pool.replicas} warm sandboxes, claimed one by one"
            yield self._say(text, "sandbox", "warmPool", "replicas")
        elif spec.type == "Sandbox":
            yield self._say("one sandbox, recreated when it changes", "type")
        else:
            yield from self._replicas()
            yield self._say(f"changes by {self._strategy()}", "rollout", "strategy")
        if spec.image:
            yield self._say(f"image {spec.image}", "image")
        requests, limits = spec.container.resources.effective()
        yield self._say(f"asks for {_amounts(requests)}; at most {_amounts(limits)}", "resources")
        yield self._say(
            f"has {spec.grace_seconds} s to end", "lifecycle", "terminationGracePeriodSeconds"
        )

    def _strategy(self) -> str:
        rollout, spec = self._spec.rollout, self._spec
        if rollout.strategy == "RollingUpdate" and any(
            volume.is_single_writer for volume in spec.storage.volumes
        ):
            return "Recreate, since a volume has a single writer"
        weights = [f"{step.set_weight}%" for step in rollout.steps if step.set_weight is not None]
        judged = ", judged by its metrics" if rollout.analysis else ""
        return f"{rollout.strategy}{f' at {_listed(weights)}' if weights else ''}{judged}"

    def _replicas(self) -> Iterator[Statement]:
        scaling = self._spec.scaling
        if not scaling.is_automatic:
            count = scaling.most_replicas
            yield self._say(counted(count, "replica"), "scaling", "replicas")
            return
        on = " and ".join(
            f"{each.name} at {each.target}{'%' if each.type == 'Resource' else ' a pod'}"
            for each in scaling.metrics
        )
        text = f"{scaling.min_replicas} to {scaling.max_replicas} replicas" + (
            f", by {on}" if on else ""
        )
        yield self._say(text, "scaling")

    def model(self) -> Iterator[Statement]:
        model = self._spec.model
        if model is None:
            return
        yield self._say(self._choice(model), "model")
        for index, fallback in enumerate(model.fallbacks):
            text = f"then {self._choice(fallback)}"
            yield self._say(text, "model", "fallbacks", index)
        yield self._say(f"waits {model.timeout} for an answer", "model", "timeout")

    def _choice(self, choice: ModelChoice) -> str:
        if choice.ref is None:
            return f"{choice.name} of {choice.provider}"
        shared = self._fleet.find(ModelConfig, choice.ref, self._agent.namespace)
        if shared is None:
            return f"ModelConfig {_named(choice.ref, self._agent.namespace)}"
        where = shared.location_of("spec")
        spec = shared.spec
        return f"{spec.name} of {spec.provider} (ModelConfig {shared.name}, {where})"

    def tools(self) -> Iterator[Statement]:
        for index, tool in enumerate(self._spec.tools):
            if tool.mcp:
                yield from self._mcp(index)
            elif tool.agent:
                name = _named(tool.agent.ref, self._agent.namespace)
                yield self._say(f"agent {name}", "tools", index, "agent", "ref")
            elif tool.http:
                text = f"{tool.http.method} {tool.http.url}"
                yield self._say(text, "tools", index, "http", "url")

    def _mcp(self, index: int) -> Iterator[Statement]:
        tool = self._spec.tools[index].mcp
        assert tool is not None  # noqa: S101 - the caller has seen it
        server = _named(tool.server_ref, self._agent.namespace) if tool.server_ref else tool.url
        text = f"{', '.join(tool.tool_names)} of {server}"
        yield self._say(text, "tools", index, "mcp")
        if tool.require_approval:
            names = ", ".join(tool.require_approval)
            text = f"{names}: only with a person's approval"
            yield self._say(text, "tools", index, "mcp", "requireApproval")

    def callers(self) -> Iterator[Statement]:
        spec, network = self._spec, self._fleet.environment.network
        if not spec.is_called:
            yield self._say("none: it has no port", "type")
            return
        port = spec.network.expose.port
        for index, caller in enumerate(spec.network.ingress_from):
            if caller == GATEWAY:
                who = f"the gateway{_pods(network.gateway)}"
            elif isinstance(caller, Namespace):
                who = f"every pod of namespace {caller.namespace}"
            else:
                who = f"agent {_named(caller, self._agent.namespace)}"
            yield self._say(f"{who}, on port {port}", "network", "ingressFrom", index)
        users = [edge for edge in self._uses() if edge.target == node_of(self._agent)]
        for edge in users:
            text = f"agent {edge.source.label}, which names it, on port {port}"
            yield Statement(text, format_path(edge.path), edge.location)
        if not spec.network.ingress_from and not users:
            yield self._say("none", "network", "ingressFrom")
        if network.monitoring and spec.telemetry.metrics.enabled:
            text = f"monitoring{_pods(network.monitoring)}, on port {spec.telemetry.metrics.port}"
            yield self._say(text, "telemetry", "metrics")

    def _uses(self) -> Iterable[Edge]:
        """What names a tool server, which lets in whoever does; nothing for an agent."""
        if self._agent.kind == AGENT_KIND:
            return ()
        edges = edges_of(self._fleet)
        return [each for each in edges if each.relation in {"tools", "dependsOn"}]

    def reaches(self) -> Iterator[Statement]:
        declared = self._spec.network
        if declared.allow_dns:
            dns = _pods(self._fleet.environment.network.dns)
            yield self._say(f"name resolution{dns}", "network", "allowDNS")
        if declared.deny_egress:
            yield self._say("nothing else", "network", "denyEgress")
            return
        if declared.asks_api_server or self._spec.scaling.leader_election:
            yield self._say("the API server", "network", "egress")
        for peer in peers_of(self._agent):
            name = _named(peer.reference, self._agent.namespace)
            yield self._at(f"agent {name}", peer.path)
        for each in destinations_of(self._spec, self._agent.namespace, targets_of(self._fleet)):
            way = " through the egress gateway" if each.kind is HostKind.EXTERNAL else ""
            yield self._at(f"{each.host}:{each.port}{way}", each.path)
        for index, entry in enumerate(declared.egress):
            if entry.cidr is not None:
                ports = ", ".join(f"{each.port}/{each.protocol}" for each in entry.ports)
                text = f"{entry.cidr} at {ports}" if ports else entry.cidr
                yield self._say(text, "network", "egress", index, "cidr")

    def rights(self) -> Iterator[Statement]:
        security = self._spec.pod.security
        account = security.service_account.name or self._agent.name
        mounted = "a token in its pods" if security.automount_token else "no token in its pods"
        text = f"ServiceAccount {account}, {mounted}"
        yield self._say(text, "pod", "security", "automountToken")
        for index, grant in enumerate(security.rbac):
            where = f"in {_listed(grant.namespaces)}" if grant.namespaces else "in its namespace"
            for number, rule in enumerate(grant.rules):
                groups = "" if rule.api_groups == ("",) else f" of {_listed(rule.api_groups)}"
                only = f", only {_listed(rule.resource_names)}" if rule.resource_names else ""
                text = f"may {_listed(rule.verbs)} {_listed(rule.resources)}{groups}{only}, {where}"
                yield self._say(text, "pod", "security", "rbac", index, "rules", number)
        if not security.rbac:
            yield self._say("none", "pod", "security", "rbac")

    def secrets(self) -> Iterator[Statement]:
        for index, secret in enumerate(self._spec.secrets):
            key = f", key {secret.key}" if secret.key else ""
            way = f"variable {secret.env}" if secret.env else f"files in {secret.mount_path}"
            text = f"{secret.name}: {secret.provider} {secret.ref}{key}, as {way}"
            yield self._say(text, "secrets", index)

    def storage(self) -> Iterator[Statement]:
        for index, volume in enumerate(self._spec.storage.volumes):
            claim = f"claim {volume.existing_claim}" if volume.existing_claim else volume.size
            modes = _listed(volume.access_modes)
            if self._spec.is_pooled:
                fate = "goes with its sandbox"
            elif volume.existing_claim is None and volume.retain:
                fate = "stays when the agent goes"
            else:
                fate = "is not this agent's" if volume.existing_claim else "goes with the agent"
            text = f"{volume.name}: {claim} at {volume.mount_path}, {modes}, {fate}"
            yield self._say(text, "storage", "volumes", index)
        if backup := self._spec.storage.backup:
            when = f'"{backup.schedule}" in {backup.timezone}' if backup.schedule else "no schedule"
            before = ", and before each rollout" if backup.before_rollout else ""
            days = backup.retention_days
            text = f"saved by {backup.method}, {when}{before}; kept {days} days"
            yield self._say(text, "storage", "backup")

    def schedules(self) -> Iterator[Statement]:
        for index, schedule in enumerate(self._spec.job.schedules):
            state = ", suspended" if schedule.suspend else ""
            text = f'"{schedule.cron}" in {schedule.timezone}{state}'
            yield self._say(text, "job", "schedules", index, "cron")
        for index, trigger in enumerate(self._spec.job.triggers):
            state = ", suspended" if trigger.suspend else ""
            text = f"for every {trigger.per_run} of {trigger.metric}, {trigger.max_runs} at a time"
            yield self._say(f"{text}{state}", "job", "triggers", index, "metric")

    def _say(self, text: str, *path: Segment) -> Statement:
        return self._at(text, ("spec", *path))

    def _at(self, text: str, path: tuple[Segment, ...]) -> Statement:
        origin = self._agent.origin
        if self._agent.kind == MCP_SERVER_KIND:
            path = ("spec", *OWN_PATHS.get(path[1:], path[1:]))
        for part in path:
            below = origin.child(part)
            if below is None:
                return Statement(text, format_path(path))
            origin = below
        return Statement(text, format_path(path), origin.value_location)


def _named(reference: object, namespace: str) -> str:
    place, name = as_reference(reference, namespace)  # type: ignore[arg-type]  # a name or a reference
    return name if place == namespace else f"{name} of namespace {place}"


def _pods(group: PodGroup | None) -> str:
    if group is None:
        return ""
    labels = ",".join(f"{key}={value}" for key, value in sorted(group.pod_labels.items()))
    return f" (pods {labels} of namespace {group.namespace})"


def _amounts(amounts: dict[str, str]) -> str:
    return ", ".join(f"{name} {amounts[name]}" for name in sorted(amounts))


def _listed(words: Iterable[str]) -> str:
    return ", ".join(words)
