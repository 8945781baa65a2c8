"""`agent describe`, `diff` and `explain`: every statement names its file and line."""

import json
from pathlib import Path
from textwrap import dedent
from typing import Any

import pytest
import yaml
from holdfast.cli.main import run
from holdfast.manifest.fleet.loader import load_fleet

IMAGE = f"registry.example/one@sha256:{'1' * 64}"
FILES = {
    "Pulumi.yaml": "name: holdfast\nruntime: python\n",
    "agents/one.yaml": f"""\
        apiVersion: holdfast.dev/v1alpha1
        kind: Agent
        metadata: {{name: one}}
        spec:
          version: 1.0.0
          image: {IMAGE}
          prompt: {{systemMessageFrom: {{file: one.md}}}}
          scaling: {{replicas: 2}}
          network:
            ingressFrom: [gateway, two]
            egress: [{{cidr: 10.1.0.0/16}}, {{host: api.example.com}}]
          pod:
            security:
              rbac: [{{rules: [{{resources: [pods], verbs: [get, list]}}]}}]
          secrets: [{{name: key, ref: llm, key: token, env: LLM_KEY}}]
          storage:
            volumes: [{{name: data, size: 1Gi, mountPath: /data, accessModes: [ReadWriteMany]}}]
        """,
    "agents/one.md": "Be brief.\n",
    "agents/two.yaml": f"""\
        apiVersion: holdfast.dev/v1alpha1
        kind: Agent
        metadata: {{name: two}}
        spec:
          version: 1.0.0
          type: Job
          image: {IMAGE}
          job: {{schedules: [{{cron: "0 2 * * *", timezone: Europe/London}}]}}
          network: {{egress: [{{agent: one}}]}}
        """,
    "agents/team.yaml": """\
        apiVersion: holdfast.dev/v1alpha1
        kind: AgentTeam
        metadata: {name: core}
        spec:
          owner: platform
          members: [one, two]
          defaults: {pod: {priorityClassName: high}}
        """,
}
NETWORK = """\
  holdfast:network:
    gateway: {namespace: edge, podLabels: {app: gateway}}
    egressGateway: {namespace: egress, podLabels: {app: proxy}, port: 3128, url: "http://p:3128"}
    monitoring: {namespace: monitoring, podLabels: {app: prometheus}}
"""
DEV = f"config:\n  holdfast:namespace: trial\n{NETWORK}"
PROD = f"config:\n{NETWORK}  holdfast:agents:\n    one: {{scaling: {{replicas: 5}}}}\n"


DESCRIBE = ("agent", "describe")
FILES_HERE = ("--source", "files")


