"""A small project of every kind of file, and one mistake in it: one edit, with the place marked.

The mark `▸` in an edit stands where the error is to point; it is no part of the file.
"""

import json
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest
from holdfast.cli.main import run

MARK = "▸"
DIGEST = "sha256:" + "0123456789abcdef" * 4
AGENT_FILE = "agents/triage.yaml"
JOB_FILE = "agents/report.yaml"
KINDS_FILE = "agents/kinds.yaml"
EXCEPTION_FILE = "agents/exceptions.yaml"
WAIVERS_FILE = "policy-pack/waivers.yaml"
EXPIRES = (datetime.now(UTC).date() + timedelta(days=60)).isoformat()
STACK_FILE = "stacks/Pulumi.dev.yaml"
IGNORE_FILE = "stacks/drift-ignore.yaml"
PROJECT_FILE = "Pulumi.yaml"

FILES = {
    PROJECT_FILE: """\
name: first
main: infra/
stackConfigDir: stacks
runtime: python
""",
    AGENT_FILE: f"""\
apiVersion: holdfast.dev/v1alpha1
kind: Agent
metadata:
  name: triage
  namespace: ops
  labels: {{tier: internal}}
  annotations: {{example.com/team: platform}}
spec:
  type: Service
  version: 1.0.0
  owner: platform
  image: registry.example/triage@{DIGEST}
  model:
    ref: shared
    fallbacks:
      - ref: small
  prompt:
    systemMessage: Sort what comes in
  tools:
    - mcp: {{serverRef: tracker, toolNames: [find, close]}}
  dependsOn: [helper]
  secrets:
    - {{name: token, provider: kubernetes, ref: triage-token, key: token, env: TRACKER_TOKEN}}
  config:
    - name: rules
      mountPath: /etc/rules
      data: {{rules.yaml: "a: 1"}}
  container:
    command: [serve]
    args: ["--port", "8080"]
    env:
      - {{name: LOG_LEVEL, value: info}}
      - {{name: WORKERS, value: "4"}}
    ports:
      - {{name: grpc, containerPort: 50051}}
    resources:
      requests: {{cpu: 250m, memory: 256Mi}}
      limits: {{cpu: "1", memory: 512Mi}}
    probes:
      readiness: {{httpGet: {{path: /ready, port: 8080}}, periodSeconds: 5}}
  storage:
    volumes:
      - {{name: cache, size: 1Gi, mountPath: /cache, accessModes: [ReadWriteMany]}}
  scaling:
    minReplicas: 2
    maxReplicas: 4
    metrics:
      - {{type: Resource, name: cpu, target: 70}}
  rollout:
    strategy: RollingUpdate
    maxUnavailable: 25%
  network:
    ingressFrom: [helper]
    egress:
      - {{host: api.example.com, ports: [{{port: 443}}]}}
  budget: {{timeout: 10m}}
  telemetry:
    logs: {{format: json}}
---
apiVersion: holdfast.dev/v1alpha1
kind: Agent
metadata: {{name: helper, namespace: ops}}
spec:
  version: 1.0.0
  owner: platform
  image: registry.example/helper@{DIGEST}
  network: {{ingressFrom: [triage]}}
""",
    JOB_FILE: f"""\
apiVersion: holdfast.dev/v1alpha1
kind: Agent
metadata: {{name: report, namespace: ops}}
spec:
  type: Job
  version: 1.0.0
  owner: platform
  image: registry.example/report@{DIGEST}
  job:
    schedules:
      - {{id: daily, cron: "0 2 * * *", timezone: Europe/London, retries: 1}}
""",
    KINDS_FILE: """\
apiVersion: holdfast.dev/v1alpha1
kind: MCPServer
metadata: {name: tracker, namespace: ops}
spec:
  url: http://tracker.platform.svc:8000/mcp
  toolNames: [find, close]
---
apiVersion: holdfast.dev/v1alpha1
kind: ModelConfig
metadata: {name: shared, namespace: ops}
spec:
  provider: OpenAI
  name: gpt-5
  baseUrl: http://llm.platform.svc:4000/v1
  parameters: {temperature: 0.2}
---
apiVersion: holdfast.dev/v1alpha1
kind: ModelConfig
metadata: {name: small, namespace: ops}
spec:
  provider: OpenAI
  name: gpt-5-mini
  baseUrl: http://llm.platform.svc:4000/v1
---
apiVersion: holdfast.dev/v1alpha1
kind: AgentTeam
metadata: {name: desk, namespace: ops}
spec:
  members: [triage, helper]
  entryPoints: [triage]
""",
    EXCEPTION_FILE: f"""\
apiVersion: holdfast.dev/v1alpha1
kind: PolicyException
metadata: {{name: legacy}}
spec:
  rules: [min-replicas-and-spread]
  target: {{kind: Deployment, name: helper, namespace: ops}}
  reason: One replica is enough until the launch
  owner: platform
  ticket: OPS-17
  approver: security
  expires: "{EXPIRES}"
""",
    WAIVERS_FILE: json.dumps(
        {
            "schemaVersion": "holdfast.dev/waivers/v1",
            "waivers": [
                {
                    "name": "legacy",
                    "rules": ["min-replicas-and-spread"],
                    "kind": "Deployment",
                    "namespace": "ops",
                    "object_name": "helper",
                    "reason": "One replica is enough until the launch",
                    "owner": "platform",
                    "ticket": "OPS-17",
                    "approver": "security",
                    "expires": EXPIRES,
                    "stacks": [],
                }
            ],
        },
        indent=2,
    )
    + "\n",
    STACK_FILE: f"""\
config:
  holdfast:cluster: {{context: dev, identifier: dev}}
  holdfast:namespace: ops
  holdfast:network:
    apiServer: {{cidrs: [10.0.0.10/32]}}
    gateway: {{namespace: edge, podLabels: {{app.kubernetes.io/name: gateway}}}}
    egressGateway:
      namespace: egress
      podLabels: {{app.kubernetes.io/name: proxy}}
      port: 3128
      url: http://proxy.egress.svc:3128
  holdfast:images: {{tools: registry.example/tools@{DIGEST}}}
  holdfast:telemetry:
    otlpEndpoint: http://otel.monitoring.svc:4317
  holdfast:policy:
    profile: dev
    rules:
      min-replicas-and-spread: advisory
  holdfast:agents:
    helper: {{owner: desk}}
""",
    IGNORE_FILE: f"""\
ignore:
  - target: {{kind: Deployment, name: triage, namespace: ops}}
    paths: [spec.replicas]
    reason: The load test scales it
    owner: platform
    expires: "{EXPIRES}"
""",
}


