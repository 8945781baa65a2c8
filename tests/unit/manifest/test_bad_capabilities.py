"""Models, cards, budgets, skills and tools that cannot be meant are refused at their place."""

from pathlib import Path

import pytest

from tests.unit.manifest.projects import STACK, Bad, agent, assert_refused, bad, spec

OWN = "provider: a, name: b"
COMMIT = "commit: " + "a" * 40


def skill(source: str) -> str:
    return spec(f"skills: [{{name: a, {source}}}]")


SERVER_FILE = "agents/server.yaml"
HOSTED_IMAGE = "image: registry.example/x@sha256:" + "7" * 64


def server(text: str) -> str:
    """An MCPServer called crm; `text` begins on line 5, two columns in."""
    head = "apiVersion: holdfast.dev/v1alpha1\nkind: MCPServer\nmetadata: {name: crm}\nspec:\n"
    return head + "".join(f"  {line}\n" for line in text.splitlines())


CASES = [
    bad(
        "tool server that is nowhere",
        server("toolNames: [find]"),
        "4:1",
        "spec: expected either image or url, got neither",
        file=SERVER_FILE,
    ),
    bad(
        "tool server in two places",
        server(f'url: "http://a"\n{HOSTED_IMAGE}'),
        "4:1",
        "spec: expected either image or url, got both",
        file=SERVER_FILE,
    ),
    bad(
        "replicas of a server that runs elsewhere",
        server('url: "http://a"\nreplicas: 2'),
        "6:13",
        "spec.replicas: has no effect on a server that runs elsewhere; remove it, or give image "
        "in place of url",
        file=SERVER_FILE,
    ),
    bad(
        "port of a tool server in the words of an agent",
        server(f"{HOSTED_IMAGE}\nnetwork: {{expose: {{port: 9000}}}}"),
        "6:28",
        "spec.network.expose.port: the port of a tool server stands in spec.port; move it there",
        file=SERVER_FILE,
    ),
    bad(
        "tool server on standard input",
        server(f"{HOSTED_IMAGE}\ntransport: stdio"),
        "6:14",
        "spec.transport: expected 'sse' or 'streamable-http'",
        file=SERVER_FILE,
    ),
    bad(
        "two secrets of a tool server in one variable",
        server(
            f"{HOSTED_IMAGE}\n"
            "secrets: [{name: a, ref: s, key: k, env: K}, {name: b, ref: s, key: k, env: K}]"
        ),
        "6:79",
        "spec.secrets[1].env",
        file=SERVER_FILE,
    ),
    bad(
        "gateway and address",
        spec(f'model: {{{OWN}, baseUrl: "http://a", gatewayRef: b}}'),
        "7:66",
        "spec.model.gatewayRef: gatewayRef excludes baseUrl",
    ),
    bad(
        "certificate of nobody",
        spec(f"model: {{{OWN}, tls: {{}}}}"),
        "7:33",
        "spec.model.tls: expected either caSecret or insecure: true",
    ),
    bad(
        "certificate that is not judged",
        spec(f"model: {{{OWN}, tls: {{caSecret: a, insecure: true}}}}"),
        "7:33",
        "expected either caSecret or insecure: true",
    ),
    bad(
        "key of no certificate",
        spec(f"model: {{{OWN}, tls: {{insecure: true, caKey: b}}}}"),
        "7:62",
        "spec.model.tls.caKey: caKey needs caSecret",
    ),
    bad(
        "unknown entry for a fallback",
        spec(f"model: {{{OWN}, fallbacks: [{{{OWN}, apiKey: c}}]}}"),
        "7:76",
        "spec.model.fallbacks[0].apiKey: expected the name of an entry of secrets[]",
        "(there: none)",
    ),
    bad(
        "entry without one value",
        spec(f"secrets: [{{name: k, ref: s, mountPath: /k}}]\nmodel: {{{OWN}, apiKey: k}}"),
        "8:41",
        "spec.model.apiKey: expected an entry with one value, got 'k', which has no key",
    ),
    bad(
        "header from nothing",
        spec(
            'tools: [{mcp: {url: "http://a", toolNames: [x], headersFrom: [{name: A, secret: k}]}}]'
        ),
        "7:83",
        "spec.tools[0].mcp.headersFrom[0].secret: expected the name of an entry of secrets[]",
    ),
    bad(
        "header that is none",
        spec('tools: [{mcp: {url: "http://a", toolNames: [x], allowedHeaders: ["a b"]}}]'),
        "7:68",
        "expected the name of an HTTP header, got 'a b'",
    ),
    bad(
        "tools of another's standard input",
        spec('tools: [{mcp: {url: "http://a", toolNames: [x], transport: stdio}}]'),
        "7:62",
        "spec.tools[0].mcp.transport: expected 'sse' or 'streamable-http'",
    ),
    bad(
        "period of no cost",
        spec("budget: {period: 1d}"),
        "7:20",
        "spec.budget.period: period needs maxCostUSD",
    ),
    bad(
        "no time",
        spec("budget: {timeout: 10ms}"),
        "7:21",
        "spec.budget.timeout: expected a second or more, got '10ms'",
    ),
    bad("no steps", spec("budget: {maxSteps: 0}"), "7:22", "a number from 1 to 100000"),
    bad("free of charge", spec("budget: {maxCostUSD: 0}"), "7:24", "expected a number above 0"),
    bad(
        "guardrail without model",
        spec("guardrails: [{ref: a, mode: preCall}]"),
        "7:15",
        "spec.guardrails: has no effect without model",
    ),
    bad(
        "signed card",
        spec("card: {sign: true}"),
        "7:10",
        "spec.card.sign: expected a known field",
    ),
    bad(
        "two skills of one id",
        spec(
            "card:\n  skills:\n"
            "    - {id: a, name: a, description: a, tags: [a]}\n"
            "    - {id: a, name: b, description: b, tags: [b]}\n"
        ),
        "10:14",
        "spec.card.skills[1].id: ids in skills must be unique",
    ),
    bad(
        "skill without tag",
        spec("card: {skills: [{id: a, name: a, description: a, tags: []}]}"),
        "7:58",
        "expected at least 1",
    ),
    bad(
        "unknown way to authenticate",
        spec("card: {securitySchemes: {key: {apiKey: {}}}}"),
        "7:28",
        "expected exactly one of apiKeySecurityScheme",
        "got 'apiKey'",
    ),
    bad(
        "no media type",
        spec("card: {inputModes: [text]}"),
        "7:23",
        "expected a media type such as \"text/plain\", got 'text'",
    ),
    bad(
        "no card, but skills",
        spec("card: {enabled: false, outputModes: [a/b]}"),
        "7:19",
        "spec.card.enabled: enabled: false excludes the other fields of card",
    ),
    bad(
        "two skills of one name",
        spec(
            'skills:\n  - {name: a, oci: "registry.example/s@sha256:' + "0" * 64 + '"}\n'
            '  - {name: a, oci: "registry.example/t@sha256:' + "0" * 64 + '"}'
        ),
        "9:14",
        "spec.skills[1].name: names in skills must be unique, got 'a' twice",
    ),
    bad("skill of nothing", skill("path: a"), "7:12", "exactly one of oci, git and bucket"),
    bad(
        "skill by a branch",
        skill('git: {url: "https://a.example/r", commit: main}'),
        "7:64",
        "expected a commit: 40 lower-case hexadecimal digits, got 'main'",
        "[model-and-tool-volume-pinned]",
    ),
    bad(
        "skill by a tag",
        skill('oci: "registry.example/skills:latest"'),
        "7:27",
        "expected an image with its digest",
    ),
    bad(
        "skill without digest",
        skill('bucket: {url: "https://a.example/s.tar.gz", versionId: "1"}'),
        "7:22",
        "spec.skills[0].bucket.sha256: this field is required",
    ),
    bad(
        "path out of a skill",
        skill(f'git: {{url: "https://a.example/r", {COMMIT}}}, path: "../a"'),
        "7:113",
        "expected a relative path without '..', got '../a'",
    ),
    bad(
        "managed agent without model",
        agent(image="x").replace('  image: "x"\n', "  runtime: managed\n"),
        "6:12",
        "spec.runtime: an agent of the managed runtime is what its model and prompt make it",
    ),
    bad(
        "managed agent with an image",
        spec(f"runtime: managed\nprompt: {{systemMessage: a}}\nmodel: {{{OWN}}}"),
        "6:10",
        "spec.image: has no effect with runtime: managed",
    ),
    bad(
        "no image",
        agent(image="x").replace('  image: "x"\n', ""),
        "4:1",
        "spec.image: this field is required; add image",
    ),
    bad(
        "unknown model gateway",
        spec(f"model: {{{OWN}, gatewayRef: mian}}"),
        "7:45",
        "spec.model.gatewayRef: expected a model gateway of stack 'dev', got 'mian'",
    ),
    bad(
        "default gateway that is not declared",
        "config: {holdfast:models: {gateway: main}}",
        "1:37",
        "expected one of gateways, got 'main' (there: none)",
        file=STACK,
    ),
    bad(
        "gateway called direct",
        'config: {holdfast:models: {gateways: {direct: {url: "http://a"}}}}',
        "1:39",
        "this name means no gateway",
        file=STACK,
    ),
]


@pytest.mark.parametrize("case", CASES)
def test_it_is_refused_at_its_place(tmp_path: Path, case: Bad) -> None:
    assert_refused(tmp_path, case)
