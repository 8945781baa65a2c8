"""Bad inputs that the whole project shows, as `holdfast validate` answers; rows of the list."""

from pathlib import Path
from textwrap import dedent, indent

import pytest
from holdfast.cli.main import run

IMAGE = f"registry.example/agent@sha256:{'0' * 64}"
SETTINGS = """\
config:
  holdfast:policy: {profile: prod}
  holdfast:telemetry: {otlpEndpoint: "http://otel.monitoring.svc:4317"}
"""
SERVER = """\
apiVersion: holdfast.dev/v1alpha1
kind: MCPServer
metadata: {name: tools, namespace: ops}
spec: {url: "http://tools.platform.svc:8000/mcp", toolNames: [find, delete_all]}
"""


def agent(name: str, spec: str, namespace: str = "ops") -> str:
    head = (
        "apiVersion: holdfast.dev/v1alpha1\nkind: Agent\n"
        f"metadata: {{name: {name}, namespace: {namespace}}}\n"
        f"spec:\n  version: 1.0.0\n  owner: sre\n  image: {IMAGE}\n"
    )
    return head + indent(dedent(spec).strip("\n"), "  ") + "\n"


RIGHTS = (
    "pod:\n  security:\n"
    '    rbac: [{{rules: [{{apiGroups: ["{}"], resources: [{}], verbs: [{}]}}]}}]\n'
)


@pytest.mark.parametrize(
    ("files", "code", "words"),
    [
        pytest.param(
            [agent("a", "tools: [{mcp: {serverRef: tools, toolNames: [fnd]}}]"), SERVER],
            2,
            ("spec.tools[0].mcp.toolNames[0]", 'did you mean "find"?'),
            id="67 unknown tool",
        ),
        pytest.param(
            [agent("a", RIGHTS.format("", "secrets", "list"))],
            5,
            ("Role ops/a", "reading secrets", "[rbac-no-dangerous-verbs]"),
            id="71 list of secrets",
        ),
        pytest.param(
            [agent("a", RIGHTS.format("rbac.authorization.k8s.io", "roles", "escalate"))],
            5,
            ("Role ops/a", "granting more than it has", "[rbac-no-dangerous-verbs]"),
            id="72 escalate",
        ),
        pytest.param(
            [agent("a", RIGHTS.format("", "serviceaccounts", "impersonate"))],
            5,
            ("Role ops/a", "acting as someone else", "[rbac-no-dangerous-verbs]"),
            id="72 impersonate",
        ),
        pytest.param(
            [
                agent("a", "model: {ref: {namespace: cx, name: shared}}"),
                dedent("""\
                apiVersion: holdfast.dev/v1alpha1
                kind: ModelConfig
                metadata: {name: shared, namespace: cx}
                spec: {provider: Anthropic, name: claude}
                """),
            ],
            2,
            ("spec.model.ref", "may use", "allowedNamespaces", "add ops to allowedNamespaces"),
            id="104 reference into another namespace",
        ),
        pytest.param(
            [agent("same", "framework: adk"), agent("same", "framework: dapr", "cx")],
            2,
            ("same", "agents/1.yaml", "agents/0.yaml"),
            id="105 two agents of one name",
        ),
    ],
)
def test_it_is_refused_with_its_place_and_a_remedy(
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
    files: list[str],
    code: int,
    words: tuple[str, ...],
) -> None:
    texts = {f"agents/{index}.yaml": text for index, text in enumerate(files)}
    texts |= {"Pulumi.yaml": "name: p\nruntime: python\n", "stacks/Pulumi.prod.yaml": SETTINGS}
    for name, text in texts.items():
        (tmp_path / name).parent.mkdir(exist_ok=True)
        (tmp_path / name).write_text(text)
    monkeypatch.chdir(tmp_path)
    assert run(["validate", "-s", "prod"]) == code
    said = capsys.readouterr().out
    for word in words:
        assert word in said
    assert "agents/0.yaml:" in said
    assert "Traceback" not in said
