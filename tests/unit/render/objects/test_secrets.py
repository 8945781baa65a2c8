"""Secrets by reference: each provider renders what its documentation asks for, and no value."""

import json
from typing import Any

import pytest
from holdfast.errors import RenderError
from holdfast.manifest.types.marks import MOUNTED_HASH
from holdfast.render.plan.render_agent import render_agent
from holdfast.render.pod.external_content import mounted_contents, mounted_hash

from tests.unit.render.rendering import (
    container,
    env,
    named,
    plan,
    pod_template,
    render,
    roles,
)

ROLE = {"eks.amazonaws.com/role-arn": "arn:aws:iam::111122223333:role/support"}
EXTERNAL = {
    "controllers": ["external-secrets"],
    "secretStores": {"externalSecret": {"name": "company"}, "aws": {"region": "eu-west-1"}},
}
CSI = {
    "controllers": ["secrets-store-csi"],
    "secretStores": {"aws": {"region": "eu-west-1"}},
}
VAULT = {
    "controllers": ["vault-injector"],
    "secretStores": {
        "vault": {"address": "https://vault.vault.svc:8200", "role": "agents", "authPath": "auth/k"}
    },
}


def one(provider: str, **fields: Any) -> dict[str, Any]:
    return {"secrets": [{"name": "llm", "provider": provider, "ref": "prod/llm", **fields}]}


def aws(**fields: Any) -> dict[str, Any]:
    account = {"serviceAccount": {"annotations": ROLE}}
    return one("awsSecretsManager", **fields) | {"pod": {"security": account}}


def volume(rendered: Any, name: str) -> dict[str, Any]:
    found = [each for each in pod_template(rendered)["spec"]["volumes"] if each["name"] == name]
    assert len(found) == 1
    result: dict[str, Any] = found[0]
    return result


def test_a_secret_of_the_cluster_needs_nothing_but_a_reference() -> None:
    spec = {
        "secrets": [
            {"name": "key", "ref": "llm", "key": "token", "env": "LLM_KEY"},
            {"name": "files", "ref": "certificates", "mountPath": "/certificates"},
        ]
    }
    rendered = render(spec)
    assert env(rendered)["LLM_KEY"] == {"secretKeyRef": {"name": "llm", "key": "token"}}
    assert volume(rendered, "secret-files")["secret"] == {"secretName": "certificates"}
    assert not {role for role in roles(rendered) if "secret" in role}


def test_an_external_secret_is_fetched_from_the_stacks_store() -> None:
    spec = one("externalSecret", key="token", env="LLM_KEY", refreshInterval="15m")
    rendered = render(spec, EXTERNAL)
    external = named(rendered, "externalsecret-llm")
    assert (external["apiVersion"], external["kind"]) == (
        "external-secrets.io/v1",
        "ExternalSecret",
    )
    assert external["spec"] == {
        "refreshInterval": "15m",
        "secretStoreRef": {"name": "company", "kind": "ClusterSecretStore"},
        "target": {
            "name": "support-llm",
            "creationPolicy": "Owner",
            "deletionPolicy": "Retain",
        },
        "data": [{"secretKey": "token", "remoteRef": {"key": "prod/llm", "property": "token"}}],
    }
    assert env(rendered)["LLM_KEY"] == {"secretKeyRef": {"name": "support-llm", "key": "token"}}


def test_an_external_secret_without_key_is_taken_whole() -> None:
    rendered = render(one("externalSecret", mountPath="/llm", refreshInterval="2d"), EXTERNAL)
    spec = named(rendered, "externalsecret-llm")["spec"]
    assert spec["dataFrom"] == [{"extract": {"key": "prod/llm"}}]
    assert spec["refreshInterval"] == "48h"
    assert volume(rendered, "secret-llm")["secret"] == {"secretName": "support-llm"}


def test_secrets_of_aws_come_by_external_secrets_with_the_role_of_the_account() -> None:
    rendered = render(aws(key="token", env="LLM_KEY"), EXTERNAL)
    provider = named(rendered, "secretstore-aws")["spec"]["provider"]["aws"]
    assert provider == {
        "service": "SecretsManager",
        "region": "eu-west-1",
        "auth": {"jwt": {"serviceAccountRef": {"name": "support"}}},
    }
    assert named(rendered, "externalsecret-llm")["spec"]["secretStoreRef"] == {
        "name": "support-aws",
        "kind": "SecretStore",
    }
    assert named(rendered, "serviceaccount")["metadata"]["annotations"].items() >= ROLE.items()


