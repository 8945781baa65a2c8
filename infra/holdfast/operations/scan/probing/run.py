"""`holdfast drift --probes`: every probe of a stack, put at the same time."""

import json
from collections.abc import Callable, Iterator, Mapping
from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from typing import Any

from holdfast.adapters.http.http_answer import UnansweredError
from holdfast.drift.finding import PROBES, Layer, Severity
from holdfast.drift.probes.answers import (
    CARD_KEY,
    CommandCheck,
    ExpectedModel,
    digest_of,
    judge_card,
    judge_tools,
)
from holdfast.drift.probes.nodes import asks_for_nodes, probe_nodes
from holdfast.drift.probes.outcome import ProbeOutcome, Subject, unknown
from holdfast.drift.probes.pods import probe_fingerprint, probe_images, workloads_of
from holdfast.errors import ClusterError, InputError, LoginError
from holdfast.kube.objects import KubeObject, mapping_at, reference_of
from holdfast.manifest.agent.drift import CommandProbe
from holdfast.manifest.fleet.fleet import DeclaredAgent, Fleet
from holdfast.manifest.fleet.tool_checks import server_key
from holdfast.manifest.fleet.tool_servers import DeclaredToolServer, tool_servers_of
from holdfast.manifest.kinds.kinds import McpServer, ModelConfig
from holdfast.manifest.types.marks import agent_of
from holdfast.manifest.types.values import duration_milliseconds
from holdfast.operations.scan.probing.cluster import NOT_READ, ProbedCluster, ProbedContents
from holdfast.operations.scan.probing.endpoints import (
    Answer,
    ask,
    probe_card,
    probe_command,
    probe_model,
)
from holdfast.operations.scan.request import ProbeRequest
from holdfast.operations.scan.scanner import Scan, Scanner

AT_ONCE = 8
"""Probes under way at the same time."""

Task = Callable[[], ProbeOutcome]
Workload = tuple[Subject, Mapping[str, Any]]


def with_probes(scanner: Scanner, scan: Scan, wanted: ProbeRequest) -> Scan:
    """The scan, and what the probes of its stack say.

    Raises:
        InputError: an address is given for what is no agent and no tool server.
        LoginError: the API server does not accept the credentials.
    """
    context = scanner.stack.context
    fleet = context.fleet
    cluster = ProbedCluster(scanner.cluster.client)
    contents = ProbedContents(fleet, cluster, scanner.cluster.kinds, scan.context.trail)
    with ThreadPoolExecutor(AT_ONCE) as threads:
        objects = list(scan.desired.values())
        probing = _Probing(context.root, fleet, objects, cluster, contents, wanted)
        probing.refuse_unknown_addresses()
        futures = [threads.submit(task) for task in probing.tasks(threads)]
        outcome = ProbeOutcome.together(future.result() for future in futures)
    detail = f"compared {outcome.asked} answers"
    if probing.has_commands and not wanted.commands:
        detail += "; commands were not run: that takes --probe-commands"
    if contents.all and not wanted.contents:
        detail += f"; {NOT_READ}"
    report = outcome.added_to(scan.report)
    layers = (*report.layers, Layer(PROBES, has_run=True, detail=detail))
    return replace(scan, report=replace(report, layers=layers))


