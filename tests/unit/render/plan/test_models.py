"""What an agent is told of its models: the way, the key, the certificate, and who stands in."""

import json
from typing import Any

import pytest
from holdfast.errors import RenderError
from holdfast.manifest.agent.agent import Agent
from holdfast.manifest.agent.model import ModelConfigSpec
from holdfast.manifest.stack.environment import Environment
from holdfast.render.plan.metadata import Provenance, RenderedObject
from holdfast.render.plan.plan import AgentPlan, metadata_of
from holdfast.render.plan.render_agent import render_agent
from holdfast.render.plan.render_context import RenderContext

from tests.unit.render.connected_agent import container, env, only

IMAGE = "registry.example/support@sha256:" + "2" * 64
GATEWAYS = {
    "gateway": "main",
    "gateways": {
        "main": {"url": "http://llm-gateway.platform.svc:4000"},
        "vision": {"url": "http://vision-gateway.platform.svc"},
    },
}
EGRESS = {
    "egressGateway": {
        "namespace": "egress",
        "podLabels": {"app": "proxy"},
        "port": 3128,
        "url": "http://proxy.egress.svc:3128",
    }
}
SHARED = {
    "provider": "OpenAI",
    "name": "gpt-5",
    "baseUrl": "https://api.openai.com/v1",
    "apiKeySecretRef": {"name": "llm", "key": "token"},
    "parameters": {"temperature": 0.2, "seed": 7},
    "tls": {"caSecret": "private-ca", "caKey": "root.pem"},
    "dataClass": "internal",
}
OWN = {"provider": "Anthropic", "name": "claude"}
KEY = {"name": "own-key", "ref": "keys", "key": "anthropic", "mountPath": "/keys"}


def rendered(spec: dict[str, Any], models: dict[str, Any] | None = None) -> Any:
    agent = Agent.model_validate(
        {
            "apiVersion": "holdfast.dev/v1alpha1",
            "kind": "Agent",
            "metadata": {"name": "support"},
            "spec": {"version": "2.1.0", "image": IMAGE, **spec},
        }
    )
    context = RenderContext(
        Environment.model_validate({"models": models or {}, "network": EGRESS}),
        models={("cx", "gpt"): ModelConfigSpec.model_validate(SHARED)},
    )
    meta = metadata_of(agent.metadata, agent.spec, "cx", Provenance("dev"))
    return render_agent(AgentPlan(meta, agent.spec, context))


def settings(objects: tuple[RenderedObject, ...], file: str = "agent.json") -> dict[str, Any]:
    config = next(item for item in objects if item.role == "config")
    found: dict[str, Any] = json.loads(config.manifest["data"][file])
    return found


def volumes(objects: tuple[RenderedObject, ...]) -> dict[str, Any]:
    pod = only(objects, "Deployment")["spec"]["template"]["spec"]
    return {volume["name"]: volume for volume in pod["volumes"]}


def test_a_shared_model_is_reported_with_its_key_certificate_and_class_of_data() -> None:
    objects = rendered({"model": {"ref": "gpt", "parameters": {"temperature": 1.0}}})
    assert settings(objects)["model"] == {
        "provider": "OpenAI",
        "name": "gpt-5",
        "baseUrl": "https://api.openai.com/v1",
        "apiKeyFile": "/var/run/secrets/holdfast/model/token",
        "parameters": {"temperature": 1.0, "seed": 7},
        "tls": {"caFile": "/var/run/secrets/holdfast/model-ca/root.pem"},
        "dataClass": "internal",
        "timeoutMilliseconds": 60_000,
    }
    assert env(objects)["MODEL_CA_FILE"] == "/var/run/secrets/holdfast/model-ca/root.pem"
    assert volumes(objects)["model-ca"]["secret"] == {
        "secretName": "private-ca",
        "items": [{"key": "root.pem", "path": "root.pem"}],
    }


def test_an_agents_own_key_comes_before_that_of_the_shared_model() -> None:
    objects = rendered({"model": {"ref": "gpt", "apiKey": "own-key"}, "secrets": [KEY]})
    assert settings(objects)["model"]["apiKeyFile"] == "/keys/anthropic"
    assert env(objects)["MODEL_API_KEY_FILE"] == "/keys/anthropic"
    assert "model-key" not in volumes(objects)


def test_a_key_in_a_variable_is_reported_by_its_name() -> None:
    secret = {"name": "own-key", "ref": "keys", "key": "a", "env": "LLM_KEY"}
    objects = rendered({"model": {**OWN, "apiKey": "own-key"}, "secrets": [secret]})
    assert settings(objects)["model"]["apiKeyEnv"] == "LLM_KEY"
    assert "MODEL_API_KEY_FILE" not in env(objects)


