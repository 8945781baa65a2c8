"""Values that cannot be meant are refused at their place, with what was expected."""

from pathlib import Path

import pytest

from tests.unit.manifest.projects import (
    IMAGE,
    STACK,
    Bad,
    agent,
    assert_refused,
    bad,
    errors_of,
    spec,
    write,
)

LABEL = "(RFC 1123 label)"
NAMES = [
    bad("38 path as name", agent("../x"), "3:18", LABEL, "has '.'"),
    bad("39 slash in name", agent("a/b"), "3:18", LABEL, "has '/'"),
    bad("40 capital and underscore", agent("Agent_1"), "3:18", LABEL, "has 'A'"),
    bad("41 name of 254 characters", agent("a" * 254), "3:18", "at most 52 characters, has 254"),
    bad("76 template in name", agent('"{{ name }}"'), "3:18", LABEL, "has '{'"),
    bad("77 variable in name", agent('"${NAME}"'), "3:18", LABEL, "has '$'"),
    bad("78 command in name", agent('"$(id)"'), "3:18", LABEL, "has '$'"),
    bad("reserved name", agent("gateway"), "3:18", "stands for the stack's gateway", "rename"),
    bad(
        "42 label value of 64 characters",
        agent(metadata=f", labels: {{a: {'x' * 64}}}"),
        "3:38",
        "at most 63 characters, has 64",
    ),
    bad(
        "43 key with two slashes", agent(metadata=", labels: {a/b/c: x}"), "3:35", "at most one '/'"
    ),
    bad(
        "44 annotations over 256 KiB",
        agent(metadata=f", annotations: {{a: {'x' * 262144}}}"),
        "3:26",
        "at most 262144 bytes",
        "262145",
    ),
    bad(
        "our own prefix",
        agent(metadata=", labels: {holdfast.dev/agent: x}"),
        "3:35",
        "are Holdfast's",
    ),
]