@pytest.fixture(autouse=True)
def project(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    stacks = {"stacks/Pulumi.dev.yaml": DEV, "stacks/Pulumi.prod.yaml": PROD}
    for name, text in (FILES | stacks).items():
        (tmp_path / name).parent.mkdir(exist_ok=True)
        (tmp_path / name).write_text(dedent(text))
    monkeypatch.chdir(tmp_path)
    return tmp_path


def said(capsys: pytest.CaptureFixture[str], *arguments: str, code: int = 0) -> str:
    assert run([*arguments]) == code
    captured = capsys.readouterr()
    return captured.out or captured.err


def document(capsys: pytest.CaptureFixture[str], *arguments: str) -> dict[str, Any]:
    found: dict[str, Any] = json.loads(said(capsys, *arguments, "-o", "json"))
    return found


@pytest.mark.parametrize(
    ("section", "text", "place"),
    [
        pytest.param("runs", "2 replicas", "agents/one.yaml:8", id="how it runs"),
        pytest.param(
            "callers",
            "the gateway (pods app=gateway of namespace edge), on port 8080",
            "agents/one.yaml:10",
            id="the gateway calls it",
        ),
        pytest.param("callers", "agent two, on port 8080", "agents/one.yaml:10", id="agent calls"),
        pytest.param("reaches", "10.1.0.0/16", "agents/one.yaml:11", id="a network"),
        pytest.param(
            "reaches",
            "api.example.com:443 through the egress gateway",
            "agents/one.yaml:11",
            id="a domain",
        ),
        pytest.param(
            "rights", "may get, list pods, in its namespace", "agents/one.yaml:14", id="a right"
        ),
        pytest.param(
            "secrets",
            "key: kubernetes llm, key token, as variable LLM_KEY",
            "agents/one.yaml:15",
            id="a secret, by reference",
        ),
        pytest.param(
            "storage",
            "data: 1Gi at /data, ReadWriteMany, stays when the agent goes",
            "agents/one.yaml:17",
            id="storage",
        ),
    ],
)
def test_every_statement_names_the_line_that_makes_it_true(
    capsys: pytest.CaptureFixture[str], section: str, text: str, place: str
) -> None:
    found = {
        each["text"]: f"{each['file']}:{each['line']}"
        for each in document(capsys, *DESCRIBE, "one", "-s", "dev")["sections"][section]
    }
    assert found[text] == place


def test_a_job_is_called_by_nobody_and_runs_by_its_schedule(
    capsys: pytest.CaptureFixture[str],
) -> None:
    sections = document(capsys, *DESCRIBE, "two", "-s", "dev")["sections"]
    assert [each["text"] for each in sections["callers"]] == ["none: it has no port"]
    assert [each["text"] for each in sections["schedules"]] == ['"0 2 * * *" in Europe/London']
    assert "agent one" in [each["text"] for each in sections["reaches"]]


@pytest.mark.parametrize(
    ("stack", "path", "value", "source", "place"),
    [
        ("dev", "spec.scaling.replicas", 2, "manifest", "agents/one.yaml:8"),
        ("prod", "spec.scaling.replicas", 5, "stack", "stacks/Pulumi.prod.yaml:7"),
        ("dev", "metadata.namespace", "trial", "stack", "stacks/Pulumi.dev.yaml:2"),
        ("prod", "metadata.namespace", "agents", "default", ":0"),
        ("dev", "spec.owner", "platform", "team", "agents/team.yaml:5"),
        ("dev", "spec.pod.priorityClassName", "high", "team", "agents/team.yaml:7"),
        ("dev", "spec.rollout.strategy", "RollingUpdate", "default", ":0"),
        ("dev", "spec.prompt.systemMessage", "Be brief.\n", "file", "agents/one.md:1"),
    ],
)
def test_every_value_has_its_origin(
    capsys: pytest.CaptureFixture[str], stack: str, path: str, value: Any, source: str, place: str
) -> None:
    values = document(capsys, *DESCRIBE, "one", "-s", stack)["values"]
    [found] = [each for each in values if each["path"] == path]
    assert found["value"] == value
    assert (found["source"], f"{found['file']}:{found['line']}") == (source, place)


def test_the_text_has_the_same_sections_and_what_was_decided_elsewhere(
    capsys: pytest.CaptureFixture[str],
) -> None:
    text = said(capsys, *DESCRIBE, "one", "-s", "prod")
    assert text.startswith(
        "agents/one on stack prod: version 1.0.0, type Service, owner platform\n"
        "  declared in agents/one.yaml:1:1\n"
    )
    for title in ("Runs as", "Who may call it", "What it may reach", "Secrets, by reference"):
        assert f"\n{title}\n" in text
    assert "spec.scaling.replicas = 5" in text
    assert "stack override stacks/Pulumi.prod.yaml:7:31" in text


@pytest.mark.parametrize("agent", ["one", "two"])
def test_the_effective_manifest_stands_for_the_same_agent(
    capsys: pytest.CaptureFixture[str], project: Path, agent: str
) -> None:
    before = load_fleet(project, "prod")
    text = said(capsys, *DESCRIBE, agent, "-s", "prod", "--effective")
    assert "# manifest agents/" in text
    assert "# built-in default" in text
    effective = yaml.safe_load(text)
    assert effective["metadata"]["namespace"] == "agents"
    (project / "agents" / f"{agent}.yaml").write_text(text)
    (project / "stacks/Pulumi.prod.yaml").write_text(PROD.partition("  holdfast:agents")[0])
    after = load_fleet(project, "prod")
    old, new = ({each.name: each.spec for each in fleet.agents} for fleet in (before, after))
    assert new[agent] == old[agent]


def test_two_stacks_are_compared_by_value_with_both_origins(
    capsys: pytest.CaptureFixture[str],
) -> None:
    found = document(capsys, "diff", "dev", "prod", *FILES_HERE)["differences"]
    by_path = {(each["agent"], each["path"]): each for each in found}
    replicas = by_path["one", "spec.scaling.replicas"]
    assert replicas["values"] == {"dev": "2", "prod": "5"}
    assert replicas["origins"]["prod"] == "stack override stacks/Pulumi.prod.yaml:7:31"
    assert by_path["two", "metadata.namespace"]["values"] == {"dev": '"trial"', "prod": '"agents"'}
    assert by_path["stack settings", "holdfast:namespace"]["values"]["dev"] == '"trial"'
    assert len(found) == 4


def test_rendered_objects_are_compared_when_asked_for(capsys: pytest.CaptureFixture[str]) -> None:
    text = said(capsys, "diff", "dev", "prod", "one", *FILES_HERE, "--objects")
    assert "Deployment trial/one: spec.replicas\n    dev: 2\n    prod: absent" in text
    assert "holdfast.dev/revision" not in text


def test_a_stack_does_not_differ_from_itself(capsys: pytest.CaptureFixture[str]) -> None:
    assert said(capsys, "diff", "dev", "dev", *FILES_HERE) == "dev and dev do not differ\n"


def test_a_field_is_explained_with_type_default_and_the_types_it_holds_on(
    capsys: pytest.CaptureFixture[str],
) -> None:
    text = said(capsys, "explain", "spec.scaling.maxReplicas")
    assert "Most replicas; with minReplicas." in text
    assert "type:     integer, 1–1000" in text
    assert "applies to: Service" in text
    assert "    url  <" in said(capsys, "explain", "MCPServer.spec")
    assert "Env LOG_LEVEL" in said(capsys, "explain", "spec.telemetry.logs.level")
    listed = said(capsys, "explain", "spec.job.schedules")
    assert "    cron  <" in listed
    assert "-required-" in listed
    assert max(map(len, listed.splitlines())) <= 100
    entry = document(capsys, "explain", "spec.job.schedules[0].timezone")
    assert entry["default"] == "UTC"
    assert entry["types"] == ["Job"]


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        pytest.param("agent describe oen -s dev", 'did you mean "one"?', id="agent"),
        pytest.param("agent describe one", "Missing option '-s'", id="no stack"),
        pytest.param("agent describe one -s dev -s prod", "expected one stack", id="two stacks"),
        pytest.param("explain spec.maxReplicas", "spec.scaling.maxReplicas", id="field"),
        pytest.param("explain MCPServe", "did you mean MCPServer?", id="kind"),
        pytest.param("explain holdfast:networks", "did you mean holdfast:network", id="setting"),
        pytest.param("explain spec.image -s dev", "-s has no effect on a field", id="of a stack"),
        pytest.param("explain MCPServer -o schema", "no schema of MCPServer alone", id="schema"),
        pytest.param("diff dev prod --objects", "--objects requires --source files", id="objects"),
        pytest.param(
            "agent describe one -s dev --cluster --effective", "have no effect", id="live values"
        ),
        pytest.param("agent describe one -s dev --effective -o json", "have no", id="JSON values"),
        pytest.param(
            "diff dev prod oen --source files", 'did you mean "one"?', id="no agent to compare"
        ),
    ],
)
def test_what_cannot_be_explained_is_one_error(
    capsys: pytest.CaptureFixture[str], arguments: str, words: str
) -> None:
    assert words in said(capsys, *arguments.split(), code=2)


