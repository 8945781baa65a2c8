"""Hooks, probes and fetched files that cannot be meant, each refused at its place."""

from pathlib import Path

import pytest

from tests.unit.manifest.projects import (
    Bad,
    assert_refused,
    bad,
    spec,
)

DIGEST = "6" * 64
FETCH = f'uri: "https://a.example/w.bin", sha256: "{DIGEST}", to: /models'
SECRET = "secrets: [{name: store, ref: keys, key: token, env: TOKEN}]"
MCP = '{mcp: {url: "https://a.example/mcp", toolNames: [x], timeout: 90s}}'


def prestart(fetch: str) -> str:
    return spec(f"container:\n  lifecycle:\n    preStart:\n      - fetch: {{{fetch}}}")


LIFECYCLE = [
    bad(
        "fetch without digest",
        prestart('uri: "https://a.example/w.bin", to: /models'),
        "10:11",
        "lifecycle.preStart[0].fetch.sha256",
        "this field is required",
    ),
    bad(
        "digest that is none",
        prestart(FETCH.replace(DIGEST, "abc")),
        "10:59",
        "64 lower-case hexadecimal digits",
        "sha256sum FILE",
    ),
    bad(
        "scheme that nobody fetches",
        prestart(FETCH.replace("https", "ftp")),
        "10:24",
        "expected a URI of http, https, s3 or gs",
        "s3://bucket/key",
    ),
    bad(
        "password in a URI",
        prestart(FETCH.replace("a.example", "me:pass@a.example")),
        "10:24",
        "a password in a URL (not shown)",
        "[no-literal-credentials]",
    ),
    bad(
        "folder in place of a file",
        prestart(FETCH.replace("w.bin", "")),
        "10:24",
        "ends in a file's name",
    ),
    bad(
        "quote in a URI",
        prestart(FETCH.replace("w.bin", "w'.bin")),
        "10:24",
        "without spaces, quotes",
    ),
    bad(
        "step of both kinds",
        spec(
            f"container:\n  lifecycle:\n    preStart:\n      - {{fetch: {{{FETCH}}}, command: [x]}}"
        ),
        "10:11",
        "either fetch or command",
    ),
    bad(
        "one file fetched twice",
        spec(
            f"container:\n  lifecycle:\n    preStart:\n      - fetch: {{{FETCH}}}\n"
            f"      - fetch: {{{FETCH}}}"
        ),
        "11:131",
        "two fetches must not write one file",
        "'/models/w.bin'",
    ),
    bad(
        "fetch into a secret",
        spec(
            "secrets: [{name: a, ref: b, mountPath: /models}]\n"
            f"container:\n  lifecycle:\n    preStart:\n      - fetch: {{{FETCH}}}"
        ),
        "11:131",
        "a folder that can be written to",
    ),
    bad(
        "unknown credentials",
        prestart(f"{FETCH}, credentials: stor"),
        "10:153",
        "the name of an entry of secrets[]",
        "'stor' (there: none)",
    ),
    bad(
        "credentials in a variable",
        spec(
            f"{SECRET}\ncontainer:\n  lifecycle:\n    preStart:\n"
            f"      - fetch: {{{FETCH}, credentials: store}}"
        ),
        "11:153",
        "with mountPath",
    ),
    bad(
        "token without key",
        spec(
            "secrets: [{name: store, ref: keys, mountPath: /run/keys}]\n"
            "container:\n  lifecycle:\n    preStart:\n"
            f"      - fetch: {{{FETCH}, credentials: store}}"
        ),
        "11:153",
        "with key",
    ),
    bad(
        "warm-up, which is the startup probe",
        spec("container: {lifecycle: {warmup: {http: /warm}}}"),
        "7:27",
        "spec.container.lifecycle.warmup: expected a known field",
    ),
    bad(
        "startup longer than an update",
        spec(
            "rollout: {progressDeadlineSeconds: 300}\n"
            "container: {probes: {startup: {httpGet: {path: /warm}, failureThreshold: 60}}}"
        ),
        "7:38",
        "longer than the startup probe",
        "300 s, the probe may take 600 s",
    ),
    bad(
        "102 grace shorter than tool and hook",
        spec(f"tools: [{MCP}]\npod: {{terminationGracePeriodSeconds: 92}}"),
        "8:40",
        "must cover the longest tool timeout and preStop",
        "92 s, the longest tool may take 90 s and preStop 5 s",
        "set it to 95 or more",
    ),
    bad(
        "probe of two kinds",
        spec("container: {probes: {liveness: {tcpSocket: {port: 1}, grpc: {}}}}"),
        "7:24",
        "at most one of httpGet, exec, tcpSocket and grpc",
    ),
    bad(
        "liveness that must succeed twice",
        spec("container: {probes: {liveness: {tcpSocket: {port: 1}, successThreshold: 2}}}"),
        "7:75",
        "successThreshold of liveness must be 1",
    ),
    bad(
        "readiness that restarts",
        spec(
            "container: {probes: {readiness: {tcpSocket: {port: 1}, "
            "terminationGracePeriodSeconds: 2}}}"
        ),
        "7:89",
        "no effect on readiness",
    ),
    bad(
        "leader without a way to the API server",
        spec("scaling: {leaderElection: true}\nnetwork: {denyEgress: true}"),
        "7:29",
        "needs the API server",
        "remove network.denyEgress",
    ),
]


@pytest.mark.parametrize("case", [*LIFECYCLE])
def test_a_bad_field_is_refused_at_its_place(tmp_path: Path, case: Bad) -> None:
    assert_refused(tmp_path, case)