def test_several_secrets_of_aws_share_one_store() -> None:
    spec = aws(key="token", env="LLM_KEY")
    spec["secrets"].append(spec["secrets"][0] | {"name": "crm", "env": "CRM_KEY"})
    rendered = render(spec, EXTERNAL)
    assert [item.role for item in rendered].count("secretstore-aws") == 1
    assert {"externalsecret-llm", "externalsecret-crm"} <= roles(rendered)


def test_secrets_of_aws_come_by_the_csi_driver_where_external_secrets_is_absent() -> None:
    rendered = render(aws(key="token", mountPath="/llm"), CSI)
    spec = named(rendered, "secretproviderclass-llm")["spec"]
    assert (spec["provider"], spec["parameters"]["region"]) == ("aws", "eu-west-1")
    assert json.loads(spec["parameters"]["objects"]) == [
        {
            "objectName": "prod/llm",
            "objectType": "secretsmanager",
            "jmesPath": [{"path": '"token"', "objectAlias": "token"}],
        }
    ]
    assert "secretObjects" not in spec
    assert volume(rendered, "secret-llm")["csi"] == {
        "driver": "secrets-store.csi.k8s.io",
        "readOnly": True,
        "volumeAttributes": {"secretProviderClass": "support-llm"},
    }


def test_a_variable_by_the_csi_driver_takes_a_secret_and_the_mount_that_fills_it() -> None:
    rendered = render(aws(key="token", env="LLM_KEY"), CSI)
    (synced,) = named(rendered, "secretproviderclass-llm")["spec"]["secretObjects"]
    assert synced == {
        "secretName": "support-llm",
        "type": "Opaque",
        "data": [{"objectName": "token", "key": "token"}],
    }
    mounts = {each["name"]: each["mountPath"] for each in container(rendered)["volumeMounts"]}
    assert mounts["secret-llm"] == "/var/run/secrets/holdfast/llm"
    assert env(rendered)["LLM_KEY"]["secretKeyRef"]["name"] == "support-llm"


def test_vault_is_asked_by_annotations_with_a_token_of_its_own() -> None:
    rendered = render(one("vault", key="token", mountPath="/llm", refreshInterval="5m"), VAULT)
    template = pod_template(rendered)
    found = {
        key.removeprefix("vault.hashicorp.com/"): value
        for key, value in template["metadata"]["annotations"].items()
        if key.startswith("vault.hashicorp.com/")
    }
    secret = found.pop("agent-inject-template-llm")
    assert '{{- with secret "prod/llm" -}}' in secret
    assert '{{ index .Data.data "token" }}' in secret
    assert found == {
        "agent-inject": "true",
        "agent-inject-file-llm": "token",
        "agent-inject-secret-llm": "prod/llm",
        "agent-run-as-same-user": "true",
        "agent-service-account-token-volume-name": "vault-token",
        "agent-set-security-context": "true",
        "auth-path": "auth/k",
        "role": "agents",
        "secret-volume-path-llm": "/llm",
        "service": "https://vault.vault.svc:8200",
        "template-static-secret-render-interval": "5m",
    }
    token = volume(rendered, "vault-token")["projected"]["sources"][0]["serviceAccountToken"]
    assert token["expirationSeconds"] == 3600
    assert "secret-llm" not in {each["name"] for each in container(rendered)["volumeMounts"]}
    egress = named(rendered, "networkpolicy")["spec"]["egress"]
    assert 8200 in [rule["ports"][0]["port"] for rule in egress]


REFUSED = [
    pytest.param(
        one("externalSecret", mountPath="/a"), {}, "needs External Secrets Operator", id="external"
    ),
    pytest.param(
        one("externalSecret", mountPath="/a"),
        {"controllers": ["external-secrets"]},
        "set holdfast:secretStores.externalSecret",
        id="no store",
    ),
    pytest.param(
        one("vault", key="a", mountPath="/a"), {}, "needs Vault Agent Injector", id="vault"
    ),
    pytest.param(
        one("vault", key="a", mountPath="/a"),
        {"controllers": ["vault-injector"]},
        "set holdfast:secretStores.vault",
        id="no vault",
    ),
    pytest.param(aws(mountPath="/a"), {}, "this stack declares neither", id="aws"),
    pytest.param(
        aws(mountPath="/a"),
        {"controllers": ["secrets-store-csi"]},
        "set holdfast:secretStores.aws",
        id="no region",
    ),
    pytest.param(
        aws(mountPath="/a", onChange="restart"), CSI, "it restarts nothing", id="csi restart"
    ),
]


