"""Dependencies lead to one thing that can be reached, and never in a circle."""

from pathlib import Path

import pytest
from holdfast.manifest.fleet.loader import load_fleet
from holdfast.manifest.fleet.topology import start_waves

from tests.unit.manifest.projects import MANIFEST, agent, errors_of, write

SHARED = """\
apiVersion: holdfast.dev/v1alpha1
kind: ModelConfig
metadata: {name: local}
spec: {provider: vLLM, name: small, baseUrl: "http://llm.inference.svc:8000"}
---
apiVersion: holdfast.dev/v1alpha1
kind: ModelConfig
metadata: {name: hosted}
spec: {provider: OpenAI, name: gpt}
---
apiVersion: holdfast.dev/v1alpha1
kind: MCPServer
metadata: {name: local}
spec: {url: "http://tools.platform.svc:8000/mcp"}
---
apiVersion: holdfast.dev/v1alpha1
kind: MCPServer
metadata: {name: foreign, namespace: ops}
spec: {url: "http://tools.platform.svc:8000/mcp"}
"""


def depends_on(*names: str) -> str:
    return f"dependsOn: [{', '.join(names)}]\n"


@pytest.mark.parametrize(
    ("reference", "words"),
    [
        pytest.param(
            "helpr",
            "agents/triage.yaml:7:15: spec.dependsOn[0]: expected Agent or MCPServer or "
            "ModelConfig of namespace 'agents', got 'helpr'; did you mean \"helper\"?; a Service "
            "needs {kind: Service, name, port}",
            id="unknown",
        ),
        pytest.param(
            "{kind: MCPServer, name: helper}",
            "expected MCPServer of namespace 'agents', got 'helper'; known: foreign, local",
            id="another kind",
        ),
        pytest.param(
            "foreign", "got 'foreign'; write {namespace: ops, name: foreign}", id="elsewhere"
        ),
        pytest.param(
            "local",
            "spec.dependsOn[0]: expected one object, got MCPServer agents/local and ModelConfig "
            "agents/local; say which: {kind: MCPServer, name: local}",
            id="two objects of one name",
        ),
        pytest.param(
            "hosted",
            "expected a ModelConfig with an address to wait for, got 'hosted', which has no "
            "baseUrl (agents/shared.yaml:9:7); remove it",
            id="no address",
        ),
        pytest.param(
            "{namespace: ops, name: foreign}",
            "expected an MCPServer that namespace 'agents' may use, got 'foreign', whose "
            "allowedNamespaces (agents/shared.yaml:19:7) does not name it",
            id="not shared",
        ),
        pytest.param(
            "helper",
            "expected an agent that lets 'triage' in, got 'helper', whose ingressFrom "
            "(agents/helper.yaml:5:3) does not name it; add triage to ingressFrom of 'helper'",
            id="lets nobody in",
        ),
        pytest.param(
            "nightly",
            "expected an agent that can be called, got 'nightly', which is of type Job "
            "(agents/nightly.yaml:7:9) and has no address; remove the reference",
            id="job",
        ),
        pytest.param(
            "triage",
            "expected no cycle of dependencies, got agents/triage (agents/triage.yaml:7:15) -> "
            "agents/triage; remove one",
            id="itself",
        ),
        pytest.param("{kind: Service, name: db}", "expected port with kind: Service", id="port"),
        pytest.param("{name: helper, port: 80}", "and only there, got port 80", id="port given"),
        pytest.param(
            "[helper]", "expected a name or {kind, namespace, name, port, wait}", id="list"
        ),
        pytest.param(
            "helper, helper", "expected one dependency for the variable HELPER_URL", id="twice"
        ),
    ],
)
def test_a_dependency_leads_to_one_thing_that_can_be_reached(
    tmp_path: Path, reference: str, words: str
) -> None:
    write(tmp_path, MANIFEST, agent(spec=depends_on(reference)))
    write(tmp_path, "agents/helper.yaml", agent("helper"))
    job = 'type: Job\njob: {schedules: [{cron: "0 2 * * *"}]}'
    write(tmp_path, "agents/nightly.yaml", agent("nightly", job))
    write(tmp_path, "agents/shared.yaml", SHARED)
    errors = [str(error) for error in errors_of(tmp_path).errors]
    assert len(errors) == 1, errors
    assert words in errors[0]


def test_agents_start_in_waves(tmp_path: Path) -> None:
    letting_in = "network: {ingressFrom: [{namespace: agents}]}\n"
    write(tmp_path, "agents/a.yaml", agent("front", letting_in + depends_on("back", "side")))
    write(tmp_path, "agents/b.yaml", agent("back", letting_in + depends_on("store")))
    write(tmp_path, "agents/c.yaml", agent("side", letting_in))
    write(tmp_path, "agents/d.yaml", agent("store", letting_in))
    ordered = [[node.name for node in wave] for wave in start_waves(load_fleet(tmp_path))]
    assert ordered == [["side", "store"], ["back"], ["front"]]


def test_106_a_cycle_names_every_agent_and_file_of_the_way(tmp_path: Path) -> None:
    letting_in = "network: {ingressFrom: [{namespace: agents}]}\n"
    write(tmp_path, "agents/a.yaml", agent("a", letting_in + depends_on("b")))
    write(tmp_path, "agents/b.yaml", agent("b", letting_in + "tools: [{agent: {ref: c}}]"))
    write(tmp_path, "agents/c.yaml", agent("c", letting_in + depends_on("a")))
    (error,) = errors_of(tmp_path).errors
    assert str(error) == (
        "agents/a.yaml:8:15: spec.dependsOn[0]: expected no cycle of dependencies, got "
        "agents/a (agents/a.yaml:8:15) -> agents/b (agents/b.yaml:8:25) -> "
        "agents/c (agents/c.yaml:8:15) -> agents/a; remove one of these references; for calls "
        "alone, use network.egress"
    )


