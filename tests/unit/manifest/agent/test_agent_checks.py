"""Fields of one agent that cannot go together, or cannot be meant, are refused at their place."""

from pathlib import Path

import pytest

from tests.unit.manifest.projects import Bad, agent, assert_refused, bad, errors_of, spec, write

AGREEMENT = [
    bad(
        "path of Holdfast",
        spec("storage: {volumes: [{name: a, size: 1Gi, mountPath: /tmp/}]}"),
        "7:55",
        "'/tmp' twice",
    ),
    bad(
        "path given twice",
        spec(
            "storage: {volumes: [{name: a, size: 1Gi, mountPath: /a}]}\n"
            "config: [{name: b, data: {}, mountPath: /a}]"
        ),
        "8:43",
        "'/a' twice",
    ),
    bad(
        "variable set twice",
        spec(
            "container: {env: [{name: A, value: b}]}\nsecrets: [{name: a, ref: b, key: c, env: A}]"
        ),
        "8:44",
        "'A' twice",
    ),
    bad(
        "probe of a port without a name",
        spec("container: {probes: {readiness: {httpGet: {port: web}}}}"),
        "7:52",
        "spec.container.probes.readiness.httpGet.port: expected the name of a port, got 'web' "
        "(there: http)",
    ),
    bad(
        "temporary folder above the limit",
        spec("container: {tmp: {size: 2Gi}}"),
        "7:27",
        "spec.container.tmp.size: must not exceed container.resources.limits.ephemeral-storage",
        "2Gi, the limit is 1Gi",
    ),
    bad(
        "port given twice",
        spec("container: {ports: [{name: a, containerPort: 8080}]}"),
        "7:48",
        "a port that nothing else uses, got 8080",
    ),
    bad(
        "name of Holdfast's port",
        spec("container: {ports: [{name: http, containerPort: 1}]}"),
        "7:30",
        "Holdfast's own port",
    ),
    bad(
        "metrics on the exposed port",
        spec("telemetry: {metrics: {port: 8080}}"),
        "7:31",
        "another port",
    ),
    bad(
        "port name of 16 characters",
        spec("container: {ports: [{name: abcdefghijklmnop, containerPort: 1}]}"),
        "7:30",
        "at most 15",
    ),
    bad(
        "unknown resource",
        spec("container: {resources: {limits: {mem: 1Gi}}}"),
        "7:36",
        'did you mean "memory"?',
    ),
    bad(
        "no capacity",
        spec("storage: {volumes: [{name: a, size: 0Gi, mountPath: /a}]}"),
        "7:39",
        "more than nothing",
    ),
    bad(
        "storage without size",
        spec("storage: {volumes: [{name: a, mountPath: /a}]}"),
        "7:23",
        "expected size (or existingClaim)",
    ),
    bad(
        "single writer, two replicas",
        spec("storage: {volumes: [{name: a, size: 1Gi, mountPath: /a}]}\nscaling: {replicas: 2}"),
        "8:3",
        "has a single writer",
        "ReadWriteMany",
    ),
    bad(
        "key of a secret that is not there",
        spec("model: {provider: a, name: b, apiKey: c}"),
        "7:41",
        "an entry of secrets[], got 'c' (there: none)",
    ),
    bad(
        "grace below a tool's timeout",
        spec(
            'tools: [{mcp: {url: "http://a", toolNames: [b], timeout: 2m}}]\n'
            "pod: {terminationGracePeriodSeconds: 60}"
        ),
        "8:40",
        "60 s, the longest tool may take 120 s",
    ),
    bad(
        "replicas and a range",
        spec("scaling: {replicas: 1, minReplicas: 1, maxReplicas: 2}"),
        "7:3",
        "replicas excludes",
    ),
    bad(
        "URL with a password",
        spec('tools: [{http: {url: "http://u:p@a"}}]'),
        "7:24",
        "without credentials, got a URL with credentials",
    ),
    bad(
        "URL with a port out of range",
        spec('tools: [{http: {url: "http://a:99999"}}]'),
        "7:24",
        "Port out of range",
    ),
    bad(
        "CIDR without prefix",
        spec("network: {egress: [{cidr: 10.0.0.1}]}"),
        "7:29",
        "without a prefix length",
    ),
    bad(
        "version with build metadata",
        agent().replace("1.0.0", "1.0.0+b1"),
        "5:12",
        "semantic version",
    ),
]


@pytest.mark.parametrize("case", AGREEMENT)
def test_what_cannot_go_together_is_refused_at_its_place(tmp_path: Path, case: Bad) -> None:
    assert_refused(tmp_path, case)


def test_every_disagreement_of_an_agent_is_reported_at_once(tmp_path: Path) -> None:
    disagreeing = spec("""
        container:
          env: [{name: A, value: b}, {name: A, value: c}]
          ports: [{name: a, containerPort: 8080}]
        model: {provider: a, name: b, apiKey: c}
    """)
    write(tmp_path, "agents/a.yaml", disagreeing)
    assert [error.path for error in errors_of(tmp_path).errors] == [
        "spec.container.env[1].name",
        "spec.container.ports[0].containerPort",
        "spec.model.apiKey",
    ]