@dataclass(frozen=True)
class _Probing:
    """The probes of one stack.

    Attributes:
        root: Folder of Pulumi.yaml, in which commands run.
        objects: What is declared, with namespaces.
        contents: What pods mount.
    """

    root: Path
    fleet: Fleet
    objects: list[KubeObject]
    cluster: ProbedCluster
    contents: ProbedContents
    wanted: ProbeRequest

    @property
    def has_commands(self) -> bool:
        """Whether any manifest names a command."""
        return any(agent.spec.drift.probes for agent in self.fleet.agents)

    def refuse_unknown_addresses(self) -> None:
        """Let no address be accepted and ignored."""
        known = {server.key for server in tool_servers_of(self.fleet)}
        known |= {name for agent in self.fleet.agents for name in _names(agent)}
        for name in self.wanted.addresses:
            if name not in known:
                raise InputError(
                    f"--probe-address {name}: no such agent or tool server",
                    remedy=f"choose from {', '.join(sorted(known))}",
                )

    def tasks(self, threads: ThreadPoolExecutor) -> Iterator[Task]:
        """Every question, ready to be put; each tool server is asked once."""
        servers = {each.key: each for each in tool_servers_of(self.fleet)}
        answers = {key: threads.submit(self._tools_of, each) for key, each in servers.items()}
        for agent in self.fleet.workloads:
            workloads = workloads_of(agent.name, agent.namespace, self.objects)
            for workload in workloads:
                yield from self._tasks_of_workload(agent, workload)
            if workloads:
                yield from self._tasks_of_agent(agent, workloads[0][0], answers)

    def _tasks_of_workload(self, agent: DeclaredAgent, workload: Workload) -> Iterator[Task]:
        subject, spec = workload
        yield lambda: self._images(agent, subject, spec)
        if asks_for_nodes(spec):
            yield lambda: self._nodes(subject, spec)
        if self.wanted.contents:
            yield lambda: self.contents.probe(subject)

    def _tasks_of_agent(
        self,
        agent: DeclaredAgent,
        subject: Subject,
        answers: Mapping[str, "Future[Answer]"],
    ) -> Iterator[Task]:
        for key in self._servers_of(agent):
            yield partial(self._tools, subject, key, answers[key])
        if card := self._declared_card(agent):
            yield lambda: self._card(agent, subject, card)
        if model := expected_model(self.fleet, agent):
            headers = self.wanted.headers_for(model.address)
            yield lambda: probe_model(subject, model, headers)
        for declared in agent.spec.drift.probes if self.wanted.commands else ():
            yield partial(probe_command, subject, _command(declared), self.root)

    def _images(
        self, agent: DeclaredAgent, subject: Subject, spec: Mapping[str, Any]
    ) -> ProbeOutcome:
        try:
            pods = self.cluster.pods(agent.namespace)
        except LoginError:
            raise
        except ClusterError as error:
            return unknown(subject, "images", str(error))
        own = [
            pod
            for pod in pods
            if agent_of(pod) == agent.name
            and not mapping_at(pod, "metadata").get("deletionTimestamp")
        ]
        outcome = probe_images(subject, spec, own)
        if fingerprint := agent.spec.drift.fingerprint:
            outcome = ProbeOutcome.together((outcome, probe_fingerprint(subject, fingerprint, own)))
        return outcome

    def _nodes(self, subject: Subject, spec: Mapping[str, Any]) -> ProbeOutcome:
        try:
            classes = self.cluster.runtime_classes() if spec.get("runtimeClassName") else []
            return probe_nodes(subject, spec, self.cluster.nodes(), classes)
        except LoginError:
            raise
        except ClusterError as error:
            return unknown(subject, "nodes", str(error))

    def _servers_of(self, agent: DeclaredAgent) -> list[str]:
        keys = set()
        for tool in agent.spec.tools:
            if tool.mcp is None:
                continue
            if tool.mcp.server_ref is None:
                keys.add(tool.mcp.url or "")
            elif declared := self.fleet.find(McpServer, tool.mcp.server_ref, agent.namespace):
                keys.add(server_key(declared))
        return sorted(keys)

    def _tools_of(self, server: DeclaredToolServer) -> Answer:
        url = self.wanted.addresses.get(server.key, server.url)
        given = frozenset(self.wanted.addresses.values())
        return next(iter(ask([replace(server, url=url)], self.wanted.headers, 10.0, given)))

    def _tools(self, subject: Subject, key: str, asked: "Future[Answer]") -> ProbeOutcome:
        answer = asked.result()
        locked = self.fleet.tool_lock.servers.get(key)
        live = answer.error if answer.contract is None else answer.contract
        return judge_tools(subject, key, locked, live)

    def _declared_card(self, agent: DeclaredAgent) -> dict[str, Any] | None:
        for one in self.objects:
            text = mapping_at(one, "data").get(CARD_KEY)
            is_own = reference_of(one).namespace == agent.namespace
            if text and is_own and agent_of(one) == agent.name:
                card: dict[str, Any] = json.loads(text)
                return card
        return None

    def _card(
        self, agent: DeclaredAgent, subject: Subject, card: Mapping[str, Any]
    ) -> ProbeOutcome:
        for name in _names(agent):
            if address := self.wanted.addresses.get(name):
                return probe_card(subject, card, address, self.wanted.headers_for(address))
        try:
            served = self.cluster.agent_card(agent.namespace, agent.name, self._port_of(agent))
        except LoginError:
            raise
        except (ClusterError, UnansweredError) as error:
            remedy = f"name its address with --probe-address {agent.name}=URL"
            return unknown(subject, "agent card", f"{error}; or {remedy}")
        return judge_card(subject, card, served)

    def _port_of(self, agent: DeclaredAgent) -> str:
        """Name of the first port of the agent's Service."""
        for one in self.objects:
            ref = reference_of(one)
            if (ref.kind, ref.namespace, ref.name) == ("Service", agent.namespace, agent.name):
                ports = mapping_at(one, "spec").get("ports") or [{}]
                return str(ports[0].get("name", ""))
        return ""


def expected_model(fleet: Fleet, agent: DeclaredAgent) -> ExpectedModel | None:
    """What the name of the agent's model should stand for; None where nobody says."""
    model = agent.spec.model
    if model is None:
        return None
    shared = fleet.find(ModelConfig, model.ref, agent.namespace) if model.ref else None
    expected = model.expect_resolved or (shared.spec.expect_resolved if shared else None)
    if expected is None:
        return None
    provider, name = model.provider or "", model.name or ""
    base_url = model.base_url
    if shared is not None:
        provider, name = shared.spec.provider, shared.spec.name
        base_url = base_url or shared.spec.base_url
    return ExpectedModel(provider, name, expected, base_url or "")


def _command(declared: CommandProbe) -> CommandCheck:
    return CommandCheck(
        declared.name,
        declared.command,
        declared.digest or digest_of((declared.output or "").encode()),
        declared.output,
        duration_milliseconds(declared.timeout) / 1000,
        Severity(declared.severity),
    )


def _names(agent: DeclaredAgent) -> tuple[str, str]:
    return f"{agent.namespace}/{agent.name}", agent.name
