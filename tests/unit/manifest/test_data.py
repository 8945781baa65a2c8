"""Bad volumes, backups, memories and databases are refused at their place."""

from pathlib import Path

import pytest

from tests.unit.manifest.projects import (
    IMAGE,
    MANIFEST,
    STACK,
    Bad,
    agent,
    assert_refused,
    bad,
    errors_of,
    spec,
    write,
)

VOLUME = "storage:\n  volumes: [{name: index, size: 1Gi, mountPath: /data}]"
JOB = f'method: Job, image: "{IMAGE}", command: [save]'

CASES = [
    bad(
        "replacement of a retained claim",
        spec("storage: {volumes: [{name: a, size: 1Gi, mountPath: /a, allowReplacement: true}]}"),
        "7:77",
        "spec.storage.volumes[0].allowReplacement: has no effect on a retained claim; add "
        "retain: false",
    ),
    bad(
        "backup of nothing",
        spec("storage: {backup: {}}"),
        "7:13",
        "spec.storage.backup: has no effect without volumes; remove it",
    ),
    bad(
        "backup that never happens",
        spec(f"{VOLUME}\n  backup: {{beforeRollout: false}}"),
        "9:5",
        "expected schedule or beforeRollout: without both nothing is saved",
    ),
    bad(
        "time zone without schedule",
        spec(f"{VOLUME}\n  backup: {{timezone: Europe/Berlin}}"),
        "9:24",
        "has no effect without schedule",
    ),
    bad(
        "schedule that is none",
        spec(f"{VOLUME}\n  backup: {{schedule: daily}}"),
        "9:24",
        "spec.storage.backup.schedule",
    ),
    bad(
        "image for snapshots",
        spec(f'{VOLUME}\n  backup: {{image: "{IMAGE}"}}'),
        "9:21",
        "spec.storage.backup.image: has no effect on snapshots; remove it, or use method: Job",
    ),
    bad(
        "job without command",
        spec(f'{VOLUME}\n  backup: {{method: Job, image: "{IMAGE}"}}'),
        "9:5",
        "spec.storage.backup.command: method Job needs this field; add command",
    ),
    bad(
        "job on a volume of one pod",
        spec(
            "storage:\n"
            "  volumes: [{name: a, size: 1Gi, mountPath: /a, accessModes: [ReadWriteOncePod]}]\n"
            f"  backup: {{{JOB}}}"
        ),
        "8:64",
        "mounts the volume beside the agent's pod, got ReadWriteOncePod",
    ),
    bad(
        "kept for no day",
        spec(f"{VOLUME}\n  backup: {{retentionDays: 0}}"),
        "9:29",
        "from 1 to 3650, got the number 0",
    ),
    bad(
        "long name with a backup",
        agent("a" * 46, spec=f"{VOLUME}\n  backup: {{}}"),
        "3:18",
        "an agent with a backup must have a name of at most 45 characters, got 46",
    ),
    bad(
        "restored into nothing",
        spec("storage: {restoreFrom: older}"),
        "7:26",
        "has no effect without a volume of the agent's own",
    ),
    bad(
        "restored into which",
        spec(
            "storage:\n  volumes:\n    - {name: a, size: 1Gi, mountPath: /a}\n"
            "    - {name: b, size: 1Gi, mountPath: /b}\n  restoreFrom: older"
        ),
        "11:18",
        "expected {volume: snapshot}: there are several volumes, got 'older'; say which of a, b",
    ),
    bad(
        "restored into an unknown volume",
        spec(f"{VOLUME}\n  restoreFrom: {{indx: older}}"),
        "9:25",
        "expected the name of a volume of the agent's own, got 'indx' (there: index)",
    ),
    bad(
        "restored by no command",
        spec(f"{VOLUME}\n  backup: {{{JOB}}}\n  restoreFrom: older"),
        "9:5",
        "spec.storage.backup.restoreCommand: restoreFrom needs this field",
    ),
    bad(
        "a job's backup by volume",
        spec(
            f"{VOLUME}\n  backup: {{{JOB}, restoreCommand: [fill]}}\n"
            f"  restoreFrom: {{index: older}}"
        ),
        "10:5",
        "expected the id of one backup",
    ),
    bad(
        "memory in no storage",
        spec("memory: {backend: local}"),
        "7:21",
        "keeps the memory in the agent's volumes, and there are none",
    ),
    bad(
        "store without a name",
        spec("memory: {backend: redis}"),
        "7:3",
        "this backend needs storeRef, got backend redis; name an entry of databases[]",
    ),
    bad(
        "store that is not used",
        spec(f"{VOLUME}\nmemory: {{backend: local, storeRef: redis}}"),
        "9:38",
        "has no effect on this backend, got backend local",
    ),
    bad(
        "vectors in no vector store",
        spec("memory: {backend: redis, storeRef: redis, embeddingModelRef: small}"),
        "7:64",
        "spec.memory.embeddingModelRef: has no effect on this backend, got backend redis",
    ),
    bad(
        "memory of nothing",
        spec("memory: {ttlDays: 3}"),
        "7:3",
        "has no effect without a backend; choose one",
    ),
    bad(
        "overlap as long as the interval",
        spec(f"{VOLUME}\nmemory: {{backend: local, compaction: {{interval: 3, overlap: 3}}}}"),
        "9:63",
        "overlap must be below interval, got overlap 3, interval 3",
    ),
    bad(
        "unknown embedding model",
        spec("memory: {backend: vector, storeRef: qdrant, embeddingModelRef: small}"),
        "7:66",
        "spec.memory.embeddingModelRef",
        "a ModelConfig",
    ),
    bad(
        "unknown kind of database",
        spec("storage: {databases: [{name: a, kind: postgre, host: a.b.svc}]}"),
        "7:41",
        'did you mean "postgres"?',
    ),
    bad(
        "database by URL",
        spec('storage: {databases: [{name: a, kind: redis, host: "redis://:pw@a"}]}'),
        "7:54",
        "give the host alone, without scheme, port and credentials",
    ),
    bad(
        "unknown credentials",
        spec("storage: {databases: [{name: a, kind: redis, host: a, secret: db}]}"),
        "7:65",
        "expected the name of an entry of secrets[], got 'db' (there: none)",
    ),
    bad(
        "a database twice",
        spec(
            "storage:\n  databases:\n    - {name: a, kind: redis, host: a}\n"
            "    - {name: a, kind: mysql, host: b}"
        ),
        "10:16",
        "names in storage.databases must be unique",
    ),
    bad(
        "database outside without a way",
        spec("storage: {databases: [{name: a, kind: redis, host: redis.example.com}]}"),
        "7:54",
        "expected an egress gateway on stack 'dev' to reach 'redis.example.com'",
    ),
]


