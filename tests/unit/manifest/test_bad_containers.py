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
        spec("pod: {sidecars: [{name: a}]}"),
        "7:20",
        "this field is required",
        "add image",
    ),
    bad(
        "sidecar with half a digest",
        spec("pod: {sidecars: [{name: a, image: 'a/b@sha256:00'}]}"),
        "7:37",
        "[image-digest-pinned]",
    ),
    bad(
        "sidecar with an unknown field",
        spec(f'pod: {{sidecars: [{{name: a, image: "{IMAGE}", prots: []}}]}}'),
        "7:135",
        "sidecars[0].prots",
        'did you mean "ports"?',
    ),
    bad(
        "sidecar of the agent's name",
        spec(f'pod: {{sidecars: [{{name: agent, image: "{IMAGE}"}}]}}'),
        "7:27",
        "a name that no other container has",
    ),
    bad(
        "one name for two",
        spec(
            f'pod:\n  sidecars: [{{name: a, image: "{IMAGE}"}}]\n'
            f'  initContainers: [{{name: a, image: "{IMAGE}"}}]'
        ),
        "9:29",
        "a name that no other container has",
    ),
    bad(
        "override of an unknown field",
        spec("pod: {overrides: {containers: [{name: agent, livenessProb: {}}]}}"),
        "7:48",
        'did you mean "livenessProbe"?',
    ),
    bad(
        "override of another type",
        spec("pod: {overrides: {hostNetwork: maybe}}"),
        "7:34",
        "expected true or false",
    ),
    bad(
        "override that adds a container",
        spec("pod: {overrides: {containers: [{name: extra}]}}"),
        "7:41",
        "adds none",
        "pod.sidecars or pod.initContainers",
    ),
    bad(
        "affinity misspelt",
        spec("pod: {affinity: {podAntiAfinity: {}}}"),
        "7:20",
        'did you mean "podAntiAffinity"?',
    ),
    bad(
        "security context misspelt",
        spec("pod: {security: {securityContext: {runAsNonRot: true}}}"),
        "7:38",
        'did you mean "runAsNonRoot"?',
    ),
    bad(
        "toleration of another type",
        spec("pod: {tolerations: [{tolerationSeconds: soon}]}"),
        "7:43",
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
