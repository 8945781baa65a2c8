from typing import Any

import pytest
from holdfast.errors import RenderError

from tests.unit.render.workloads import (
    DIGEST,
    IMAGE,
    TOOLS,
    body,
    by_name,
    pod,
    render,
    variables,
)

WEIGHTS = {"fetch": {"uri": "s3://weights/vlm/7b.bin", "sha256": DIGEST, "to": "/models"}}
MODEL = {"ref": "local"}


def test_steps_before_the_start_are_init_containers_in_order() -> None:
    steps = [{"command": ["migrate"]}, WEIGHTS, {"command": ["index", "--all"]}]
    containers = pod(render({"container": {"lifecycle": {"preStart": steps}}}))["initContainers"]
    assert [each["name"] for each in containers] == ["prestart-1", "prestart-2", "prestart-3"]
    assert containers[0]["command"] == ["migrate"]
    assert containers[0]["image"] == IMAGE
    assert containers[1]["image"] == TOOLS


def test_a_fetch_is_reported_what_to_fetch_by_variables() -> None:
    fetch = pod(render({"container": {"lifecycle": {"preStart": [WEIGHTS]}}}))["initContainers"][0]
    told = variables(fetch)
    assert told["FETCH_URL"] == "https://s3.example.com/weights/vlm/7b.bin"
    assert (told["FETCH_FOLDER"], told["FETCH_FILE"]) == ("/models", "7b.bin")
    assert told["FETCH_SHA256"] == DIGEST
    assert told["HTTPS_PROXY"] == "http://proxy.egress.svc:3128"
    assert fetch["command"][:2] == ["/bin/sh", "-c"]
    assert "s3.example.com" not in fetch["command"][2]


def test_a_fetch_is_restricted_and_limited() -> None:
    fetch = pod(render({"container": {"lifecycle": {"preStart": [WEIGHTS]}}}))["initContainers"][0]
    assert fetch["securityContext"]["runAsUser"] == 65532
    assert fetch["securityContext"]["capabilities"] == {"drop": ["ALL"]}
    assert fetch["securityContext"]["readOnlyRootFilesystem"] is True
    assert fetch["resources"]["requests"] == fetch["resources"]["limits"]


def test_a_file_is_fetched_onto_the_volume_that_covers_its_folder() -> None:
    storage = [
        {"name": "weights", "size": "9Gi", "mountPath": "/models", "accessModes": ["ReadWriteMany"]}
    ]
    fetch = {"fetch": WEIGHTS["fetch"] | {"to": "/models/vlm"}}
    rendered = pod(
        render({"storage": {"volumes": storage}, "container": {"lifecycle": {"preStart": [fetch]}}})
    )
    mounts = by_name(rendered["initContainers"][0]["volumeMounts"])
    assert mounts["storage-weights"]["mountPath"] == "/models"
    assert not any(volume["name"].startswith("fetched") for volume in rendered["volumes"])


def test_a_folder_without_a_volume_lives_as_long_as_the_pod() -> None:
    limits = {"limits": {"ephemeral-storage": "60Gi"}}
    rendered = pod(
        render(
            {
                "container": {
                    "resources": limits,
                    "lifecycle": {
                        "preStart": [
                            WEIGHTS,
                            {
                                "fetch": WEIGHTS["fetch"]
                                | {"uri": "https://files.example.com/tokenizer.json"}
                            },
                        ]
                    },
                }
            }
        )
    )
    assert by_name(rendered["volumes"])["fetched-1"]["emptyDir"] == {"sizeLimit": "60Gi"}
    for container in (*rendered["initContainers"], rendered["containers"][0]):
        assert by_name(container["volumeMounts"])["fetched-1"]["mountPath"] == "/models"


@pytest.mark.parametrize(
    ("uri", "key", "told"),
    [
        pytest.param(
            "s3://weights/a.bin",
            None,
            {"FETCH_KEYS_FOLDER": "/run/keys", "FETCH_REGION": "eu-1"},
            id="key pair of a store",
        ),
        pytest.param(
            "https://files.example.com/a.bin",
            "token",
            {"FETCH_TOKEN_FILE": "/run/keys/token"},
            id="bearer token",
        ),
    ],
)
def test_credentials_reach_a_fetch_as_files(
    uri: str, key: str | None, told: dict[str, str]
) -> None:
    secret = {"name": "store", "ref": "store-keys", "mountPath": "/run/keys/"}
    fetch = {"uri": uri, "sha256": DIGEST, "to": "/models", "credentials": "store"}
    spec = {
        "secrets": [secret | ({"key": key} if key else {})],
        "container": {"lifecycle": {"preStart": [{"fetch": fetch}]}},
    }
    container = pod(render(spec))["initContainers"][0]
    assert told.items() <= variables(container).items()
    assert by_name(container["volumeMounts"])["secret-store"]["readOnly"] is True


