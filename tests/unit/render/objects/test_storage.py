"""Volumes, their backups, what fills them, and the stores that an agent talks to."""

import json
from dataclasses import replace
from typing import Any

import pytest
from holdfast.errors import RenderError
from holdfast.render.plan.render_agent import render_agent
from holdfast.render.pod.container import TEMPORARY_MOUNT

from tests.unit.render.rendering import (
    IMAGE,
    container,
    env,
    named,
    plan,
    pod_template,
    render,
    roles,
)

VOLUME = {"name": "index", "size": "20Gi", "mountPath": "/data"}
TOOLS = "registry.example/tools@sha256:" + "3" * 64
SNAPSHOTS = {
    "controllers": ["volume-snapshots"],
    "backups": {"image": TOOLS, "snapshotClassName": "fast-snapshots"},
    "network": {"apiServer": {"cidrs": ["10.0.0.10/32"]}},
}
JOB = {
    "method": "Job",
    "schedule": "0 3 * * *",
    "timezone": "Europe/Berlin",
    "retentionDays": 14,
    "image": IMAGE,
    "command": ["save"],
    "restoreCommand": ["fill"],
    "env": [{"name": "BUCKET", "value": "backups"}],
}


def agent(**storage: Any) -> dict[str, Any]:
    return {"storage": {"volumes": [VOLUME], **storage}}


def test_a_claim_says_what_was_declared_and_is_protected() -> None:
    volume = VOLUME | {"storageClassName": "fast-shared", "accessModes": ["ReadWriteMany"]}
    (item,) = [
        each for each in render({"storage": {"volumes": [volume]}}) if each.role == "claim-index"
    ]
    assert (item.is_protected, item.is_retained) == (True, True)
    assert item.manifest["spec"] == {
        "accessModes": ["ReadWriteMany"],
        "resources": {"requests": {"storage": "20Gi"}},
        "storageClassName": "fast-shared",
    }


def test_a_claim_that_need_not_be_kept_is_neither_protected_nor_retained() -> None:
    (item,) = [
        each
        for each in render({"storage": {"volumes": [VOLUME | {"retain": False}]}})
        if each.role == "claim-index"
    ]
    assert (item.is_protected, item.is_retained) == (False, False)


def test_a_snapshot_fills_a_new_claim() -> None:
    rendered = render(agent(restoreFrom="support-index-20261120030000"), SNAPSHOTS)
    assert named(rendered, "claim-index")["spec"]["dataSource"] == {
        "apiGroup": "snapshot.storage.k8s.io",
        "kind": "VolumeSnapshot",
        "name": "support-index-20261120030000",
    }


def test_each_volume_may_come_from_a_snapshot_of_its_own() -> None:
    volumes = [VOLUME, {"name": "cache", "size": "1Gi", "mountPath": "/cache"}]
    rendered = render(
        {"storage": {"volumes": volumes, "restoreFrom": {"cache": "older"}}}, SNAPSHOTS
    )
    assert named(rendered, "claim-cache")["spec"]["dataSource"]["name"] == "older"
    assert "dataSource" not in named(rendered, "claim-index")["spec"]


def test_a_restore_needs_volume_snapshots() -> None:
    with pytest.raises(RenderError, match=r"spec\.storage\.restoreFrom needs CSI volume snapshots"):
        render(agent(restoreFrom="older"))


def test_snapshots_are_taken_by_an_account_with_just_these_rights() -> None:
    rendered = render(agent(backup={"schedule": "0 3 * * *"}), SNAPSHOTS)
    schedule = named(rendered, "backup-schedule")
    assert (schedule["kind"], schedule["metadata"]["name"]) == ("CronJob", "support-backup")
    assert schedule["spec"]["schedule"] == "0 3 * * *"
    assert schedule["spec"]["timeZone"] == "UTC"
    assert schedule["spec"]["concurrencyPolicy"] == "Forbid"
    pod = schedule["spec"]["jobTemplate"]["spec"]["template"]["spec"]
    assert pod["serviceAccountName"] == "support-backup"
    assert pod["automountServiceAccountToken"] is False
    assert pod["containers"][0]["image"] == TOOLS
    volumes = {each["name"]: each for each in pod["volumes"]}
    token, authority = volumes["account"]["projected"]["sources"]
    assert token["serviceAccountToken"] == {"path": "token", "expirationSeconds": 3600}
    assert authority["configMap"]["name"] == "kube-root-ca.crt"
    assert named(rendered, "backup-role")["rules"] == [
        {
            "apiGroups": ["snapshot.storage.k8s.io"],
            "resources": ["volumesnapshots"],
            "verbs": ["create", "get", "list", "deletecollection"],
        },
        {
            "apiGroups": [""],
            "resources": ["persistentvolumeclaims"],
            "resourceNames": ["support-index"],
            "verbs": ["get"],
        },
    ]


