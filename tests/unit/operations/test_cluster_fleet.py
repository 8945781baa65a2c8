"""What runs, as the files of a new repository: valid ones, pending ones, and a list of the rest."""

import json
from typing import Any

import pytest
import yaml
from holdfast.adapters.cluster.inventory import Inventory
from holdfast.operations.project.cluster_fleet import ClusterFleet, fleet_of_objects
from holdfast.operations.project.import_page import import_page
from holdfast.operations.project.stack_file import stack_file_text

STACK = ("dev", stack_file_text("dev", None, is_existing=True))
DIGEST = "sha256:" + "7" * 64
TAGGED = "registry.example/web:1.0.0"
SECRET = "hunter2-" + "correct-horse"


def deployment(name: str = "web", namespace: str = "shop", **container: Any) -> dict[str, Any]:
    image = {"name": name, "image": f"registry.example/web@{DIGEST}"}
    pods = {
        "metadata": {"labels": {"app": name}},
        "spec": {"containers": [image | container]},
    }
    return {
        "apiVersion": "apps/v1",
        "kind": "Deployment",
        "metadata": {"name": name, "namespace": namespace, "uid": f"{namespace}-{name}"},
        "spec": {"replicas": 1, "selector": {"matchLabels": {"app": name}}, "template": pods},
    }


def pod(image: str, image_id: str, name: str = "web-1") -> dict[str, Any]:
    return {
        "apiVersion": "v1",
        "kind": "Pod",
        "metadata": {"name": name, "namespace": "shop"},
        "spec": {"containers": [{"name": "web", "image": image}]},
        "status": {"containerStatuses": [{"name": "web", "image": image, "imageID": image_id}]},
    }


def other(api_version: str, kind: str, name: str, **fields: Any) -> dict[str, Any]:
    metadata = {"name": name, "namespace": "shop"}
    return {"apiVersion": api_version, "kind": kind, "metadata": metadata, **fields}


def owned(one: dict[str, Any], api_version: str, kind: str, name: str) -> dict[str, Any]:
    owner = {"apiVersion": api_version, "kind": kind, "name": name, "controller": True}
    one["metadata"]["ownerReferences"] = [owner]
    return one


def fleet(*objects: dict[str, Any], everywhere: bool = True) -> ClusterFleet:
    return fleet_of_objects(Inventory(objects, ()), STACK, everywhere=everywhere)


def reasons(found: ClusterFleet) -> list[str]:
    return [f"{each.subject}: {each.path}: {each.reason}" for each in found.unsaid]


def everything(found: ClusterFleet) -> str:
    """All that reaches a disk."""
    return json.dumps({**found.files, **found.pending, "": import_page(found)})


def test_a_deployment_becomes_a_valid_manifest_of_its_namespace() -> None:
    found = fleet(deployment())
    assert list(found.files) == ["agents/shop/web.yaml"]
    manifest = yaml.safe_load(found.files["agents/shop/web.yaml"])
    assert (manifest["metadata"]["namespace"], manifest["metadata"]["name"]) == ("shop", "web")
    assert manifest["spec"]["image"] == f"registry.example/web@{DIGEST}"
    assert found.pending == {}


def test_an_image_gets_the_digest_that_its_pods_run() -> None:
    found = fleet(deployment(image=TAGGED), pod(TAGGED, f"registry.example/web@{DIGEST}"))
    manifest = yaml.safe_load(found.files["agents/shop/web.yaml"])
    assert manifest["spec"]["image"] == f"registry.example/web@{DIGEST}"


@pytest.mark.parametrize(
    "pods",
    [
        pytest.param([], id="no pod"),
        pytest.param([pod(TAGGED, "")], id="not started"),
        pytest.param([pod(TAGGED, "registry.example/web:1.0.0")], id="no digest known"),
        pytest.param(
            [pod(TAGGED, f"x@{DIGEST}"), pod(TAGGED, "x@sha256:" + "8" * 64, "web-2")],
            id="two versions",
        ),
    ],
)
def test_one_whose_digest_is_not_known_is_pending_and_listed(pods: list[dict[str, Any]]) -> None:
    found = fleet(deployment(image=TAGGED), *pods)
    assert found.files == {}
    assert list(found.pending) == ["pending/shop/web.yaml"]
    assert any(f"image {TAGGED}" in each for each in reasons(found))


