"""What components record of their arguments, and what they tell of their children."""

from typing import Any, cast

import pulumi
from google.protobuf import json_format
from holdfast.components.agent import Agent
from holdfast.components.argument_errors import CamelCaseArguments
from holdfast.components.fleet import Fleet
from holdfast.components.parts import AgentStorage

from tests.unit.components.test_components import IMAGE, SUPPORT, Recorder, deploy


def outputs_of(recorded: Recorder, name: str) -> dict[str, Any]:
    """What a component has registered as its outputs."""
    found: list[dict[str, Any]] = [
        json_format.MessageToDict(each.outputs)
        for each in recorded.registered_outputs
        if each.urn.endswith(f"::{name}")
    ]
    assert len(found) == 1
    return found[0]


def test_an_agent_tells_what_it_has_deployed() -> None:
    found = outputs_of(deploy(lambda: Agent("support", SUPPORT)), "support")
    place = {"name": "support", "namespace": "cx"}
    assert found["workload"] == {"apiVersion": "apps/v1", "kind": "Deployment"} | place
    assert found["service"] == {"apiVersion": "v1", "kind": "Service"} | place
    assert found["serviceAccount"] == {"apiVersion": "v1", "kind": "ServiceAccount"} | place
    assert [each["name"] for each in found["claims"]] == ["support-index"]
    assert found["selector"] == {
        "app.kubernetes.io/name": "support",
        "app.kubernetes.io/instance": "dev",
    }
    assert found["selector"].items() <= found["labels"].items()


def test_what_an_agent_does_not_have_is_none() -> None:
    args: Any = {
        "namespace": "cx",
        "version": "1.0.0",
        "image": IMAGE,
        "type": "Job",
        "job": {"schedules": [{"id": "nightly", "cron": "0 2 * * *"}]},
        "pod": {"security": {"service_account": {"create": False, "name": "theirs"}}},
    }
    found = outputs_of(deploy(lambda: Agent("report", args)), "report")
    assert found["workload"]["kind"] == "CronJob"
    assert found["claims"] == []
    assert not found.get("service")
    assert not found.get("serviceAccount")


def test_who_uses_a_reference_waits_for_the_object() -> None:
    def program() -> None:
        first = Agent("support", SUPPORT)
        name = first.workload.apply(lambda found: found["name"])
        args: Any = {**SUPPORT, "annotations": {"example.com/after": name}}
        Agent("other", args)

    recorded = deploy(program)
    waited = " ".join(recorded.requests["other-deployment"].dependencies)
    assert "::support-deployment" in waited
    annotations = recorded.inputs["other-deployment"]["metadata"]["annotations"]
    assert annotations["example.com/after"] == "support"


def test_the_arguments_are_in_the_state_in_the_words_of_the_manifest() -> None:
    recorded = deploy(lambda: Agent("support", SUPPORT)).inputs
    assert recorded["support"]["namespace"] == "cx"
    [volume] = recorded["support"]["storage"]["volumes"]
    assert volume["mountPath"] == "/data"
    assert recorded["support"]["prompt"] == {"systemMessage": "be kind"}
    # What an agent makes of its arguments stands in the objects.
    assert recorded["support-storage"] == {}


def test_every_language_records_the_same() -> None:
    snake: Any = {
        "agent": {"name": "other", "namespace": "team"},
        "storage": {"volumes": [{"name": "d", "size": "1Gi", "mount_path": "/d"}]},
    }
    volume = {"name": "d", "size": "1Gi", "mountPath": "/d"}
    camel = cast("Any", CamelCaseArguments(snake | {"storage": {"volumes": [volume]}}))
    found = [
        deploy(lambda: AgentStorage("other-storage", snake)).inputs["other-storage"],
        deploy(lambda: AgentStorage("other-storage", camel)).inputs["other-storage"],
    ]
    assert found[0] == found[1]
    assert found[0]["storage"]["volumes"] == [volume]


def test_a_fleet_records_its_agents_and_each_of_them_its_own_part() -> None:
    recorded = deploy(lambda: Fleet("fleet", {"agents": {"one": SUPPORT}})).inputs
    assert recorded["fleet"]["agents"]["one"] == recorded["one"]
    assert recorded["one"]["image"] == IMAGE


def test_a_secret_stays_a_secret_in_what_is_recorded() -> None:
    def program() -> None:
        variable: Any = {"name": "GREETING", "value": pulumi.Output.secret("hidden-text")}
        Agent("support", {**SUPPORT, "container": {"env": [variable]}})

    requests = deploy(program).requests
    secret_mark = "4dabf18193072939515e22adb298388d"
    recorded = json_format.MessageToDict(requests["support"].object)
    [variable] = recorded["container"]["env"]
    assert variable["value"].get(secret_mark), variable
    deployment = json_format.MessageToDict(requests["support-deployment"].object)
    containers = deployment["spec"]["template"]["spec"]["containers"]
    [variable] = [each for each in containers[0]["env"] if each["name"] == "GREETING"]
    assert variable["value"].get(secret_mark), variable
