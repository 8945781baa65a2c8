"""What only the whole fleet shows: references, peers that agree, and what a stack offers."""

from pathlib import Path

import pytest
from holdfast.manifest.fleet.egress import Destination, destinations_of, targets_of
from holdfast.manifest.fleet.fleet import Fleet
from holdfast.manifest.fleet.loader import load_fleet
from holdfast.manifest.fleet.topology import edges_of
from holdfast.manifest.types.hosts import HostKind, host_kind

from tests.unit.manifest.projects import STACK, agent, errors_of, write

MODEL = """\
apiVersion: holdfast.dev/v1alpha1
kind: ModelConfig
metadata: {{name: {name}, namespace: {namespace}}}
spec: {{provider: OpenAI, name: gpt, baseUrl: "{url}", allowedNamespaces: [{allowed}]}}
"""
SERVER = """\
apiVersion: holdfast.dev/v1alpha1
kind: MCPServer
metadata: {name: cluster-tools}
spec: {url: "http://tools.platform.svc:8000", toolNames: [get, list]}
"""
OFFERS_NOTHING = "config: {holdfast:policy: {profile: dev}}"
OFFERS_EGRESS = """\
config:
  holdfast:network:
    egressGateway:
      {namespace: egress, podLabels: {app: proxy}, port: 3128, url: "http://proxy.egress.svc:3128"}
  holdfast:policy: {profile: dev}
"""


def model(
    name: str = "shared", namespace: str = "agents", url: str = "http://llm", allowed: str = ""
) -> str:
    return MODEL.format(name=name, namespace=namespace, url=url, allowed=allowed)


def only_error(root: Path, stack: str | None = None) -> str:
    errors = errors_of(root, stack).errors
    assert len(errors) == 1, [str(error) for error in errors]
    return str(errors[0])


@pytest.mark.parametrize(
    ("spec", "words"),
    [
        pytest.param(
            "model: {ref: shred}",
            "spec.model.ref: expected a ModelConfig of namespace 'agents', got 'shred'; "
            'did you mean "shared"?',
            id="model",
        ),
        pytest.param(
            "model: {provider: a, name: b, fallbacks: [{ref: other}]}",
            "spec.model.fallbacks[0].ref: expected a ModelConfig",
            id="fallback",
        ),
        pytest.param(
            "tools: [{mcp: {serverRef: cluster-tool, toolNames: [get]}}]",
            'did you mean "cluster-tools"?',
            id="tool server",
        ),
        pytest.param(
            "tools: [{agent: {ref: helpr}}]",
            "spec.tools[0].agent.ref: expected an agent of namespace 'agents', got 'helpr'; "
            'did you mean "helper"?',
            id="agent as a tool",
        ),
        pytest.param(
            "network: {ingressFrom: [helpr]}",
            "spec.network.ingressFrom[0]: expected an agent",
            id="caller",
        ),
        pytest.param(
            "network: {egress: [{agent: {namespace: other, name: helper}}]}",
            "got 'helper'; write {namespace: agents, name: helper}",
            id="right name, wrong namespace",
        ),
        pytest.param(
            "tools: [{mcp: {serverRef: cluster-tools, toolNames: [get, lst]}}]",
            "toolNames[1]: expected a tool of MCPServer 'cluster-tools' (agents/shared.yaml:9:58), "
            "got 'lst'; did you mean \"list\"?",
            id="tool that the server does not offer",
        ),
    ],
)
def test_a_reference_leads_to_something(tmp_path: Path, spec: str, words: str) -> None:
    write(tmp_path, "agents/shared.yaml", f"{model()}---\n{SERVER}")
    write(tmp_path, "agents/helper.yaml", agent("helper"))
    write(tmp_path, "agents/triage.yaml", agent(spec=spec))
    error = only_error(tmp_path)
    assert error.startswith("agents/triage.yaml:7:")
    assert words in error


def test_a_reference_to_a_faulty_manifest_is_not_a_second_fault(tmp_path: Path) -> None:
    write(tmp_path, "agents/shared.yaml", model(url="ftp://x"))
    write(tmp_path, "agents/triage.yaml", agent(spec="model: {ref: shared}"))
    assert "spec.baseUrl" in only_error(tmp_path)