def test_kinds_and_settings_of_a_stack_are_explained(capsys: pytest.CaptureFixture[str]) -> None:
    kinds = said(capsys, "explain")
    assert "\n  MCPServer\n" in kinds
    assert "\n  Stack\n" in kinds
    assert "    holdfast:network  <" in said(capsys, "explain", "Stack")
    assert "    namespace  <" in said(capsys, "explain", "holdfast:network.gateway")
    assert said(capsys, "explain", "MCPServer").startswith("MCPServer\n")


@pytest.mark.parametrize(("kind", "title"), [([], "agents share"), (["Stack"], "environments")])
def test_schemas_are_for_editors(
    capsys: pytest.CaptureFixture[str], kind: list[str], title: str
) -> None:
    schema = json.loads(said(capsys, "explain", *kind, "-o", "schema"))
    assert schema["$schema"] == "https://json-schema.org/draft/2020-12/schema"
    assert title in schema["description"].lower()


class TestRules:
    def test_a_rule_is_reported_with_what_to_do(self, capsys: pytest.CaptureFixture[str]) -> None:
        assert run(["explain", "egress-scoped"]) == 0
        shown = capsys.readouterr().out
        assert shown.startswith("egress-scoped (high): Egress to named destinations\n")
        assert "remedy      name pods, namespaces or address ranges" in shown
        assert "docs/policies/egress-scoped.md" in shown

    def test_its_level_and_settings_on_a_stack_are_reported(
        self, capsys: pytest.CaptureFixture[str]
    ) -> None:
        assert run(["explain", "image-registry-allowlist", "-s", "dev", "-o", "json"]) == 0
        document = json.loads(capsys.readouterr().out)
        assert document["inForce"]["level"] == "advisory"
        assert document["inForce"]["settings"] == {"registries": ["registry.example"]}

    def test_an_unknown_rule_is_refused_with_the_nearest(
        self, capsys: pytest.CaptureFixture[str]
    ) -> None:
        assert run(["explain", "egres-scoped"]) == 2
        assert 'did you mean "egress-scoped"?' in capsys.readouterr().err


def test_a_cluster_that_cannot_be_asked_is_reported_unless_nobody_wants_to_know(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setenv("KUBECONFIG", str(tmp_path / "none"))
    assert "Runs now\n  not known: " in said(capsys, *DESCRIBE, "one", "-s", "dev")
    assert "Runs now" not in said(capsys, *DESCRIBE, "one", "-s", "dev", "--no-cluster")
    found = document(capsys, *DESCRIBE, "one", "-s", "dev")
    assert found["live"] is None
    assert found["liveUnknown"]
    assert "error: " in said(capsys, *DESCRIBE, "one", "-s", "dev", "--cluster", code=2)


def test_fields_with_many_choices_fit_80_columns(capsys: pytest.CaptureFixture[str]) -> None:
    assert run(["explain", "Stack"]) == 0
    out = capsys.readouterr().out
    assert "holdfast:controllers  <list of agent-sandbox" in out
    assert max(map(len, out.splitlines())) <= 80
