"""`holdfast render -o mermaid|dot|graph`: the same fleet as a drawing and as data."""

import json
from pathlib import Path

import pytest
from holdfast.cli.main import run

from tests.unit.manifest.projects import agent, write

FRONT = """
tools:
  - agent: {ref: back}
  - mcp: {url: "https://a.example/mcp?x=\\"1", toolNames: [get]}
model: {ref: llm}
dependsOn: [back]
network: {ingressFrom: [gateway]}
"""
SHARED = """\
apiVersion: holdfast.dev/v1alpha1
kind: ModelConfig
metadata: {name: llm}
spec: {provider: a, name: b}
---
apiVersion: holdfast.dev/v1alpha1
kind: AgentTeam
metadata: {name: care}
spec: {members: [front, lonely], entryPoints: [front], owner: customer-care, tags: [beta]}
"""


@pytest.fixture(autouse=True)
def project(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    write(tmp_path, "Pulumi.yaml", "name: holdfast\n")
    write(tmp_path, "agents/front.yaml", agent("front", FRONT))
    write(tmp_path, "agents/back.yaml", agent("back", "network: {ingressFrom: [front]}"))
    write(tmp_path, "agents/lonely.yaml", agent("lonely"))
    write(tmp_path, "agents/shared.yaml", SHARED)
    monkeypatch.chdir(tmp_path)
    return tmp_path


def test_a_flowchart_shows_every_reference(capsys: pytest.CaptureFixture[str]) -> None:
    assert run(["render", "-o", "mermaid"]) == 0
    assert capsys.readouterr().out == (
        "flowchart LR\n"
        '  n0>"https://a.example/mcp?x=\'1"]\n'
        '  n4{{"gateway"}}\n'
        '  subgraph s1["agents"]\n'
        '    n1["back"]\n'
        '    n2["front"]\n'
        '    n3["lonely"]\n'
        '    n5(["llm"])\n'
        "  end\n"
        "  n2 -->|tools| n0\n"
        "  n2 -->|calls| n1\n"
        "  n2 -.->|dependsOn| n1\n"
        "  n2 -->|model| n5\n"
        "  n4 -->|lets in| n2\n"
    )


def test_json_says_where_each_edge_is_written_and_what_a_team_reaches(
    capsys: pytest.CaptureFixture[str],
) -> None:
    assert run(["render", "-o", "graph"]) == 0
    document = json.loads(capsys.readouterr().out)
    assert document["waves"] == [["agents/back", "agents/lonely"], ["agents/front"]]
    (edge,) = [each for each in document["edges"] if each["relation"] == "dependsOn"]
    assert (edge["field"], edge["file"], edge["line"]) == (
        "spec.dependsOn[0]",
        "agents/front.yaml",
        11,
    )
    (team,) = document["teams"]
    assert team["agents"] == ["agents/back", "agents/front"], "what it calls belongs to it"
    assert team["tools"] == ['https://a.example/mcp?x="1']
    assert team["unreached"] == ["agents/lonely"]
    assert (team["owner"], team["tags"]) == ("customer-care", ["beta"])


def test_dot_is_balanced_and_has_an_arrow_an_edge(capsys: pytest.CaptureFixture[str]) -> None:
    assert run(["render", "-o", "dot"]) == 0
    text = capsys.readouterr().out
    assert text.startswith("digraph fleet {")
    assert text.endswith("}\n")
    assert text.count("{") == text.count("}")
    assert text.count(" -> ") == 5


def test_a_team_alone_and_an_unknown_one(capsys: pytest.CaptureFixture[str]) -> None:
    assert run(["render", "--team", "care", "-o", "graph"]) == 0
    nodes = json.loads(capsys.readouterr().out)["nodes"]
    assert {node["name"] for node in nodes} >= {"front", "back", "lonely"}
    assert run(["render", "--team", "car", "-o", "dot"]) == 2
    assert "no AgentTeam 'car'; did you mean \"care\"?" in capsys.readouterr().err


def test_what_mermaid_would_refuse_is_split_by_team(
    project: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    for each in range(6):
        urls = (f"https://t{each}-{n}.example" for n in range(100))
        tools = ", ".join(f'{{http: {{url: "{url}"}}}}' for url in urls)
        write(project, f"agents/wide-{each}.yaml", agent(f"wide-{each}", f"tools: [{tools}]"))
    assert run(["render", "-o", "mermaid"]) == 0
    output = capsys.readouterr()
    assert output.out.startswith("## care\n\n```mermaid\nflowchart LR\n")
    assert "## no team\n" in output.out
    assert output.err.startswith("too large for one flowchart: 2 of them, by team\n")
    assert "still too large: use -o dot" in output.err