def test_a_shared_model_says_which_namespaces_may_use_it(tmp_path: Path) -> None:
    reference = "model: {ref: {namespace: models, name: shared}}"
    write(tmp_path, "agents/triage.yaml", agent(spec=reference))
    write(tmp_path, "agents/models.yaml", model(namespace="models"))
    error = only_error(tmp_path)
    assert "that namespace 'agents' may use, got 'shared', whose allowedNamespaces" in error
    assert "(agents/models.yaml:4:79)" in error
    write(tmp_path, "agents/models.yaml", model(namespace="models", allowed="agents"))
    assert load_fleet(tmp_path).agents


@pytest.mark.parametrize(
    "field", ["network: {egress: [{agent: helper}]}", "tools: [{agent: {ref: helper}}]"]
)
def test_a_peer_must_be_let_in_by_the_agent_it_calls(tmp_path: Path, field: str) -> None:
    write(tmp_path, "agents/triage.yaml", agent(spec=field))
    write(tmp_path, "agents/helper.yaml", agent("helper", "network: {ingressFrom: [gateway]}"))
    error = only_error(tmp_path)
    assert error.startswith("agents/triage.yaml:7:")
    assert "got 'helper', whose ingressFrom (agents/helper.yaml:7:26) does not name it" in error
    assert "add triage to ingressFrom of 'helper'" in error
    for caller in ("triage", "{namespace: agents, name: triage}", "{namespace: agents}"):
        admitting = agent("helper", f"network: {{ingressFrom: [{caller}]}}")
        write(tmp_path, "agents/helper.yaml", admitting)
        assert len(load_fleet(tmp_path).agents) == 2


@pytest.mark.parametrize(
    ("spec", "words"),
    [
        pytest.param(
            "network: {ingressFrom: [gateway]}",
            "expected a gateway on stack 'dev', got none; set holdfast:network.gateway",
            id="gateway",
        ),
        pytest.param(
            "network: {egress: [{host: api.example.com}]}",
            "spec.network.egress[0].host: expected an egress gateway on stack 'dev' to reach "
            "'api.example.com'",
            id="listed domain",
        ),
        pytest.param(
            'model: {provider: a, name: b, baseUrl: "https://API.example.com/v1"}',
            "spec.model.baseUrl: expected an egress gateway on stack 'dev' to reach "
            "'api.example.com'",
            id="model",
        ),
        pytest.param("model: {ref: shared}", "spec.model.ref: expected an egress", id="shared"),
        pytest.param(
            'tools: [{http: {url: "https://a.example"}}]', "tools[0].http.url", id="HTTP tool"
        ),
        pytest.param(
            'telemetry: {traces: {endpoint: "https://203.0.113.7:4317"}}',
            "or add its address to network.egress, as {cidr}",
            id="address",
        ),
    ],
)
def test_a_stack_must_offer_what_an_agent_needs(tmp_path: Path, spec: str, words: str) -> None:
    write(tmp_path, "agents/models.yaml", model(url="https://models.example"))
    write(tmp_path, "agents/triage.yaml", agent(spec=spec))
    write(tmp_path, STACK, OFFERS_NOTHING)
    assert words in only_error(tmp_path, "dev")
    assert load_fleet(tmp_path).agents, "without a stack nothing is known to be missing"
    gateway = "gateway: {namespace: edge, podLabels: {app: gateway}}"
    write(tmp_path, STACK, OFFERS_EGRESS.replace("network:", f"network:\n    {gateway}"))
    assert load_fleet(tmp_path, "dev").agents


@pytest.mark.parametrize(
    "spec",
    [
        'tools: [{http: {url: "http://partner.example"}}]',
        "storage: {databases: [{name: db, kind: postgres, host: db.example.com}]}",
    ],
)
def test_an_egress_gateway_passes_only_https_on(tmp_path: Path, spec: str) -> None:
    write(tmp_path, "agents/triage.yaml", agent(spec=spec))
    write(tmp_path, STACK, OFFERS_EGRESS)
    said = only_error(tmp_path, "dev")
    assert "expected HTTPS: the egress gateway of the stack passes nothing else on" in said
    assert said.startswith("agents/triage.yaml:7:")