FIELDS = [
    bad("48 unknown field", spec("imagee: x"), "7:3", "spec.imagee", 'did you mean "image"?'),
    bad(
        "48 unknown field in a list",
        spec("container:\n  env:\n    - {name: A, valu: b}"),
        "9:19",
        "spec.container.env[0].valu",
        'did you mean "value"?',
    ),
    bad(
        "48 field of a part",
        spec("replicas: 3"),
        "7:3",
        "got 'replicas'",
        "write it as scaling.replicas",
    ),
    bad(
        "48 unknown kind",
        "apiVersion: holdfast.dev/v1alpha1\nkind: Agnet\n",
        "2:7",
        'did you mean "Agent"?',
    ),
    bad(
        "48 unknown version",
        "apiVersion: holdfast.dev/v2\nkind: Agent\n",
        "1:13",
        "expected holdfast.dev/v1alpha1",
    ),
    bad(
        "48 Python's name of a field",
        spec("working_dir: /x"),
        "7:3",
        "expected a known field",
        "workingDir",
    ),
    bad(
        "49 number in quotes",
        spec('scaling: {replicas: "3"}'),
        "7:23",
        "expected an integer, got the text '3'",
        "remove the quotes",
    ),
    bad(
        "49 scalar for a list",
        spec("container: {args: serve}"),
        "7:21",
        "expected a list",
        "[serve]",
    ),
    bad("49 list for a mapping", spec("scaling: [1]"), "7:12", "expected a mapping, got a list"),
    bad(
        "49 one of several shapes",
        spec("network: {ingressFrom: [3]}"),
        "7:27",
        'expected "gateway", an agent\'s name, {namespace, name} or {namespace}, got the number 3',
    ),
    bad(
        "49 number or percent",
        spec("rollout: {maxSurge: half}"),
        "7:23",
        'percent must be from "0%" to "100%"',
    ),
    bad(
        "49 one of several words",
        spec("telemetry: {logs: {level: warn}}"),
        "7:29",
        "'debug', 'info', 'warning' or 'error'",
        'did you mean "warning"?',
    ),
    bad(
        "50 null for required",
        agent().replace("version: 1.0.0", "version: null"),
        "5:12",
        "expected text, got null",
        "give a value",
    ),
    bad(
        "50 required and absent",
        agent().replace("  version: 1.0.0\n", ""),
        "4:1",
        "spec.version: this field is required",
        "add version",
    ),
    bad(
        "51 replicas below zero",
        spec("scaling: {replicas: -1}"),
        "7:23",
        "from 0 to 1000, got the number -1",
    ),
    bad("51 a billion replicas", spec("scaling: {replicas: 1000000000}"), "7:23", "from 0 to 1000"),
    bad(
        "52 cpu with a word",
        spec("container: {resources: {limits: {cpu: 1 core}}}"),
        "7:41",
        'a quantity such as "512Mi" or "250m"',
        "'1 core'",
    ),
    bad(
        "52 memory in MB",
        spec("container: {resources: {limits: {memory: 512MB}}}"),
        "7:44",
        "'512MB'",
        'write "512Mi"',
    ),
    bad(
        "53 limit below request",
        spec("container:\n  resources:\n    requests: {cpu: 2000m}\n    limits: {cpu: 1000m}"),
        "10:21",
        "limits.cpu must not be below requests.cpu",
        "'1000m', request '2000m'",
    ),
    bad(
        "54 port 0",
        spec("network: {expose: {port: 0}}"),
        "7:28",
        "from 1 to 65535, got the number 0",
    ),
    bad("54 port 70000", spec("network: {expose: {port: 70000}}"), "7:28", "from 1 to 65535"),
    bad(
        "decision that is misspelt",
        spec("governance: {autonomi: supervised}"),
        "7:16",
        "spec.governance.autonomi: expected a known field",
        'did you mean "autonomy"?',
    ),
    bad(
        "retention in words",
        spec("governance: {dataRetention: a month}"),
        "7:31",
        "expected how long it is kept, such as 30d or 1y",
    ),
    bad(
        "55 image with a name in upper case",
        agent(image="registry.example/Agent:1.0"),
        "6:10",
        "expected an image such as registry.example/agent:1.4.0, its name in lower case",
    ),
    bad(
        "57 digest of 63 digits",
        agent(image=IMAGE[:-1]),
        "6:10",
        "[image-digest-pinned]",
        "64",
        "copy the whole digest",
    ),
    bad(
        "63 egress to everywhere",
        spec("network: {egress: [{cidr: 0.0.0.0/0}]}"),
        "7:29",
        "[egress-scoped]",
    ),
    bad(
        "64 metadata address",
        spec("network: {egress: [{cidr: 169.254.169.254/32}]}"),
        "7:29",
        "[metadata-endpoint-blocked]",
    ),
    bad(
        "65 egress to all of IPv6",
        spec('network: {egress: [{cidr: "::/0"}]}'),
        "7:29",
        "[egress-scoped]",
    ),
    bad(
        "65 CIDR out of range",
        spec("network: {egress: [{cidr: 10.0.0.0/33}]}"),
        "7:29",
        "expected a CIDR",
    ),
    bad(
        "66 every tool",
        spec('tools: [{mcp: {url: "https://a.example", toolNames: ["*"]}}]'),
        "7:56",
        "without wildcard",
    ),
    bad(
        "70 every verb",
        spec('pod: {security: {rbac: [{rules: [{resources: [pods], verbs: ["*"]}]}]}}'),
        "7:64",
        "[rbac-no-wildcards]",
    ),
    bad(
        "names given twice",
        spec("container:\n  env:\n    - {name: A, value: b}\n    - {name: A, value: c}"),
        "10:16",
        "names in container.env must be unique",
    ),
    bad(
        "encrypted setting",
        'config: {"holdfast:cluster": {context: {secure: abc}}}',
        "1:40",
        "an encrypted value",
        "keep secrets in a Secret",
        file=STACK,
    ),
    bad(
        "stack key without namespace",
        "config: {cluster: {}}",
        "1:10",
        'write "holdfast:cluster"',
        file=STACK,
    ),
    bad(
        "unknown key of a stack file",
        "confg: {}",
        "1:1",
        'did you mean "config"?',
        file=STACK,
    ),
]


@pytest.mark.parametrize("case", [*NAMES, *FIELDS])
def test_a_bad_field_is_refused_at_its_place(tmp_path: Path, case: Bad) -> None:
    assert_refused(tmp_path, case)


@pytest.mark.parametrize(
    ("first", "second", "words"),
    [
        pytest.param("triage", "triage", "'triage' at agents/a.yaml:3:18", id="45 same name"),
        pytest.param("a" * 52 + "x", "a" * 52 + "y", "at agents/a.yaml:3:18", id="46 truncated"),
        pytest.param("Triage", "triage", "'Triage' at agents/a.yaml:3:18", id="47 case"),
    ],
)
def test_two_agents_cannot_share_a_name(
    tmp_path: Path, first: str, second: str, words: str
) -> None:
    write(tmp_path, "agents/a.yaml", agent(first))
    write(tmp_path, "agents/b.yaml", agent(second, metadata=", namespace: other"))
    errors = [str(error) for error in errors_of(tmp_path).errors]
    clash = [error for error in errors if "no other agent" in error]
    assert len(clash) == 1
    assert clash[0].startswith("agents/b.yaml:3:18: metadata.name")
    assert words in clash[0]