def test_each_fallback_has_a_key_and_a_certificate_of_its_own() -> None:
    model = {**OWN, "fallbacks": [{"ref": "gpt"}, {**OWN, "name": "haiku", "apiKey": "own-key"}]}
    objects = rendered({"model": model, "secrets": [KEY]})
    first, second = settings(objects)["model"]["fallbacks"]
    assert first["apiKeyFile"] == "/var/run/secrets/holdfast/model-fallback-0/token"
    assert first["tls"] == {"caFile": "/var/run/secrets/holdfast/model-fallback-0-ca/root.pem"}
    assert second == {"provider": "Anthropic", "name": "haiku", "apiKeyFile": "/keys/anthropic"}
    mounts = {mount["name"] for mount in container(objects)["volumeMounts"]}
    assert {"model-fallback-0-key", "model-fallback-0-ca"} <= mounts


def test_a_certificate_that_is_not_judged_is_reported() -> None:
    objects = rendered({"model": {**OWN, "tls": {"insecure": True}}})
    assert env(objects)["MODEL_TLS_INSECURE"] == "true"
    assert settings(objects)["model"]["tls"] == {"insecure": True}


@pytest.mark.parametrize(
    ("model", "url", "gateway"),
    [
        pytest.param(OWN, "http://llm-gateway.platform.svc:4000", "main", id="the stack's"),
        pytest.param(
            {**OWN, "gatewayRef": "vision"},
            "http://vision-gateway.platform.svc",
            "vision",
            id="another one",
        ),
        pytest.param(
            {"ref": "gpt", "gatewayRef": "direct"}, "https://api.openai.com/v1", None, id="none"
        ),
        pytest.param(
            {**OWN, "baseUrl": "http://llm.local.svc"},
            "http://llm-gateway.platform.svc:4000",
            "main",
            id="before an address of the agent's own",
        ),
    ],
)
def test_a_gateway_stands_before_the_model(
    model: dict[str, Any], url: str, gateway: str | None
) -> None:
    objects = rendered({"model": model}, GATEWAYS)
    assert env(objects)["MODEL_BASE_URL"] == url
    assert settings(objects)["model"].get("gateway") == gateway


def test_only_the_way_to_the_gateway_is_open() -> None:
    egress = only(rendered({"model": {"ref": "gpt"}}, GATEWAYS), "NetworkPolicy")["spec"]["egress"]
    ports = [rule["ports"][0]["port"] for rule in egress]
    assert ports == [53, 4000]


def test_a_gateway_that_is_not_declared_is_named() -> None:
    with pytest.raises(RenderError, match=r"model gateway 'other' is not declared .*main, vision"):
        rendered({"model": {**OWN, "gatewayRef": "other"}}, GATEWAYS)


def test_guardrails_are_reported_and_need_a_gateway() -> None:
    spec = {"model": OWN, "guardrails": [{"ref": "pii", "mode": "preCall"}]}
    assert settings(rendered(spec, GATEWAYS))["guardrails"] == [{"ref": "pii", "mode": "preCall"}]
    with pytest.raises(RenderError, match=r"spec\.guardrails need a model gateway"):
        rendered(spec)


def test_budget_and_its_defaults_are_reported() -> None:
    assert settings(rendered({}))["budget"] == {
        "maxSteps": 20,
        "timeoutMilliseconds": 600_000,
        "onExceed": "stop",
    }
    budget = {"maxTokensPerRun": 5, "maxCostUSD": 2.5, "period": "1d", "onExceed": "pause"}
    assert settings(rendered({"budget": budget}))["budget"] == {
        "maxTokensPerRun": 5,
        "maxCostUSD": 2.5,
        "periodSeconds": 86_400,
        "maxSteps": 20,
        "timeoutMilliseconds": 600_000,
        "onExceed": "pause",
    }


def test_a_run_of_a_job_ends_when_its_budget_of_time_does() -> None:
    job = {
        "type": "Job",
        "job": {"schedules": [{"cron": "0 2 * * *"}]},
        "budget": {"timeout": "1500ms"},
    }
    template = only(rendered(job), "CronJob")["spec"]["jobTemplate"]
    assert template["spec"]["template"]["spec"]["activeDeadlineSeconds"] == 2


def test_headers_for_a_tool_come_from_secrets_and_callers() -> None:
    tool = {
        "url": "http://crm.tools.svc/mcp",
        "toolNames": ["find"],
        "headersFrom": [{"name": "Authorization", "secret": "own-key"}],
        "allowedHeaders": ["X-Request-Id"],
    }
    objects = rendered({"tools": [{"mcp": tool}], "secrets": [KEY]})
    (told,) = settings(objects)["tools"]
    assert told["headersFrom"] == [{"name": "Authorization", "file": "/keys/anthropic"}]
    assert told["allowedHeaders"] == ["X-Request-Id"]


def test_parts_of_the_prompt_are_mounted_beside_it() -> None:
    prompt = {"systemMessage": "Be kind.", "templateSources": ["tone", "safety"]}
    objects = rendered({"prompt": prompt})
    folder = "/etc/holdfast/prompt-templates"
    assert settings(objects)["prompt"]["templateFolders"] == [f"{folder}/tone", f"{folder}/safety"]
    assert volumes(objects)["prompt-templates-1"]["configMap"] == {"name": "safety"}