def test_the_host_of_a_fetch_joins_the_egress() -> None:
    rules = body(render({"container": {"lifecycle": {"preStart": [WEIGHTS]}}}), "networkpolicy")[
        "egress"
    ]
    assert any("proxy" in str(rule) for rule in rules)


def test_the_startup_probe_stretches_the_deadline_of_an_update() -> None:
    startup = {"httpGet": {"path": "/warm"}, "initialDelaySeconds": 30, "failureThreshold": 90}
    rendered = render({"container": {"probes": {"startup": startup}}})
    assert body(rendered, "deployment")["progressDeadlineSeconds"] == 30 + 900 + 60
    assert body(render({}), "deployment")["progressDeadlineSeconds"] == 600


def test_every_sub_field_of_a_probe_is_rendered() -> None:
    probes = {
        "startup": {"grpc": {"service": "agent"}, "failureThreshold": 30},
        "liveness": {
            "httpGet": {
                "path": "/live",
                "port": 8081,
                "scheme": "HTTPS",
                "httpHeaders": [{"name": "X-Probe", "value": "1"}],
            },
            "initialDelaySeconds": 5,
            "terminationGracePeriodSeconds": 20,
        },
        "readiness": {"tcpSocket": {"port": 8080}, "successThreshold": 2, "timeoutSeconds": 4},
    }
    container = pod(render({"container": {"probes": probes}}))["containers"][0]
    assert container["startupProbe"]["grpc"] == {"port": 8080, "service": "agent"}
    assert container["livenessProbe"] == {
        "httpGet": {
            "path": "/live",
            "port": 8081,
            "scheme": "HTTPS",
            "httpHeaders": [{"name": "X-Probe", "value": "1"}],
        },
        "initialDelaySeconds": 5,
        "periodSeconds": 10,
        "timeoutSeconds": 3,
        "successThreshold": 1,
        "failureThreshold": 3,
        "terminationGracePeriodSeconds": 20,
    }
    assert container["readinessProbe"]["tcpSocket"] == {"port": 8080}
    assert container["readinessProbe"]["successThreshold"] == 2


@pytest.mark.parametrize(
    ("declared", "seconds"),
    [
        pytest.param({}, 60, id="at least a minute"),
        pytest.param(
            {"container": {"lifecycle": {"preStop": {"sleep": {"seconds": 40}}}}},
            130,
            id="tool and hook",
        ),
        pytest.param({"pod": {"terminationGracePeriodSeconds": 500}}, 500, id="declared"),
    ],
)
def test_the_grace_covers_the_longest_tool_and_the_hook(
    declared: dict[str, Any], seconds: int
) -> None:
    tool = {"mcp": {"url": "http://a.b.svc/mcp", "toolNames": ["x"], "timeout": "90s"}}
    spec = declared | ({"tools": [tool]} if declared else {})
    assert pod(render(spec))["terminationGracePeriodSeconds"] == seconds


def test_a_leader_has_rights_to_one_lease_its_name_and_a_token_of_its_own() -> None:
    rendered = render(
        {
            "scaling": {"leaderElection": True},
            "network": {"egress": [{"cidr": "10.96.0.1/32"}]},
            "pod": {"sidecars": [{"name": "proxy", "image": IMAGE}]},
        }
    )
    create, hold = rendered["role"].manifest["rules"]
    assert (create["resources"], create["verbs"]) == (["leases"], ["create"])
    assert hold["resourceNames"] == ["support-leader"]
    agent, proxy = pod(rendered)["containers"]
    assert variables(agent)["LEASE_NAME"] == "support-leader"
    token = by_name(agent["volumeMounts"])["api-token"]
    assert token["mountPath"] == "/var/run/secrets/kubernetes.io/serviceaccount"
    assert "api-token" not in by_name(proxy["volumeMounts"])
    assert pod(rendered)["automountServiceAccountToken"] is False


def check(rendered: Any) -> Any:
    return by_name(pod(rendered, "check")["containers"])["check"]


def test_a_new_version_is_checked_before_the_deployment_changes() -> None:
    rendered = render(
        {"model": MODEL, "tools": [{"mcp": {"serverRef": "crm", "toolNames": ["x"]}}]}
    )
    roles = list(rendered)
    assert roles.index("check") < roles.index("deployment")
    job = body(rendered, "check")
    assert (job["backoffLimit"], job["template"]["spec"]["restartPolicy"]) == (0, "Never")
    assert job["activeDeadlineSeconds"] == 180
    assert variables(check(rendered))["CHECK_TARGETS"].splitlines() == [
        "model http://vllm.models.svc:8000/v1/models vlm-7b",
        "mcp http://crm-tools.tools.svc:8000/mcp",
    ]