@pytest.mark.parametrize(
    "container",
    [
        pytest.param({"env": [{"name": "API_TOKEN", "value": SECRET}]}, id="name of a variable"),
        pytest.param(
            {"env": [{"name": "X", "value": f"postgres://u:{SECRET}@db/x"}]}, id="address"
        ),
        pytest.param({"env": [{"name": "X", "value": "sk-ant-api03-" + "a" * 40}]}, id="form"),
        pytest.param({"args": ["--password", SECRET]}, id="after a flag"),
        pytest.param({"args": [f"--password={SECRET}"]}, id="in a flag"),
        pytest.param({"command": ["sh", "-c", f"run --token {SECRET}"]}, id="in a command"),
    ],
)
def test_no_credential_reaches_a_file(container: dict[str, Any]) -> None:
    found = fleet(deployment(**container))
    assert SECRET not in everything(found)
    assert "sk-ant-api03" not in everything(found)
    assert any("credential" in each for each in reasons(found))


@pytest.mark.parametrize("field", ["sidecar", "initContainer", "configMap", "annotation", "prompt"])
def test_nor_one_that_stands_elsewhere(field: str) -> None:
    one, more = deployment(), []
    pods = one["spec"]["template"]["spec"]
    env = [{"name": "DB_PASSWORD", "value": SECRET}]
    beside = {"name": "b", "image": f"x@{DIGEST}", "env": env}
    if field == "sidecar":
        pods["containers"].append(beside)
    elif field == "initContainer":
        pods["initContainers"] = [beside]
    elif field == "annotation":
        last = json.dumps({"env": env})
        one["metadata"]["annotations"] = {
            "kubectl.kubernetes.io/last-applied-configuration": last,
            "example.com/api-token": SECRET,
        }
    elif field == "configMap":
        pods["volumes"] = [{"name": "c", "configMap": {"name": "settings"}}]
        pods["containers"][0]["volumeMounts"] = [{"name": "c", "mountPath": "/etc/c"}]
        more = [other("v1", "ConfigMap", "settings", data={"x.yaml": f"password: {SECRET}"})]
    else:
        text = {"systemMessage": f"Use postgres://u:{SECRET}@db/x", "modelConfig": "m"}
        more = [other("kagent.dev/v1alpha2", "Agent", "web", spec={"declarative": text})]
        owned(one, "kagent.dev/v1alpha2", "Agent", "web")
    found = fleet(one, *more)
    assert SECRET not in everything(found)


def test_numbers_are_no_credentials() -> None:
    found = fleet(deployment(env=[{"name": "MAX_TOKENS", "value": "4096"}]))
    manifest = yaml.safe_load(found.files["agents/shop/web.yaml"])
    assert manifest["spec"]["container"]["env"] == [{"name": "MAX_TOKENS", "value": "4096"}]


def test_a_secret_is_referred_to_and_not_read() -> None:
    source = {"secretKeyRef": {"name": "llm", "key": "token"}}
    found = fleet(deployment(env=[{"name": "API_TOKEN", "valueFrom": source}]))
    assert "llm" in found.files["agents/shop/web.yaml"]


def test_every_field_that_no_manifest_declares_is_listed_without_its_value() -> None:
    one = deployment()
    one["spec"]["minReadySeconds"] = 4711
    found = fleet(one)
    assert ("Deployment shop/web: spec.minReadySeconds: no field says it") in reasons(found)
    assert "4711" not in import_page(found)


@pytest.mark.parametrize(
    ("one", "is_left_out"),
    [
        (deployment(namespace="kube-system"), True),
        (owned(deployment(), "example.com/v1", "Thing", "x"), True),
        (deployment(namespace="kube-systems"), False),
    ],
)
def test_what_others_make_is_left_out(one: dict[str, Any], is_left_out: bool) -> None:
    assert (fleet(one).files == {}) == is_left_out


def test_a_named_namespace_of_kubernetes_is_read() -> None:
    assert list(fleet(deployment(namespace="kube-system"), everywhere=False).files)


def test_what_cannot_become_an_agent_is_listed_by_object() -> None:
    found = fleet(deployment(name="x" * 60), deployment())
    assert list(found.files) == ["agents/shop/web.yaml"]
    assert any(each.startswith(f"Deployment shop/{'x' * 60}: : ") for each in reasons(found))


def test_two_workloads_of_one_name_are_not_mixed_up() -> None:
    twin = deployment()
    twin["kind"] = "StatefulSet"
    found = fleet(deployment(), twin)
    assert list(found.files) == ["agents/shop/web.yaml"]
    assert any("has this name" in each for each in reasons(found))