@pytest.mark.parametrize(("spec", "environment", "words"), REFUSED)
def test_what_the_stack_does_not_offer_is_refused(
    spec: dict[str, Any], environment: dict[str, Any], words: str
) -> None:
    with pytest.raises(RenderError) as refused:
        render(spec, environment)
    assert words in str(refused.value)
    assert "agent support: spec.secrets[0]" in str(refused.value)


MOUNTING = {
    "secrets": [
        {"name": "key", "ref": "llm", "key": "token", "env": "LLM_KEY"},
        {"name": "watched", "ref": "watched", "mountPath": "/watched", "onChange": "reload"},
    ],
    "config": [{"name": "shared", "from": "settings", "mountPath": "/settings"}],
}
KEY = ("Secret", "cx", "llm")


def test_what_rolls_the_pods_is_what_they_mount_and_do_not_reload() -> None:
    assert mounted_contents(plan(MOUNTING)) == (("ConfigMap", "cx", "settings"), KEY)


def test_a_fetched_secret_rolls_the_pods_and_one_of_vault_does_not() -> None:
    fetched = plan(one("externalSecret", mountPath="/a"), EXTERNAL)
    assert mounted_contents(fetched) == (("Secret", "cx", "support-llm"),)
    assert mounted_contents(plan(one("vault", key="a", mountPath="/a"), VAULT)) == ()


def test_a_changed_digest_changes_the_pod_template_and_nothing_else() -> None:
    agent = plan(MOUNTING)
    first, second = (
        render_agent(type(agent)(agent.meta, agent.spec, agent.context, digest))
        for digest in (mounted_hash(agent, {KEY: "1"}), mounted_hash(agent, {KEY: "2"}))
    )
    annotations = [pod_template(each)["metadata"]["annotations"] for each in (first, second)]
    assert annotations[0].pop(MOUNTED_HASH) != annotations[1].pop(MOUNTED_HASH)
    assert [item.manifest for item in first] == [item.manifest for item in second]


def test_digests_of_others_do_not_matter_and_no_digest_is_no_annotation() -> None:
    agent = plan(MOUNTING)
    assert mounted_hash(agent, {KEY: "1", ("Secret", "cx", "other"): "2"}) == mounted_hash(
        agent, {KEY: "1"}
    )
    assert mounted_hash(agent, {("Secret", "cx", "other"): "2"}) == ""
    assert MOUNTED_HASH not in pod_template(render(MOUNTING))["metadata"]["annotations"]


def test_whatever_the_pods_read_of_others_rolls_them() -> None:
    spec = {
        "container": {
            "env": [
                {"name": "A", "valueFrom": {"secretKeyRef": {"name": "one", "key": "a"}}},
                {"name": "B", "valueFrom": {"configMapKeyRef": {"name": "two", "key": "b"}}},
                {"name": "C", "valueFrom": {"fieldRef": {"fieldPath": "metadata.name"}}},
            ],
            "envFrom": [{"secretRef": {"name": "three"}}, {"configMapRef": {"name": "four"}}],
        },
        "prompt": {
            "systemMessageFrom": {"configMap": "five", "key": "k"},
            "templateSources": ["six"],
        },
        "model": {"provider": "a", "name": "b", "tls": {"caSecret": "seven"}},
    }
    assert mounted_contents(plan(spec)) == (
        ("ConfigMap", "cx", "five"),
        ("ConfigMap", "cx", "four"),
        ("ConfigMap", "cx", "six"),
        ("ConfigMap", "cx", "two"),
        ("Secret", "cx", "one"),
        ("Secret", "cx", "seven"),
        ("Secret", "cx", "three"),
    )


@pytest.mark.parametrize(
    ("kind", "is_rolled"),
    [
        pytest.param("Service", True, id="own image"),
        pytest.param("Job", False, id="every run starts anew"),
    ],
)
def test_a_changed_secret_rolls_what_runs_without_end(kind: str, is_rolled: bool) -> None:
    agent = plan(MOUNTING)
    spec = agent.spec.model_copy(update={"type": kind})
    contents = mounted_contents(type(agent)(agent.meta, spec, agent.context))
    assert bool(contents) is is_rolled