@pytest.mark.parametrize("case", CASES)
def test_bad_data_are_refused_at_their_place(tmp_path: Path, case: Bad) -> None:
    assert_refused(tmp_path, case)


NEEDS = [
    pytest.param(
        f"{VOLUME}\n  backup: {{}}",
        "9:13: spec.storage.backup: needs CSI volume snapshots",
        id="backup",
    ),
    pytest.param(
        f"{VOLUME}\n  restoreFrom: older",
        "9:18: spec.storage.restoreFrom: needs CSI volume snapshots",
        id="restore",
    ),
    pytest.param(
        "secrets: [{name: a, provider: externalSecret, ref: a, mountPath: /a}]",
        "7:13: spec.secrets[0]: needs External Secrets Operator",
        id="external secret",
    ),
    pytest.param(
        "secrets: [{name: a, provider: vault, ref: a, key: b, mountPath: /a}]",
        "7:13: spec.secrets[0]: needs Vault Agent Injector",
        id="vault",
    ),
    pytest.param(
        "telemetry: {metrics: {}, slo: {availability: 99}}",
        "7:33: spec.telemetry.slo: needs Prometheus Operator",
        id="objectives",
    ),
]


@pytest.mark.parametrize(("fields", "words"), NEEDS)
def test_what_needs_a_controller_that_the_stack_lacks_is_refused_at_its_place(
    tmp_path: Path, fields: str, words: str
) -> None:
    write(tmp_path, MANIFEST, spec(fields))
    write(tmp_path, STACK, "config: {}")
    (error, *_) = errors_of(tmp_path, "dev").errors  # settings beside it may be missing, too
    assert f"agents/triage.yaml:{words}" in str(error)
    assert "to holdfast:controllers in the stack file" in str(error)