def test_the_second_agent_of_one_name_is_pending_since_a_project_has_one_of_each_name() -> None:
    found = fleet(deployment(), deployment(namespace="other"))
    assert list(found.files) == ["agents/other/web.yaml"]
    assert list(found.pending) == ["pending/shop/web.yaml"]
    assert any("pending/shop/web.yaml: metadata.name" in each for each in reasons(found))


def test_an_agent_of_kagent_takes_prompt_and_model_from_its_object() -> None:
    spec = {
        "type": "Declarative",
        "description": "Answers",
        "declarative": {"systemMessage": "Be kind", "modelConfig": "gpt", "tools": [{"type": "x"}]},
    }
    model = other(
        "kagent.dev/v1alpha2",
        "ModelConfig",
        "gpt",
        spec={"provider": "OpenAI", "model": "gpt-5", "apiKeySecret": "llm"},
    )
    found = fleet(
        owned(deployment(), "kagent.dev/v1alpha2", "Agent", "web"),
        other("kagent.dev/v1alpha2", "Agent", "web", spec=spec),
        model,
    )
    (file, text) = next(
        (file, text) for file, text in {**found.files, **found.pending}.items() if "/web" in file
    )
    agent = yaml.safe_load(text)["spec"]
    assert file.endswith("shop/web.yaml")
    assert agent["prompt"] == {"systemMessage": "Be kind"}
    assert agent["model"] == {"ref": "gpt"}
    listed = reasons(found)
    assert any(each.startswith("Agent shop/web: spec.declarative.tools[0].type") for each in listed)
    assert any(each.startswith("ModelConfig shop/gpt: spec.apiKeySecret") for each in listed)
    assert (
        'kind: "ModelConfig"'
        in {**found.files, **found.pending}["agents/shop/modelconfig-gpt.yaml"]
    )


@pytest.mark.parametrize(
    ("api_version", "kind", "fields", "url"),
    [
        (
            "toolhive.stacklok.dev/v1alpha1",
            "MCPServer",
            {"spec": {"image": "x"}, "status": {"url": "http://t.shop.svc:8080/mcp"}},
            "http://t.shop.svc:8080/mcp",
        ),
        (
            "kagent.dev/v1alpha2",
            "RemoteMCPServer",
            {"spec": {"url": "http://t.shop.svc/mcp", "protocol": "STREAMABLE_HTTP"}},
            "http://t.shop.svc/mcp",
        ),
        (
            "kagent.dev/v1alpha1",
            "ToolServer",
            {"spec": {"config": {"sse": {"url": "http://t.shop.svc/sse"}}}},
            "http://t.shop.svc/sse",
        ),
        (
            "mcp.x-k8s.io/v1alpha1",
            "MCPServer",
            {"spec": {}, "status": {"address": {"url": "http://t.shop.svc/mcp"}}},
            "http://t.shop.svc/mcp",
        ),
    ],
)
def test_a_tool_server_of_another_platform_is_declared_by_its_address(
    api_version: str, kind: str, fields: dict[str, Any], url: str
) -> None:
    found = fleet(other(api_version, kind, "t", **fields))
    manifest = yaml.safe_load(found.files["agents/shop/mcpserver-t.yaml"])
    assert manifest["kind"] == "MCPServer"
    assert manifest["spec"]["url"] == url


def test_one_without_address_or_with_a_credential_in_it_is_listed() -> None:
    bare = other("mcp.x-k8s.io/v1alpha1", "MCPServer", "t", spec={"source": {}})
    open_ = other(
        "kagent.dev/v1alpha2", "RemoteMCPServer", "u", spec={"url": f"http://u:{SECRET}@t/mcp"}
    )
    found = fleet(bare, open_)
    assert (found.files, found.pending) == ({}, {})
    assert SECRET not in everything(found)
    assert len(found.unsaid) >= 2


def test_an_agent_whose_platform_runs_nothing_is_listed() -> None:
    found = fleet(other("kagent.dev/v1alpha2", "Agent", "idle", spec={}))
    assert reasons(found) == ["Agent shop/idle: : its platform runs no Deployment for it"]


def test_what_could_not_be_read_is_said() -> None:
    found = fleet_of_objects(
        Inventory((deployment(),), (("Role", "no rights"),)), STACK, everywhere=True
    )
    assert found.unread == ("Role: no rights",)
    assert "- Role: no rights" in import_page(found)