def test_the_snapshot_script_names_claims_class_and_days() -> None:
    rendered = render(agent(backup={"retentionDays": 30}), SNAPSHOTS)
    job = named(rendered, "backup-before-rollout")
    shell, flags, script = job["spec"]["template"]["spec"]["containers"][0]["command"]
    assert (shell, flags) == ("/bin/sh", "-ec")
    assert "for claim in support-index; do" in script
    assert '"volumeSnapshotClassName": "fast-snapshots", ' in script
    assert '[ "$age" -lt 30 ]' in script


def test_backups_reach_the_api_server_and_nothing_else() -> None:
    rendered = render(agent(backup={}), SNAPSHOTS)
    policy = named(rendered, "backup-networkpolicy")["spec"]
    assert policy["podSelector"]["matchLabels"] == {
        "app.kubernetes.io/name": "support-backup",
        "app.kubernetes.io/instance": "dev",
    }
    dns, server = policy["egress"]
    assert {port["port"] for port in dns["ports"]} == {53}
    assert server == {
        "to": [{"ipBlock": {"cidr": "10.0.0.10/32"}}],
        "ports": [{"port": 6443, "protocol": "TCP"}],
    }
    assert "ingress" not in policy


def test_the_pods_of_a_backup_are_not_behind_the_service() -> None:
    rendered = render(agent(backup={}), SNAPSHOTS)
    selector = named(rendered, "service")["spec"]["selector"]
    template = named(rendered, "backup-before-rollout")["spec"]["template"]
    assert not selector.items() <= template["metadata"]["labels"].items()


def test_the_agents_network_rules_are_not_those_of_its_backups() -> None:
    rendered = render(agent(backup={}), SNAPSHOTS)
    labels = named(rendered, "backup-before-rollout")["spec"]["template"]["metadata"]["labels"]
    assert labels["holdfast.dev/backup-of"] == "support"
    own, backup = (
        named(rendered, role)["spec"]["podSelector"]["matchLabels"]
        for role in ("networkpolicy", "backup-networkpolicy")
    )
    assert not own.items() <= labels.items()
    assert backup.items() <= labels.items()


def test_a_changed_workload_is_another_job_which_stands_before_it() -> None:
    before, same, after = (
        render(agent(backup={}) | {"container": {"args": args}}, SNAPSHOTS)
        for args in ([], [], ["--fast"])
    )
    names = [
        named(each, "backup-before-rollout")["metadata"]["name"] for each in (before, same, after)
    ]
    assert names[0] == names[1] != names[2]
    assert all(name.startswith("support-backup-") and len(name) <= 63 for name in names)
    order = [item.role for item in before]
    assert order.index("claim-index") < order.index("backup-before-rollout")
    assert order.index("backup-before-rollout") < order.index("deployment")


def test_only_what_was_asked_for_is_made() -> None:
    scheduled = roles(
        render(agent(backup={"schedule": "0 3 * * *", "beforeRollout": False}), SNAPSHOTS)
    )
    assert "backup-schedule" in scheduled
    assert "backup-before-rollout" not in scheduled
    assert "backup-schedule" not in roles(render(agent(backup={}), SNAPSHOTS))
    assert not {role for role in roles(render(agent())) if role.startswith("backup")}


def test_a_container_of_ones_own_mounts_the_volumes_read_only_beside_the_agent() -> None:
    rendered = render(agent(backup=JOB))
    spec = named(rendered, "backup-schedule")["spec"]
    assert spec["timeZone"] == "Europe/Berlin"
    pod = spec["jobTemplate"]["spec"]["template"]["spec"]
    (saving,) = pod["containers"]
    assert (saving["image"], saving["command"]) == (IMAGE, ["save"])
    assert {each["name"]: each["value"] for each in saving["env"]} == {
        "BACKUP_AGENT": "support",
        "BACKUP_FOLDERS": "/data",
        "BACKUP_RETENTION_DAYS": "14",
        "BUCKET": "backups",
    }
    assert saving["volumeMounts"] == [
        TEMPORARY_MOUNT,
        {"name": "storage-index", "mountPath": "/data", "readOnly": True},
    ]
    assert saving["terminationMessagePolicy"] == "FallbackToLogsOnError"
    temporary, index = pod["volumes"]
    assert temporary == {"name": "tmp", "emptyDir": {"sizeLimit": "1Gi"}}
    assert index["persistentVolumeClaim"] == {"claimName": "support-index"}
    assert pod["serviceAccountName"] == "support"
    (term,) = pod["affinity"]["podAffinity"]["preferredDuringSchedulingIgnoredDuringExecution"]
    assert term["podAffinityTerm"]["topologyKey"] == "kubernetes.io/hostname"
    assert not {"backup-role", "backup-account"} & roles(rendered)


def test_a_backup_of_ones_own_fills_new_volumes_once() -> None:
    rendered = render(agent(backup=JOB, restoreFrom="nightly-7"))
    (restore,) = pod_template(rendered)["spec"]["initContainers"]
    assert restore["command"][:2] == ["/bin/sh", "-ec"]
    assert restore["command"][3:] == ["restore", "fill"]
    assert {each["name"]: each["value"] for each in restore["env"]} == {
        "BUCKET": "backups",
        "RESTORE_FOLDERS": "/data",
        "RESTORE_FROM": "nightly-7",
    }
    assert restore["volumeMounts"] == [
        {"name": "storage-index", "mountPath": "/data"},
        TEMPORARY_MOUNT,
    ]
    assert "dataSource" not in named(rendered, "claim-index")["spec"]


