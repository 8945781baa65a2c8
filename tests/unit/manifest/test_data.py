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

VOLUME = "storage: [{name: index, size: 1Gi, mountPath: /data}]"
JOB = f'method: Job, image: "{IMAGE}", command: [save]'

CASES = [
    bad(
        "replacement of a retained claim",
        spec("storage: [{name: a, size: 1Gi, mountPath: /a, allowReplacement: true}]"),
        "7:67",
        "spec.storage[0].allowReplacement: has no effect on a retained claim; add retain: false",
    ),
    bad(
        "backup of nothing",
        spec("backup: {}"),
        "7:3",
        "spec.backup: has no effect without storage; remove it",
    ),
    bad(
        "backup that never happens",
        spec(f"{VOLUME}\nbackup: {{beforeRollout: false}}"),
        "8:3",
        "expected schedule or beforeRollout: without both nothing is saved",
    ),
    bad(
        "time zone without schedule",
        spec(f"{VOLUME}\nbackup: {{timezone: Europe/Berlin}}"),
        "8:22",
        "has no effect without schedule",
    ),
    bad(
        "schedule that is none",
        spec(f"{VOLUME}\nbackup: {{schedule: daily}}"),
        "8:22",
        "spec.backup.schedule",
    ),
    bad(
        "image for snapshots",
        spec(f'{VOLUME}\nbackup: {{image: "{IMAGE}"}}'),
        "8:19",
        "spec.backup.image: has no effect on snapshots; remove it, or use method: Job",
    ),
    bad(
        "job without command",
        spec(f'{VOLUME}\nbackup: {{method: Job, image: "{IMAGE}"}}'),
        "8:3",
        "spec.backup.command: method Job needs this field; add command",
    ),
    bad(
        "job on a volume of one pod",
        spec(
            "storage: [{name: a, size: 1Gi, mountPath: /a, accessModes: [ReadWriteOncePod]}]\n"
            f"backup: {{{JOB}}}"
        ),
        "7:62",
        "mounts the volume beside the agent's pod, got ReadWriteOncePod",
    ),
    bad(
        "kept for no day",
        spec(f"{VOLUME}\nbackup: {{retentionDays: 0}}"),
        "8:27",
        "from 1 to 3650, got the number 0",
    ),
    bad(
        "long name with a backup",
        agent("a" * 46, spec=f"{VOLUME}\nbackup: {{}}"),
        "3:18",
        "an agent with a backup must have a name of at most 45 characters, got 46",
    ),
    bad(
        "restored into nothing",
        spec("restoreFrom: older"),
        "7:16",
        "has no effect without a volume of the agent's own",
    ),
    bad(
        "restored into which",
        spec(
            "storage:\n  - {name: a, size: 1Gi, mountPath: /a}\n"
            "  - {name: b, size: 1Gi, mountPath: /b}\nrestoreFrom: older"
        ),
        "10:16",
        "expected {volume: snapshot}: there are several volumes, got 'older'; say which of a, b",
    ),
    bad(
        "restored into an unknown volume",
        spec(f"{VOLUME}\nrestoreFrom: {{indx: older}}"),
        "8:23",
        "expected the name of a volume of the agent's own, got 'indx' (there: index)",
    ),
    bad(
        "restored by no command",
        spec(f"{VOLUME}\nbackup: {{{JOB}}}\nrestoreFrom: older"),
        "8:3",
        "spec.backup.restoreCommand: restoreFrom needs this field",
    ),
    bad(
        "a job's backup by volume",
        spec(f"{VOLUME}\nbackup: {{{JOB}, restoreCommand: [fill]}}\nrestoreFrom: {{index: older}}"),
        "9:3",
        "expected the id of one backup",
    ),
    bad(
        "memory in no storage",
        spec("memory: {backend: local}"),
        "7:21",
        "keeps the memory in the agent's storage, and there is none",
    ),
    bad(
        "store without a name",
        spec("memory: {backend: redis}"),
        "7:3",
        "backend redis needs storeRef; name an entry of databases[], or a Service",
    ),
    bad(
        "store that is not used",
        spec(f"{VOLUME}\nmemory: {{backend: local, storeRef: redis}}"),
        "8:38",
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
        "8:63",
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
        spec("databases: [{name: a, kind: postgre, host: a.b.svc}]"),
        "7:31",
        'did you mean "postgres"?',
    ),
    bad(
        "database by URL",
        spec('databases: [{name: a, kind: redis, host: "redis://:pw@a"}]'),
        "7:44",
        "give the host alone, without scheme, port and credentials",
    ),
    bad(
        "unknown credentials",
        spec("databases: [{name: a, kind: redis, host: a, secret: db}]"),
        "7:55",
        "expected the name of an entry of secrets[], got 'db' (there: none)",
    ),
    bad(
        "a database twice",
        spec(
            "databases:\n  - {name: a, kind: redis, host: a}\n  - {name: a, kind: mysql, host: b}"
        ),
        "9:14",
        "names in databases must be unique",
    ),
    bad(
        "database outside without a way",
        spec("databases: [{name: a, kind: redis, host: redis.example.com}]"),
        "7:44",
        "expected an egress gateway on stack 'dev' to reach 'redis.example.com'",
    ),
]


@pytest.mark.parametrize("case", CASES)
def test_bad_data_are_refused_at_their_place(tmp_path: Path, case: Bad) -> None:
    assert_refused(tmp_path, case)


NEEDS = [
    pytest.param(
        f"{VOLUME}\nbackup: {{}}", "8:11: spec.backup: needs CSI volume snapshots", id="backup"
    ),
    pytest.param(
        f"{VOLUME}\nrestoreFrom: older",
        "8:16: spec.restoreFrom: needs CSI volume snapshots",
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
