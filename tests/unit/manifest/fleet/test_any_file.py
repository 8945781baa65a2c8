"""Whatever stands in a file: a valid fleet, or errors with their place; never anything else."""

import json
import string
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import pytest
from holdfast.errors import InvalidFilesError
from holdfast.kube.text import yaml_document
from holdfast.manifest.fleet.fleet import Fleet
from holdfast.manifest.fleet.loader import load_fleet
from hypothesis import example, given
from hypothesis import strategies as st

from tests.unit.manifest.projects import IMAGE, MANIFEST, STACK, agent, write

FULL = agent(
    spec="""
    owner: sre
    container:
      env:
        - {name: MODE, value: plain}
        - {name: NODE, valueFrom: {fieldRef: {fieldPath: spec.nodeName}}}
      resources: {limits: {cpu: "1", memory: 1Gi}}
    model: {provider: Anthropic, name: claude, apiKey: key, parameters: {temperature: 0.5}}
    secrets: [{name: key, ref: llm, key: token, mountPath: /secrets}]
    prompt: {systemMessage: "be kind"}
    scaling: {minReplicas: 1, maxReplicas: 3, metrics: [{type: Resource, name: cpu, target: 70}]}
    network: {ingressFrom: [{namespace: ops}], egress: [{host: api.example.com}]}
    storage: {volumes: [{name: data, size: 1Gi, accessModes: [ReadWriteMany], mountPath: /data}]}
    """
)
SETTINGS = """\
config:
  holdfast:namespace: agents
  holdfast:cluster: {clientQps: 100}
  holdfast:agents:
    triage: {container: {env: [{name: MODE, value: null}]}, scaling: {maxReplicas: 5}}
"""


def load(files: dict[str, bytes]) -> Fleet | None:
    """The fleet of these files, or nothing when they are refused with a place."""
    with TemporaryDirectory() as folder:
        for file, content in files.items():
            write(Path(folder), file, content)
        try:
            return load_fleet(Path(folder), "dev")
        except InvalidFilesError as invalid:
            faults = invalid.errors
    assert faults
    assert all(fault.location.file and str(fault) for fault in faults)
    return None


PIECES = [b"", b"\n", b"\t", b": ", b"- ", b"null", b"NO", b"{", b"[", b"*a", b"\0", b"1", b'"']


@st.composite
def damaged(draw: st.DrawFn, text: str) -> bytes:
    """A text with a few pieces cut out, doubled or replaced."""
    content = text.encode()
    for _ in range(draw(st.integers(1, 4))):
        start = draw(st.integers(0, len(content)))
        end = draw(st.integers(start, min(start + 20, len(content))))
        piece = draw(
            st.sampled_from(
                [b"", b"\n", b"\t", b": ", b"- ", b"null", b"NO", b"{", b"[", b"*a", b"\0"]
            )
            | st.binary(max_size=4)
            | st.just(content[start:end] * 2)
        )
        content = content[:start] + piece + content[end:]
    return content


@given(st.binary(max_size=200) | damaged(FULL))
@example(b"apiVersion: holdfast.dev/v1alpha1\nkind: [Agent]\n")
@example(b"apiVersion: holdfast.dev/v1alpha1\nkind: Agent\nmetadata: {name: {a: b}}\nspec: 3\n")
def test_any_manifest_is_a_fleet_or_errors_with_their_place(content: bytes) -> None:
    load({MANIFEST: content, STACK: SETTINGS.encode()})


@given(st.binary(max_size=200) | damaged(SETTINGS))
@example(b"config: {holdfast:agents: {triage: 3}}")
@example(b"config: {holdfast:agents: {triage: {env: 3, scaling: {a: {}}, prompt: []}}}")
def test_any_stack_file_is_a_fleet_or_errors_with_their_place(content: bytes) -> None:
    load({MANIFEST: FULL.encode(), STACK: content})


LABEL = st.text(string.ascii_lowercase, min_size=1, max_size=8)
PRINTABLE = st.text(st.characters(exclude_categories=["Cs", "Cc"]), max_size=30)


@st.composite
def manifests(draw: st.DrawFn) -> dict[str, Any]:
    """Valid manifests, as plain data."""
    names = draw(st.lists(LABEL, unique=True, max_size=4))
    requested = draw(st.integers(1, 500))
    spec: dict[str, Any] = {
        "version": f"{draw(st.integers(0, 99))}.0.0",
        "image": IMAGE,
        "container": {
            "args": draw(st.lists(PRINTABLE, max_size=3)),
            "env": [{"name": name.upper(), "value": draw(PRINTABLE)} for name in names],
            "resources": {"requests": {"cpu": f"{requested}m"}, "limits": {"cpu": f"{requested}m"}},
        },
        "config": [{"name": "files", "mountPath": "/files", "data": {"a": draw(PRINTABLE)}}],
        "scaling": {"replicas": draw(st.integers(0, 1000))},
        "telemetry": {"traces": {"sampling": draw(st.integers(0, 100)) / 100}},
        "pod": {"security": {"readOnlyRootFilesystem": draw(st.booleans())}},
        "network": {"ingressFrom": [{"namespace": name} for name in names]},
    }
    metadata = {"name": draw(LABEL), "labels": dict.fromkeys(names, "x")}
    return {
        "apiVersion": "holdfast.dev/v1alpha1",
        "kind": "Agent",
        "metadata": metadata,
        "spec": draw(st.permutations(list(spec.items())).map(dict)),
    }


@given(manifests())
def test_yaml_and_json_of_a_valid_manifest_load_to_equal_agents(manifest: dict[str, Any]) -> None:
    stack = b"config: {holdfast:policy: {profile: dev}}"
    from_yaml = load({"agents/a.yaml": yaml_document(manifest).encode(), STACK: stack})
    from_json = load({"agents/a.json": json.dumps(manifest).encode(), STACK: stack})
    assert from_yaml is not None
    assert from_json is not None
    assert from_yaml.agents[0].agent == from_json.agents[0].agent


@pytest.mark.parametrize(
    "change", [{}, {"owner": "ops"}, {"container": {"env": [{"name": "A", "value": "b"}]}}]
)
def test_the_untouched_example_of_these_tests_is_valid(change: dict[str, Any]) -> None:
    settings = {
        "config": {
            "holdfast:policy": {"profile": "dev"},
            "holdfast:agents": {"triage": change},
            "holdfast:network": {
                "egressGateway": {
                    "namespace": "egress",
                    "podLabels": {"app": "proxy"},
                    "port": 3128,
                    "url": "http://proxy.egress.svc:3128",
                }
            },
        }
    }
    assert load({MANIFEST: FULL.encode(), STACK: json.dumps(settings).encode()}) is not None