def test_agents_that_call_each_other_are_no_cycle(tmp_path: Path) -> None:
    for name, other in (("a", "b"), ("b", "a")):
        network = f"network: {{egress: [{{agent: {other}}}], ingressFrom: [{other}]}}"
        write(tmp_path, f"agents/{name}.yaml", agent(name, network))
    assert load_fleet(tmp_path).agents


def test_an_agent_that_may_reach_nothing_calls_nobody(tmp_path: Path) -> None:
    network = "tools: [{agent: {ref: helper}}]\nnetwork: {denyEgress: true}"
    write(tmp_path, MANIFEST, agent(spec=network))
    write(tmp_path, "agents/helper.yaml", agent("helper", "network: {ingressFrom: [triage]}"))
    (error,) = errors_of(tmp_path).errors
    assert (
        "spec.tools[0].agent.ref: expected no call to other agents, got one to 'helper', although "
        "denyEgress is true (agents/triage.yaml:8:"
    ) in str(error)


@pytest.mark.parametrize(
    ("first", "second"),
    [
        pytest.param(
            "{name: data, existingClaim: shared, mountPath: /data}",
            "{name: data, existingClaim: shared, mountPath: /data}",
            id="one existing claim",
        ),
        pytest.param(
            "{name: data, size: 1Gi, mountPath: /data}",
            "{name: data, existingClaim: one-data, mountPath: /data}",
            id="the claim of another agent",
        ),
    ],
)
def test_a_volume_with_one_writer_belongs_to_one_agent(
    tmp_path: Path, first: str, second: str
) -> None:
    write(tmp_path, "agents/one.yaml", agent("one", f"storage: {{volumes: [{first}]}}"))
    write(tmp_path, "agents/two.yaml", agent("two", f"storage: {{volumes: [{second}]}}"))
    (error,) = errors_of(tmp_path).errors
    assert str(error).startswith(
        "agents/two.yaml:7:23: spec.storage.volumes[0]: expected a claim that no other agent "
        "writes, got "
    )
    assert "of 'one' (agents/one.yaml:7:23)" in str(error)
    write(
        tmp_path,
        "agents/two.yaml",
        agent("two", f"storage: {{volumes: [{second}]}}", ", namespace: other"),
    )
    assert load_fleet(tmp_path).agents, "claims of one name in two namespaces are two claims"


TEAM = """\
apiVersion: holdfast.dev/v1alpha1
kind: AgentTeam
metadata: {{name: {name}}}
spec: {{members: [{member}], namespaces: [agents]}}
"""


def test_105_a_namespace_belongs_to_one_team(tmp_path: Path) -> None:
    write(tmp_path, MANIFEST, agent())
    write(tmp_path, "agents/team.yaml", TEAM.format(name="care", member="triage"))
    assert load_fleet(tmp_path).agents
    write(tmp_path, "agents/other.yaml", agent("other"))
    (error,) = errors_of(tmp_path).errors
    assert str(error).startswith(
        "agents/other.yaml:3:11: metadata.namespace: expected a namespace that is not only for "
        "team 'care' (agents/team.yaml:4:40), got 'agents'; add other to the members of 'care'"
    ), str(error)
    write(tmp_path, "agents/team2.yaml", TEAM.format(name="sales", member="other"))
    messages = [str(error) for error in errors_of(tmp_path).errors]
    assert any(
        "agents/team2.yaml:4:39: spec.namespaces[0]: expected a namespace that no other team "
        "claims, got 'agents' of 'care' (agents/team.yaml:4:40); remove it" in message
        for message in messages
    ), messages


HOSTED = """\
apiVersion: holdfast.dev/v1alpha1
kind: MCPServer
metadata: {name: crm, namespace: tools}
spec:
  image: registry.example/crm@sha256:%s
  allowedNamespaces: [agents]
""" % ("7" * 64)


def test_a_tool_server_that_the_stack_runs_starts_before_the_agents_that_use_it(
    tmp_path: Path,
) -> None:
    reference = "{namespace: tools, name: crm}"
    write(tmp_path, "agents/crm.yaml", HOSTED)
    write(
        tmp_path,
        MANIFEST,
        agent(spec=f"tools: [{{mcp: {{serverRef: {reference}, toolNames: [x]}}}}]"),
    )
    waves = start_waves(load_fleet(tmp_path))
    assert [[node.label for node in wave] for wave in waves] == [["tools/crm"], ["agents/triage"]]


def test_a_tool_server_that_the_stack_runs_has_a_name_of_its_own_among_the_agents(
    tmp_path: Path,
) -> None:
    write(tmp_path, "agents/crm.yaml", HOSTED)
    write(tmp_path, MANIFEST, agent("crm"))
    [error] = errors_of(tmp_path).errors
    assert str(error) == (
        "agents/triage.yaml:3:18: metadata.name: expected a name that no other agent or tool "
        "server of the fleet has, got 'crm' at agents/crm.yaml:3:18; rename one of them"
    )


def test_a_stack_changes_a_tool_server_as_it_changes_an_agent(tmp_path: Path) -> None:
    write(tmp_path, "agents/crm.yaml", HOSTED)
    write(tmp_path, MANIFEST, agent())
    write(tmp_path, "stacks/Pulumi.dev.yaml", "config: {'holdfast:agents': {crm: {replicas: 3}}}\n")
    [server] = load_fleet(tmp_path, "dev").hosted_servers
    assert server.spec.replicas == 3