@pytest.mark.parametrize(
    "spec",
    [
        pytest.param('tools: [{http: {url: "http://kb"}}]', id="Service of the namespace"),
        pytest.param('tools: [{http: {url: "http://kb.other.svc"}}]', id="Service of another"),
        pytest.param('tools: [{http: {url: "http://localhost:80"}}]', id="the pod itself"),
        pytest.param(
            'tools: [{http: {url: "http://10.0.0.7"}}]\nnetwork: {egress: [{cidr: 10.0.0.0/8}]}',
            id="address in a listed range",
        ),
        pytest.param(
            'tools: [{http: {url: "https://a.example"}}]\nnetwork: {denyEgress: true}',
            id="egress denied",
        ),
    ],
)
def test_what_lies_inside_needs_no_egress_gateway(tmp_path: Path, spec: str) -> None:
    write(tmp_path, "agents/triage.yaml", agent(spec=spec))
    write(tmp_path, STACK, OFFERS_NOTHING)
    assert load_fleet(tmp_path, "dev").agents


@pytest.mark.parametrize(
    ("settings", "stack", "is_needed"),
    [
        pytest.param("{}", "dev", False, id="dev by name"),
        pytest.param("{}", "staging", False, id="staging by name"),
        pytest.param("{}", "eu-west", True, id="anything else is prod"),
        pytest.param("{holdfast:policy: {profile: prod}}", "dev", True, id="declared"),
    ],
)
def test_an_owner_is_needed_in_production(
    tmp_path: Path, settings: str, stack: str, is_needed: bool
) -> None:
    write(tmp_path, "agents/triage.yaml", agent())
    write(tmp_path, f"stacks/Pulumi.{stack}.yaml", f"config: {settings}")
    if is_needed:
        assert "spec.owner: this field is required" in only_error(tmp_path, stack)
    else:
        assert load_fleet(tmp_path, stack).agents


def destinations(fleet: Fleet) -> tuple[Destination, ...]:
    [declared] = fleet.agents
    return destinations_of(declared.spec, declared.namespace, targets_of(fleet))


def test_the_embedding_model_is_reached_and_drawn_like_any_other(tmp_path: Path) -> None:
    spec = """
    storage: {databases: [{name: vectors, kind: qdrant, host: qdrant.data.svc}]}
    memory: {backend: vector, storeRef: vectors, embeddingModelRef: shared}
    """
    text = f"{agent(spec=spec)}---\n{model(url='https://embed.example.com/v1')}"
    write(tmp_path, "agents/a.yaml", text)
    fleet = load_fleet(tmp_path)
    path = ("spec", "memory", "embeddingModelRef")
    assert [each.path for each in destinations(fleet) if each.host == "embed.example.com"] == [path]
    assert ("embedding", path) in [(each.relation, each.path) for each in edges_of(fleet)]
    write(tmp_path, STACK, OFFERS_NOTHING)
    error = only_error(tmp_path, "dev")
    assert "spec.memory.embeddingModelRef: expected an egress gateway" in error


def test_destinations_name_host_port_and_field(tmp_path: Path) -> None:
    spec = """
    model: {ref: shared}
    tools: [{mcp: {serverRef: cluster-tools, toolNames: [get]}}]
    dependsOn: [{kind: Service, name: cache, port: 6379}]
    network: {egress: [{host: "*.example.com"}]}
    """
    write(tmp_path, "agents/a.yaml", f"{agent(spec=spec)}---\n{model()}---\n{SERVER}")
    fleet = load_fleet(tmp_path)
    found = [(each.host, each.port, each.kind) for each in destinations(fleet)]
    assert found == [
        ("llm", 80, HostKind.CLUSTER),
        ("cache.agents.svc", 6379, HostKind.CLUSTER),
        ("tools.platform.svc", 8000, HostKind.CLUSTER),
        ("*.example.com", 443, HostKind.EXTERNAL),
    ]


@pytest.mark.parametrize(
    ("host", "place"),
    [
        ("kb", HostKind.CLUSTER),
        ("kb.other.svc", HostKind.CLUSTER),
        ("kb.other.svc.cluster.local", HostKind.CLUSTER),
        ("kb.other.svc.cluster.local.", HostKind.CLUSTER),
        ("kb.other", HostKind.EXTERNAL),
        ("svc.example.com", HostKind.EXTERNAL),
        ("127.0.0.1", HostKind.LOCAL),
        ("localhost", HostKind.LOCAL),
        ("203.0.113.7", HostKind.ADDRESS),
        ("2001:db8::1", HostKind.ADDRESS),
    ],
)
def test_a_host_is_placed_by_its_name(host: str, place: HostKind) -> None:
    assert host_kind(host) is place
