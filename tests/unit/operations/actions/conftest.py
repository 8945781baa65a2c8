"""A project with one stack, `prod`, on a stub of a cluster."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.unit.operations.actions.stub_cluster import (
    StubbedContext,
    StubCluster,
    kubeconfig_for,
    stub_cluster,
)

MANIFEST = f"""\
apiVersion: holdfast.dev/v1alpha1
kind: Agent
metadata: {{name: mover, namespace: cx}}
spec:
  version: 1.0.0
  owner: customer-care
  image: registry.example/any@sha256:{"a" * 64}
  storage: {{volumes: [{{name: data, size: 1Gi, mountPath: /data}}]}}
"""
STACK = """\
config:
  holdfast:cluster: {context: test, identifier: test}
  holdfast:controllers: [volume-snapshots]
"""


@pytest.fixture
def cluster() -> Iterator[StubCluster]:
    """An API server without objects."""
    with stub_cluster() as running:
        yield running


@pytest.fixture
def context(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, cluster: StubCluster
) -> StubbedContext:
    """The stack; its state, its lock and its history lie in the test's folder."""
    for folder in ("agents", "stacks", "state"):
        (tmp_path / folder).mkdir()
    backend = f"backend: {{url: 'file://{tmp_path}/state'}}\n"
    (tmp_path / "Pulumi.yaml").write_text(f"name: test\nruntime: python\n{backend}")
    (tmp_path / "agents" / "mover.yaml").write_text(MANIFEST)
    (tmp_path / "stacks" / "Pulumi.prod.yaml").write_text(STACK)
    (tmp_path / "kubeconfig").write_text(kubeconfig_for(cluster))
    monkeypatch.setenv("KUBECONFIG", str(tmp_path / "kubeconfig"))
    monkeypatch.setenv("HOLDFAST_STATE", str(tmp_path / "kept"))
    monkeypatch.delenv("PULUMI_BACKEND_URL", raising=False)
    return StubbedContext(tmp_path, "prod")