@dataclass(frozen=True)
class Mistake:
    """One edit of one file.

    Attributes:
        old: Text of the file; empty for the whole file.
        new: What stands in its place, with the mark.
        words: What the error says, at least.
    """

    file: str
    old: str
    new: str
    words: tuple[str, ...]


def mistakes_of(table: Path) -> list[Any]:
    """The rows of a table of mistakes.

    A row is a block of lines: `# name`, `in FILE`, `- ` lines that stand in the file (none for the
    whole file), `+ ` lines in their place with the mark, and `= ` texts that the error holds.
    """
    rows = []
    text = table.read_text(encoding="utf-8").replace("{DIGEST}", DIGEST)
    for block in text.replace("{EXPIRES}", EXPIRES).strip("\n").split("\n\n"):
        parts: dict[str, list[str]] = {sign: [] for sign in ("#", "in", "-", "+", "=")}
        for line in block.split("\n"):
            sign, _, rest = line.partition(" ")
            parts[sign].append(rest)
        [name], [file] = parts["#"], parts["in"]
        case = Mistake(file, "\n".join(parts["-"]), "\n".join(parts["+"]), tuple(parts["="]))
        rows.append(pytest.param(case, id=f"{table.stem}: {name}"))
    return rows


def place_of(text: str) -> str:
    """Line and column of the mark."""
    before = text.partition(MARK)[0]
    return f"{before.count(chr(10)) + 1}:{len(before) - before.rfind(chr(10))}"


def write_project(root: Path, files: Mapping[str, str]) -> None:
    """Write files of a project."""
    for file, text in files.items():
        path = root / file
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(text.encode())


def write_with(root: Path, case: Mistake) -> str:
    """Write the project with this mistake in it.

    Returns:
        The place of the error, `file:line:column`.
    """
    content = FILES[case.file]
    assert not case.old or case.old in content, f"the project has no {case.old!r}"
    marked = content.replace(case.old, case.new, 1) if case.old else case.new
    write_project(root, FILES | {case.file: marked.replace(MARK, "")})
    return f"{case.file}:{place_of(marked)}"


def assert_corrected(root: Path, case: Mistake, capsys: pytest.CaptureFixture[str]) -> None:
    """`holdfast validate` names this one mistake, its place, and what to write instead."""
    place = write_with(root, case)
    code = run(["validate", "-o", "json"])
    output = capsys.readouterr()
    assert "Traceback" not in output.out + output.err
    assert output.out, output.err
    errors = json.loads(output.out)["errors"]
    shown = json.dumps(errors, indent=1)
    assert len(errors) == 1, shown
    error = errors[0]
    assert code == 2, shown
    assert f"{error['file']}:{error['line']}:{error['column']}" == place, shown
    text = f"{error['path']}: {error['expected']}, got {error['found']}; {error['remedy']}"
    for word in case.words:
        assert word in text, shown
    assert error["remedy"], f"no word on what to write instead: {shown}"