def test_a_check_asks_with_the_key_of_the_model_from_its_file() -> None:
    rendered = render({"model": MODEL})
    told = variables(check(rendered))
    assert told["CHECK_KEY_HEADER"] == "bearer"
    assert told["CHECK_KEY_FILE"] == "/var/run/secrets/holdfast/model/token"
    assert "model-key" in by_name(check(rendered)["volumeMounts"])


def test_another_version_is_another_check() -> None:
    first = body(render({"model": MODEL}), "check")["template"]
    again = body(render({"model": MODEL}), "check")["template"]
    other = body(render({"model": MODEL, "container": {"args": ["--fast"]}}), "check")["template"]
    assert first == again
    assert first != other


def test_a_check_has_the_network_of_its_agent_and_gets_none_of_its_requests() -> None:
    rendered = render({"model": MODEL})
    labels = body(rendered, "check")["template"]["metadata"]["labels"]
    allowed = body(rendered, "networkpolicy")["podSelector"]["matchLabels"]
    served = body(rendered, "service")["selector"]
    assert allowed.items() <= labels.items()
    assert not served.items() <= labels.items()


def test_a_check_holds_no_volume_that_running_pods_hold() -> None:
    storage = [{"name": "index", "size": "1Gi", "mountPath": "/data"}]
    rendered = render(
        {
            "model": MODEL,
            "storage": {"volumes": storage},
            "rollout": {"preflight": {"command": ["ask"]}},
        }
    )
    assert not any("persistentVolumeClaim" in each for each in pod(rendered, "check")["volumes"])
    command = by_name(pod(rendered, "check")["containers"])["command"]
    assert (command["image"], command["command"]) == (IMAGE, ["ask"])


def test_a_check_asks_for_no_device_and_no_right_of_the_agent_and_has_an_end() -> None:
    gpu = {"nvidia.com/gpu": "1"}
    rendered = render(
        {
            "model": MODEL,
            "container": {"resources": {"requests": gpu, "limits": gpu}},
            "scaling": {"leaderElection": True},
            "rollout": {"preflight": {"command": ["ask"]}},
            "network": {"egress": [{"cidr": "10.96.0.1/32"}]},
        }
    )
    command = by_name(pod(rendered, "check")["containers"])["command"]
    assert set(command["resources"]["limits"]) == {"cpu", "memory", "ephemeral-storage"}
    assert not any("projected" in volume for volume in pod(rendered, "check")["volumes"])
    assert {"activeDeadlineSeconds", "backoffLimit"} <= set(body(rendered, "check"))


def test_a_check_has_every_volume_that_its_containers_mount() -> None:
    rendered = render(
        {
            "model": MODEL,
            "container": {"lifecycle": {"preStart": [WEIGHTS]}},
            "rollout": {"preflight": {"command": ["ask"]}},
            "telemetry": {"logs": {"shipper": "sidecar"}},
        }
    )
    checked = pod(rendered, "check")
    volumes = {each["name"] for each in checked["volumes"]}
    for container in checked["containers"]:
        assert {each["name"] for each in container["volumeMounts"]} <= volumes


@pytest.mark.parametrize(
    ("spec", "environment"),
    [
        pytest.param({}, None, id="nothing to ask"),
        pytest.param({"model": MODEL}, {}, id="no image that could ask"),
        pytest.param(
            {
                "model": MODEL,
                "rollout": {"preflight": {"llm": False, "tools": False}},
            },
            None,
            id="turned off",
        ),
    ],
)
def test_there_is_no_check_without_anything_to_ask(spec: Any, environment: Any) -> None:
    assert "check" not in render(spec, environment)


def test_a_model_whose_address_nobody_knows_cannot_be_checked() -> None:
    with pytest.raises(RenderError, match="the address of provider 'Acme' is not known"):
        render({"model": {"provider": "Acme", "name": "a-1"}})


@pytest.mark.parametrize(
    ("spec", "words"),
    [
        pytest.param(
            {"container": {"lifecycle": {"preStart": [WEIGHTS]}}},
            r"spec\.container\.lifecycle\.preStart\[0\]\.fetch needs an image",
            id="fetch",
        ),
        pytest.param(
            {"rollout": {"preflight": {}}},
            r"spec\.rollout\.preflight needs an image",
            id="check",
        ),
        pytest.param(
            {"pod": {"cacheWarmer": {"http": "/warm"}}},
            r"spec\.pod\.cacheWarmer needs an image",
            id="warmer",
        ),
    ],
)
def test_what_needs_an_image_of_the_stack_is_refused_without(spec: Any, words: str) -> None:
    with pytest.raises(RenderError, match=words) as refused:
        render(spec, {})
    assert "holdfast:images.tools" in refused.value.remedy
