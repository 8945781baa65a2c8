"""The definitions of other projects, in a real API server."""

import pytest
from holdfast.manifest.stack.controllers import CONTROLLERS

from tests.e2e.live_sandbox import Kubectl, LiveSandbox

pytestmark = pytest.mark.e2e

KINDS = {
    "agents.x-k8s.io/v1beta1": {"Sandbox"},
    "extensions.agents.x-k8s.io/v1beta1": {"SandboxClaim", "SandboxTemplate", "SandboxWarmPool"},
    "argoproj.io/v1alpha1": {"Rollout", "AnalysisTemplate", "AnalysisRun", "Experiment"},
    "cilium.io/v2": {"CiliumNetworkPolicy"},
    "external-secrets.io/v1": {"ExternalSecret", "SecretStore", "ClusterSecretStore"},
    "gateway.networking.k8s.io/v1": {"Gateway", "HTTPRoute"},
    "keda.sh/v1alpha1": {"ScaledObject", "ScaledJob"},
    "kueue.x-k8s.io/v1beta2": {"ClusterQueue", "LocalQueue", "ResourceFlavor"},
    "monitoring.coreos.com/v1": {"PodMonitor", "PrometheusRule", "ServiceMonitor"},
    "opentelemetry.io/v1alpha1": {"Instrumentation"},
    "secrets-store.csi.x-k8s.io/v1": {"SecretProviderClass"},
    "snapshot.storage.k8s.io/v1": {"VolumeSnapshot", "VolumeSnapshotClass"},
}


def test_every_kind_that_holdfast_renders_is_served(
    defined_sandbox: LiveSandbox, kubectl: Kubectl
) -> None:
    del defined_sandbox
    for api_version, kinds in KINDS.items():
        listed = kubectl.raw(f"/apis/{api_version}")
        assert kinds <= {resource["kind"] for resource in listed["resources"]}, api_version
    groups = {group for each in CONTROLLERS.values() for group in each.groups}
    assert groups == {api_version.partition("/")[0] for api_version in KINDS}


def test_a_running_sandbox_takes_definitions_again_without_change(
    defined_sandbox: LiveSandbox, kubectl: Kubectl
) -> None:
    name = "scaledobjects.keda.sh"
    before = kubectl.get("crd", name)["metadata"]["resourceVersion"]
    done = defined_sandbox.run("up", "--with", "keda")
    assert done.returncode == 0, done.stderr
    assert "already running" in done.stderr
    assert "4 definitions of keda" in done.stderr
    assert kubectl.get("crd", name)["metadata"]["resourceVersion"] == before
