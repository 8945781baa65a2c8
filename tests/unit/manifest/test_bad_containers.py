"""Containers and pods that cannot be meant, each refused at its place."""

from pathlib import Path

import pytest

from tests.unit.manifest.projects import (
    IMAGE,
    Bad,
    assert_refused,
    bad,
    spec,
)

CONTAINERS = [
    bad(
        "sidecar without image",
        spec("sidecars: [{name: a}]"),
        "7:14",
        "this field is required",
        "add image",
    ),
    bad(
        "sidecar with half a digest",
        spec("sidecars: [{name: a, image: 'a/b@sha256:00'}]"),
        "7:31",
        "[image-digest-pinned]",
    ),
    bad(
        "sidecar with an unknown field",
        spec(f'sidecars: [{{name: a, image: "{IMAGE}", prots: []}}]'),
        "7:129",
        "sidecars[0].prots",
        'did you mean "ports"?',
    ),
    bad(
        "sidecar of the agent's name",
        spec(f'sidecars: [{{name: agent, image: "{IMAGE}"}}]'),
        "7:21",
        "a name that no other container has",
    ),
    bad(
        "one name for two",
        spec(
            f'sidecars: [{{name: a, image: "{IMAGE}"}}]\n'
            f'initContainers: [{{name: a, image: "{IMAGE}"}}]'
        ),
        "8:27",
        "a name that no other container has",
    ),
    bad(
        "override of an unknown field",
        spec("podOverrides: {containers: [{name: agent, livenessProb: {}}]}"),
        "7:45",
        'did you mean "livenessProbe"?',
    ),
    bad(
        "override of another type",
        spec("podOverrides: {hostNetwork: maybe}"),
        "7:31",
        "expected true or false",
    ),
    bad(
        "override that adds a container",
        spec("podOverrides: {containers: [{name: extra}]}"),
        "7:38",
        "adds none",
        "sidecars or initContainers",
    ),
    bad(
        "affinity misspelt",
        spec("affinity: {podAntiAfinity: {}}"),
        "7:14",
        'did you mean "podAntiAffinity"?',
    ),
    bad(
        "security context misspelt",
        spec("security: {securityContext: {runAsNonRot: true}}"),
        "7:32",
        'did you mean "runAsNonRoot"?',
    ),
    bad(
        "toleration of another type",
        spec("tolerations: [{tolerationSeconds: soon}]"),
        "7:37",
        "expected an integer",
    ),
    bad("asserted class", spec("qosClass: Guaranteed"), "7:3", "expected a known field"),
    bad(
        "language without the operator",
        spec("telemetry: {traces: {language: python}}"),
        "7:34",
        "no effect without the operator",
    ),
]


@pytest.mark.parametrize("case", [*CONTAINERS])
def test_a_bad_field_is_refused_at_its_place(tmp_path: Path, case: Bad) -> None:
    assert_refused(tmp_path, case)