@pytest.mark.parametrize(
    ("environment", "words"),
    [
        pytest.param({}, "spec.storage.backup needs CSI volume snapshots", id="controller"),
        pytest.param(
            {"controllers": ["volume-snapshots"]},
            "set holdfast:backups.image",
            id="image",
        ),
        pytest.param(
            {"controllers": ["volume-snapshots"], "backups": {"image": IMAGE}},
            "set holdfast:network.apiServer.cidrs",
            id="API server",
        ),
    ],
)
def test_snapshots_that_the_stack_does_not_offer_are_refused(
    environment: dict[str, Any], words: str
) -> None:
    with pytest.raises(RenderError) as refused:
        render(agent(backup={}), environment)
    assert words in str(refused.value)


def test_a_database_is_named_by_variables_and_its_egress_is_open() -> None:
    spec = {
        "storage": {
            "databases": [
                {
                    "name": "main-db",
                    "kind": "postgres",
                    "host": "postgres.data.svc",
                    "secret": "db",
                },
                {
                    "name": "cache",
                    "kind": "redis",
                    "host": "cache",
                    "port": 6380,
                    "secret": "cache",
                },
            ]
        },
        "secrets": [
            {"name": "db", "ref": "db", "key": "password", "mountPath": "/secrets/db"},
            {"name": "cache", "ref": "cache", "key": "password", "env": "CACHE_PASSWORD"},
        ],
    }
    rendered = render(spec)
    variables = env(rendered)
    assert variables["MAIN_DB_HOST"] == "postgres.data.svc"
    assert variables["MAIN_DB_PORT"] == "5432"
    assert variables["MAIN_DB_CREDENTIALS_FILE"] == "/secrets/db/password"
    assert variables["CACHE_PORT"] == "6380"
    assert variables["CACHE_CREDENTIALS_ENV"] == "CACHE_PASSWORD"
    assert variables["CACHE_PASSWORD"] == {"secretKeyRef": {"name": "cache", "key": "password"}}
    opened = {
        (rule["to"][0]["namespaceSelector"]["matchLabels"]["kubernetes.io/metadata.name"], port)
        for rule in named(rendered, "networkpolicy")["spec"]["egress"]
        for port in (each["port"] for each in rule["ports"])
    }
    assert {("data", 5432), ("cx", 6380)} <= opened
    settings = json.loads(named(rendered, "config")["data"]["agent.json"])
    assert settings["databases"][0] == {
        "name": "main-db",
        "kind": "postgres",
        "host": "postgres.data.svc",
        "port": 5432,
    }


def test_memory_in_a_store_names_the_store_and_opens_it() -> None:
    memory = {
        "backend": "vector",
        "storeRef": {"namespace": "data", "name": "qdrant"},
        "ttlDays": 30,
        "contextLimit": 12,
        "compaction": {"interval": 8, "overlap": 3, "tokenThreshold": 9000},
    }
    rendered = render({"memory": memory})
    assert env(rendered)["MEMORY_STORE_HOST"] == "qdrant.data.svc"
    assert env(rendered)["MEMORY_STORE_PORT"] == "6333"
    assert json.loads(named(rendered, "config")["data"]["agent.json"])["memory"] == {
        "backend": "vector",
        "ttlDays": 30,
        "contextLimit": 12,
        "compaction": {"interval": 8, "overlap": 3, "tokenThreshold": 9000},
        "store": {"host": "qdrant.data.svc", "port": 6333},
    }
    ports = [
        rule["ports"][0]["port"] for rule in named(rendered, "networkpolicy")["spec"]["egress"]
    ]
    assert 6333 in ports


def test_memory_may_live_in_a_declared_database() -> None:
    rendered = render(
        {
            "memory": {"backend": "redis", "storeRef": "sessions"},
            "storage": {
                "databases": [{"name": "sessions", "kind": "redis", "host": "redis.data.svc"}]
            },
        }
    )
    assert env(rendered)["MEMORY_STORE_HOST"] == "redis.data.svc"


def test_memory_in_the_agents_own_storage_has_no_store() -> None:
    rendered = render(agent() | {"memory": {"backend": "local"}})
    assert "MEMORY_STORE_HOST" not in env(rendered)
    assert json.loads(named(rendered, "config")["data"]["agent.json"])["memory"] == {
        "backend": "local",
        "ttlDays": 15,
        "contextLimit": 6,
    }
    assert container(rendered)["volumeMounts"][-2]["mountPath"] == "/data"


def test_what_the_pods_mount_of_others_does_not_name_the_job() -> None:
    agent_plan = plan(agent(backup=JOB))
    mounted = replace(agent_plan, mounted_hash="0123456789abcdef")
    names = [
        named(render_agent(each), "backup-before-rollout")["metadata"]["name"]
        for each in (agent_plan, mounted)
    ]
    assert names[0] == names[1]
