"""Fields that need what a stack does not offer."""

from pathlib import Path

import pytest

from tests.unit.manifest.projects import (
    MANIFEST,
    STACK,
    agent,
    errors_of,
    write,
)

DIGEST = "6" * 64
SCHEDULE = 'start: "0 8 * * *", end: "0 18 * * *", replicas: 4'
NEEDS = [
    pytest.param("pod: {queueName: a}", "spec.pod.queueName needs Kueue", "kueue", id="queue"),
    pytest.param(
        "rollout: {strategy: BlueGreen}", "needs Argo Rollouts", "argo-rollouts", id="blue-green"
    ),
    pytest.param(f"scaling: {{schedules: [{{{SCHEDULE}}}]}}", "needs KEDA", "keda", id="schedule"),
    pytest.param(
        "telemetry: {traces: {inject: operator, endpoint: http://o.m.svc:4317}}",
        "needs OpenTelemetry Operator",
        "opentelemetry-operator",
        id="operator",
    ),
    pytest.param(
        "telemetry: {logs: {shipper: sidecar}, traces: {endpoint: http://o.m.svc:4317}}",
        "spec.telemetry.logs.shipper: needs an image",
        "holdfast:images.logShipper",
        id="shipper",
    ),
    pytest.param(
        f'container: {{lifecycle: {{preStart: [{{fetch: {{uri: "s3://b/w", sha256: "{DIGEST}", '
        "to: /m}}]}}",
        "needs a store for s3://",
        "holdfast:objectStores.s3",
        id="store",
    ),
    pytest.param(
        "secrets: [{name: s, provider: externalSecret, ref: a/b, key: k, env: S}]",
        "spec.secrets[0]: comes from a store that this stack does not name",
        "set holdfast:secretStores.externalSecret",
        id="external secret",
    ),
    pytest.param(
        "secrets: [{name: s, provider: vault, ref: a/b, key: k, mountPath: /s}]",
        "spec.secrets[0]: needs Vault",
        "set holdfast:secretStores.vault",
        id="vault",
    ),
    pytest.param(
        "secrets: [{name: s, provider: awsSecretsManager, ref: a, key: k, env: S}]\npod: {security:"
        ' {serviceAccount: {annotations: {eks.amazonaws.com/role-arn: "arn:aws:iam::1:role/a"}}}}',
        "this stack declares neither",
        "set holdfast:secretStores.aws",
        id="aws",
    ),
    pytest.param(
        "storage: {backup: {}, volumes: [{name: v, size: 1Gi, mountPath: /v}]}",
        "spec.storage.backup: takes snapshots, for which this stack does not say image",
        "holdfast:backups.image",
        id="backup",
    ),
    pytest.param(
        "scaling: {leaderElection: true}",
        "spec.scaling.leaderElection: asks the API server, whose addresses this stack does not",
        "set holdfast:network.apiServer.cidrs",
        id="lease",
    ),
    pytest.param(
        "network: {egress: [{apiServer: true}]}",
        "spec.network.egress[0].apiServer: asks the API server",
        "set holdfast:network.apiServer.cidrs",
        id="API server",
    ),
]


@pytest.mark.parametrize(("text", "words", "remedy"), NEEDS)
def test_what_a_stack_does_not_offer_is_refused_at_the_field_that_needs_it(
    tmp_path: Path, text: str, words: str, remedy: str
) -> None:
    write(tmp_path, MANIFEST, agent(spec=text))
    write(tmp_path, STACK, "config: {}")
    found = [str(error) for error in errors_of(tmp_path, "dev").errors]
    assert any(
        words.replace("spec.pod.queueName ", "spec.pod.queueName: ") in each for each in found
    )
    assert any(remedy in each for each in found)
    assert all(each.startswith(f"{MANIFEST}:7:") for each in found)
