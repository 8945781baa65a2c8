import json
from typing import Any

import pytest

from tests.unit.render.workloads import (
    COLLECTOR,
    IMAGE,
    SHIPPER,
    TOOLS,
    body,
    by_name,
    pod,
    render,
    variables,
)

TYPED = [
    pytest.param(
        {"telemetry": {"logs": {"shipper": "sidecar"}}}, "log-shipper", SHIPPER, id="logs"
    ),
    pytest.param(
        {"telemetry": {"traces": {"inject": "sidecar"}}}, "telemetry", COLLECTOR, id="traces"
    ),
    pytest.param(
        {"pod": {"cacheWarmer": {"http": "/warm", "interval": "2m"}}},
        "cache-warmer",
        TOOLS,
        id="cache",
    ),
]


@pytest.mark.parametrize(("spec", "name", "image"), TYPED)
def test_a_typed_sidecar_is_one_native_limited_restricted_container(
    spec: dict[str, Any], name: str, image: str
) -> None:
    [sidecar] = pod(render(spec))["initContainers"]
    assert (sidecar["name"], sidecar["image"]) == (name, image)
    assert sidecar["restartPolicy"] == "Always"
    assert sidecar["resources"]["limits"] == sidecar["resources"]["requests"]
    assert {"cpu", "memory"} <= set(sidecar["resources"]["limits"])
    context = sidecar["securityContext"]
    assert (context["runAsNonRoot"], context["allowPrivilegeEscalation"]) == (True, False)
    assert context["readOnlyRootFilesystem"] is True


def test_logs_go_through_files_that_only_the_agent_may_write() -> None:
    rendered = pod(render({"telemetry": {"logs": {"shipper": "sidecar"}}}))
    agent, shipper = rendered["containers"][0], rendered["initContainers"][0]
    assert variables(agent)["LOG_FOLDER"] == "/var/log/agent"
    assert by_name(agent["volumeMounts"])["logs"]["mountPath"] == "/var/log/agent"
    assert by_name(shipper["volumeMounts"])["logs"]["readOnly"] is True
    config = json.loads(variables(shipper)["COLLECTOR_CONFIG"])
    assert config["receivers"]["filelog"]["include"] == ["/var/log/agent/*.log"]
    attributes = {
        each["key"]: each["value"] for each in config["processors"]["resource"]["attributes"]
    }
    assert attributes["service.name"] == "support"
    assert attributes["service.version"] == "2.1.0"
    assert config["exporters"]["otlp"]["endpoint"] == "http://otel.monitoring.svc:4317"


def test_traces_go_to_the_collector_beside_the_agent() -> None:
    traces = {"inject": "sidecar", "protocol": "http/protobuf"}
    rendered = pod(render({"telemetry": {"traces": traces}}))
    told = variables(rendered["containers"][0])
    assert told["OTEL_EXPORTER_OTLP_ENDPOINT"] == "http://localhost:4318"
    config = json.loads(variables(rendered["initContainers"][0])["COLLECTOR_CONFIG"])
    assert "otlphttp" in config["exporters"]


def test_the_operator_is_asked_by_an_annotation_of_the_pods() -> None:
    rendered = render({"telemetry": {"traces": {"inject": "operator", "language": "python"}}})
    annotations = body(rendered, "deployment")["template"]["metadata"]["annotations"]
    assert annotations["instrumentation.opentelemetry.io/inject-python"] == "true"
    assert "initContainers" not in pod(rendered)


def test_declared_containers_follow_ours_under_the_security_defaults() -> None:
    sidecar = {
        "name": "proxy",
        "image": IMAGE,
        "securityContext": {"readOnlyRootFilesystem": False},
        "volumeMounts": [{"name": "tmp", "mountPath": "/tmp"}],  # noqa: S108 - in the container
    }
    rendered = pod(
        render(
            {
                "container": {"lifecycle": {"preStart": [{"command": ["migrate"]}]}},
                "pod": {
                    "sidecars": [sidecar],
                    "initContainers": [{"name": "seed", "image": IMAGE, "command": ["seed"]}],
                },
            }
        )
    )
    agent, proxy = rendered["containers"]
    assert (agent["name"], proxy["name"]) == ("agent", "proxy")
    assert proxy["securityContext"]["readOnlyRootFilesystem"] is False
    assert proxy["securityContext"]["capabilities"] == {"drop": ["ALL"]}
    assert len(proxy["volumeMounts"]) == 1
    prestart, seed = rendered["initContainers"]
    assert (prestart["name"], seed["name"]) == ("prestart-1", "seed")
    assert seed["resources"]["limits"]["memory"] == "128Mi"


def test_overrides_are_laid_over_the_pod_last_by_merge_keys() -> None:
    overrides = {
        "hostAliases": [{"ip": "10.0.0.9", "hostnames": ["db"]}],
        "containers": [
            {"name": "agent", "env": [{"name": "AGENT_NAME", "value": "other"}], "tty": True}
        ],
        "enableServiceLinks": {"$patch": "delete"},
    }
    plain, changed = pod(render({})), pod(render({"pod": {"overrides": overrides}}))
    assert changed["hostAliases"] == [{"ip": "10.0.0.9", "hostnames": ["db"]}]
    assert "enableServiceLinks" not in changed
    agent = changed["containers"][0]
    assert variables(agent) == variables(plain["containers"][0]) | {"AGENT_NAME": "other"}
    assert (agent["tty"], agent["image"]) == (True, IMAGE)
