"""What stands under network, and what is refused there."""

from pathlib import Path

import pytest

from tests.unit.manifest.projects import (
    MANIFEST,
    STACK,
    Bad,
    assert_refused,
    bad,
    errors_of,
    spec,
    write,
)

CASES = [
    bad(
        "path without gateway",
        spec("network: {expose: {path: /support}}"),
        "7:28",
        "spec.network.expose.path: has no effect without gatewayRef; name the Gateway",
    ),
    bad(
        "hosts without gateway",
        spec("network: {expose: {hosts: [support.example.com]}}"),
        "7:29",
        "spec.network.expose.hosts: has no effect without gatewayRef",
    ),
    bad(
        "no host name",
        spec("network: {expose: {gatewayRef: {name: public}, hosts: [Support]}}"),
        "7:58",
        'must be a domain such as "api.example.com"',
    ),
    bad(
        "unknown field of a gateway",
        spec("network: {expose: {gatewayRef: {name: public, section: https}}}"),
        "7:49",
        'did you mean "sectionName"?',
    ),
    bad(
        "everything in two halves",
        spec("network: {egress: [{cidr: 0.0.0.0/1}, {cidr: 128.0.0.0/1}]}"),
        "7:21",
        "must not be a catch-all, not in parts either, got 0.0.0.0/1, 128.0.0.0/1 [egress-scoped]",
    ),
    bad(
        "two names in one entry",
        spec("network: {egress: [{host: a.example.com, cidr: 10.0.0.0/8}]}"),
        "7:22",
        "expected exactly one of agent, tool, host, service, cidr and apiServer, got host and cidr",
    ),
    bad(
        "service without ports",
        spec("network: {egress: [{service: {name: cache}}]}"),
        "7:22",
        "a service needs ports; name the ports of its pods",
    ),
    bad(
        "ports of the API server",
        spec("network: {egress: [{apiServer: true, ports: [{port: 6443}]}]}"),
        "7:47",
        "has no effect: the port is known",
    ),
    bad(
        "everything denied and something listed",
        spec("network: {denyEgress: true, egress: [{host: a.example.com}]}"),
        "7:39",
        "denyEgress excludes egress; remove one of them",
    ),
    bad(
        "the form before",
        spec("network: {egress: {domains: [a.example.com]}}"),
        "7:13",
        "write it as a list: each entry begins with a hyphen and has some of agent, tool, host, ",
    ),
    bad(
        "peers",
        spec("network: {peers: [a]}"),
        "7:13",
        "write [{agent: NAME}] in network.egress",
    ),
]


@pytest.mark.parametrize("case", CASES)
def test_a_bad_exposure_is_refused_at_its_place(tmp_path: Path, case: Bad) -> None:
    assert_refused(tmp_path, case)


STACKS = [
    pytest.param(
        "network: {expose: {gatewayRef: {name: public}}}",
        '{"holdfast:controllers": [gateway-api]}',
        "agents/triage.yaml:7:34: spec.network.expose.gatewayRef: expected a gateway on stack "
        "'dev', got none",
        id="gateway that the stack lacks",
    ),
    pytest.param(
        "network: {egress: [{host: api.example.com}]}",
        "{}",
        "agents/triage.yaml:7:29: spec.network.egress[0].host: expected an egress gateway on "
        "stack 'dev' to reach 'api.example.com', got none",
        id="domain that nothing opens",
    ),
    pytest.param(
        "network: {egress: [{host: api.example.com}], allowDNS: false}",
        '{"holdfast:controllers": [cilium]}',
        "agents/triage.yaml:7:58: spec.network.allowDNS: expected true to reach 'api.example.com'",
        id="domain by Cilium without look-ups",
    ),
    pytest.param(
        'tools: [{http: {url: "https://192.0.2.7"}}]',
        '{"holdfast:controllers": [cilium]}',
        "add its address to network.egress, as {cidr}",
        id="address with Cilium",
    ),
]


@pytest.mark.parametrize(("fields", "settings", "words"), STACKS)
def test_what_a_stack_does_not_offer_is_refused(
    tmp_path: Path, fields: str, settings: str, words: str
) -> None:
    write(tmp_path, MANIFEST, spec(fields))
    write(tmp_path, STACK, f"config: {settings}")
    (error,) = errors_of(tmp_path, "dev").errors
    assert words in str(error)
