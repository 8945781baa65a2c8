"""Components under recording mocks: what is registered, under which name, parent and protection."""

import re
from collections.abc import Callable
from functools import partial
from typing import Any, cast

import pulumi
import pytest
from google.protobuf import json_format
from holdfast.components.agent import Agent
from holdfast.components.arguments import AgentArgs
from holdfast.components.fleet import Fleet
from holdfast.components.parts import AgentIdentity, AgentScaling, AgentStorage
from holdfast.errors import InputError
from pulumi.runtime import mocks as pulumi_mocks

HASH = re.compile(r"(?<=-)[0-9a-f]{8}$")
"""What ends the name of an object that is named by its content."""
IMAGE = "registry.example/support@sha256:" + "2" * 64
SUPPORT: AgentArgs = {
    "namespace": "cx",
    "version": "2.1.0",
    "owner": "care",
    "image": IMAGE,
    "scaling": {"replicas": 2},
    "storage": {
        "volumes": [
            {
                "name": "index",
                "size": "1Gi",
                "mount_path": "/data",
                "access_modes": ["ReadWriteMany"],
            }
        ]
    },
    "prompt": {"system_message": "be kind"},
}


class Recorder(pulumi_mocks.MockMonitor):
    """Records every registration as the engine would receive it, and answers with the inputs."""

    def __init__(self) -> None:
        super().__init__(Echo())
        self.requests: dict[str, Any] = {}
        self.inputs: dict[str, dict[str, Any]] = {}
        self.registered_outputs: list[Any] = []

    def RegisterResourceOutputs(self, request: Any) -> Any:  # noqa: N802 - the engine's method
        self.registered_outputs.append(request)
        return super().RegisterResourceOutputs(request)  # type: ignore[no-untyped-call]  # untyped upstream

    def RegisterResource(self, request: Any) -> Any:  # noqa: N802 - the engine's method
        if request.custom or request.type.startswith("holdfast:"):
            self.requests[request.name] = request
            self.inputs[request.name] = json_format.MessageToDict(request.object)
        return super().RegisterResource(request)  # type: ignore[no-untyped-call]  # untyped upstream

    def types(self) -> dict[str, str]:
        return {name: request.type for name, request in self.requests.items()}


class Echo(pulumi_mocks.Mocks):
    """Every resource is what it was asked to be."""

    def new_resource(self, args: pulumi_mocks.MockResourceArgs) -> tuple[str, dict[str, Any]]:
        return f"{args.name}-id", dict(args.inputs)

    def call(self, args: pulumi_mocks.MockCallArgs) -> tuple[dict[Any, Any], None]:
        return dict(args.args), None


def deploy(program: Callable[[], object]) -> Recorder:
    """Run a program and return what it registered, after everything has settled."""
    recorder = Recorder()
    pulumi_mocks.set_mocks(Echo(), project="elsewhere", stack="dev", monitor=recorder)
    run = pulumi.runtime.test(lambda: (program(), None)[1])  # type: ignore[no-untyped-call]  # untyped upstream
    run()
    return recorder


def test_an_agent_registers_its_parts_and_their_objects_under_its_name() -> None:
    types = {
        HASH.sub("", name): kind
        for name, kind in deploy(lambda: Agent("support", SUPPORT)).types().items()
    }
    assert types == {
        "support": "holdfast:index:Agent",
        "support-identity": "holdfast:index:AgentIdentity",
        "support-serviceaccount": "kubernetes:core/v1:ServiceAccount",
        "support-config": "holdfast:index:AgentConfig",
        "support-config-": "kubernetes:core/v1:ConfigMap",
        "support-prompt-": "kubernetes:core/v1:ConfigMap",
        "support-storage": "holdfast:index:AgentStorage",
        "support-claim-index": "kubernetes:core/v1:PersistentVolumeClaim",
        "support-network": "holdfast:index:AgentNetwork",
        "support-service": "kubernetes:core/v1:Service",
        "support-networkpolicy-during-update": "kubernetes:networking.k8s.io/v1:NetworkPolicy",
        "support-networkpolicy": "kubernetes:networking.k8s.io/v1:NetworkPolicy",
        "support-workload": "holdfast:index:AgentWorkload",
        "support-deployment": "kubernetes:apps/v1:Deployment",
        "support-scaling": "holdfast:index:AgentScaling",
        "support-disruptionbudget": "kubernetes:policy/v1:PodDisruptionBudget",
    }


def test_objects_are_registered_as_they_were_rendered() -> None:
    deployment = deploy(lambda: Agent("support", SUPPORT)).inputs["support-deployment"]
    assert deployment["metadata"]["annotations"]["pulumi.com/patchFieldManager"] == "holdfast"
    assert deployment["spec"]["template"]["spec"]["containers"][0]["image"] == IMAGE
    assert deployment["spec"]["selector"]["matchLabels"]["app.kubernetes.io/instance"] == "dev"


def test_storage_is_protected_and_kept_and_nothing_else_is() -> None:
    requests = deploy(lambda: Agent("support", SUPPORT)).requests
    guarded = {name for name, each in requests.items() if each.protect or each.retainOnDelete}
    assert guarded == {"support-claim-index"}
    assert requests["support-claim-index"].protect
    assert requests["support-claim-index"].retainOnDelete


@pytest.mark.parametrize(("given", "is_protected"), [(None, True), (False, False), (True, True)])
def test_protection_that_the_program_gives_wins(given: bool | None, is_protected: bool) -> None:
    options = pulumi.ResourceOptions(protect=given)
    requests = deploy(lambda: Agent("support", SUPPORT, options)).requests
    assert requests["support-claim-index"].protect == is_protected
    assert requests["support-claim-index"].retainOnDelete
    assert requests["support-deployment"].protect == bool(given)


def test_protection_of_a_fleet_holds_for_its_agents() -> None:
    args: Any = {"agents": {"one": SUPPORT}}
    options = pulumi.ResourceOptions(protect=False)
    requests = deploy(lambda: Fleet("fleet", args, options)).requests
    assert not any(each.protect for each in requests.values())


def test_the_deployment_waits_for_what_its_pods_mount_and_run_as() -> None:
    request = deploy(lambda: Agent("support", SUPPORT)).requests["support-deployment"]
    waited_for = {HASH.sub("", urn.rsplit("::", 1)[1]) for urn in request.dependencies}
    assert {
        "support-serviceaccount",
        "support-config-",
        "support-prompt-",
        "support-claim-index",
        "support-networkpolicy-during-update",
    } <= waited_for
    assert "support-networkpolicy" not in waited_for


def test_network_rules_narrow_when_the_workload_is_healthy() -> None:
    requests = deploy(lambda: Agent("support", SUPPORT)).requests
    narrowing = {urn.rsplit("::", 1)[1] for urn in requests["support-networkpolicy"].dependencies}
    assert "support-deployment" in narrowing


def test_another_content_is_another_resource_so_that_the_old_one_goes_last() -> None:
    changed: AgentArgs = {**SUPPORT, "prompt": {"system_message": "Be brief."}}
    names = [
        {name for name in deploy(partial(Agent, "support", one)).requests if "-prompt-" in name}
        for one in (SUPPORT, changed)
    ]
    assert [len(each) for each in names] == [1, 1]
    assert names[0] != names[1]


def test_a_workload_waits_for_the_backup_that_precedes_it() -> None:
    backup = {"method": "Job", "image": IMAGE, "command": ["save"]}
    recorder = deploy(
        lambda: Agent(
            "support", cast("Any", {**SUPPORT, "storage": {**SUPPORT["storage"], "backup": backup}})
        )
    )
    assert recorder.types()["support-backup"] == "holdfast:index:AgentBackup"
    request = recorder.requests["support-deployment"]
    waited_for = {urn.rsplit("::", 1)[1] for urn in request.dependencies}
    assert "support-backup-before-rollout" in waited_for


def test_a_part_works_alone_in_another_program() -> None:
    args = {
        "agent": {"name": "other", "namespace": "team"},
        "storage": {"volumes": [{"name": "data", "size": "5Gi", "mount_path": "/data"}]},
    }
    types = deploy(lambda: AgentStorage("other-storage", cast("Any", args))).types()
    assert types == {
        "other-storage": "holdfast:index:AgentStorage",
        "other-claim-data": "kubernetes:core/v1:PersistentVolumeClaim",
    }


def test_whole_numbers_may_arrive_as_floats_from_other_languages() -> None:
    args = {
        "agent": {"name": "other", "namespace": "team"},
        "scaling": {
            "min_replicas": 2.0,
            "max_replicas": 4.0,
            "metrics": [{"type": "Resource", "name": "cpu", "target": 70.0}],
        },
    }
    registered = deploy(lambda: AgentScaling("other-scaling", cast("Any", args))).inputs
    spec = registered["other-autoscaler"]["spec"]
    assert (spec["minReplicas"], spec["maxReplicas"]) == (2, 4)


def test_faulty_arguments_name_the_component_and_every_field() -> None:
    args = {
        "agent": {"name": "Other_1", "namespace": "team"},
        "pod": {"security": {"automount_token": 3}},
    }
    with pytest.raises(
        InputError, match=r"(?s)agent\.name.*RFC 1123.*pod\.security\.automount"
    ) as raised:
        deploy(lambda: AgentIdentity("other-identity", cast("Any", args)))
    assert raised.value.message.startswith("AgentIdentity other-identity: ")


def test_a_fleet_declares_the_namespaces_of_its_agents_once() -> None:
    agents = {"one": SUPPORT, "two": SUPPORT}
    types = deploy(lambda: Fleet("fleet", {"agents": agents})).types()
    assert [name for name, kind in types.items() if kind.endswith(":Namespace")] == ["namespace-cx"]
    assert types["one"] == types["two"] == "holdfast:index:Agent"


def test_a_namespace_outlives_its_last_agent_for_it_may_hold_data_of_earlier_ones() -> None:
    without = {key: value for key, value in SUPPORT.items() if key != "storage"}
    agents: Any = {"one": SUPPORT, "two": without | {"namespace": "ops"}}
    requests = deploy(lambda: Fleet("fleet", {"agents": agents})).requests
    assert requests["namespace-cx"].retainOnDelete
    assert requests["namespace-ops"].retainOnDelete


def test_existing_namespaces_are_left_to_their_owners() -> None:
    args: Any = {"agents": {"one": SUPPORT}, "namespaces": "existing"}
    assert "namespace-cx" not in deploy(lambda: Fleet("fleet", args)).types()


def test_an_agent_waits_for_every_object_of_the_agents_it_depends_on() -> None:
    plain: Any = {key: value for key, value in SUPPORT.items() if key != "storage"}
    # By name, the later one comes first: the dependency decides, not the alphabet.
    first: Any = plain | {"depends_on": [{"name": "two", "wait": False}]}
    agents: Any = {"one": first, "two": plain | {"network": {"expose": {"port": 9000}}}}
    deployed = deploy(lambda: Fleet("fleet", {"agents": agents}))
    waited = " ".join(deployed.requests["one-deployment"].dependencies)
    assert "two-deployment" in waited
    assert "one-deployment" not in " ".join(deployed.requests["two-deployment"].dependencies)
    variables = deployed.inputs["one-deployment"]["spec"]["template"]["spec"]["containers"][0][
        "env"
    ]
    assert {"name": "TWO_URL", "value": "http://two.cx.svc:9000"} in variables


def test_a_fleet_of_a_program_lets_its_agents_reach_its_tool_servers() -> None:
    tools = {"mcp": {"server_ref": "crm", "tool_names": ["find"]}}
    support = {"namespace": "cx", "version": "1.0.0", "image": IMAGE, "tools": [tools]}
    crm = {"namespace": "cx", "image": IMAGE, "port": 9000}
    arguments = cast("Any", {"agents": {"support": support}, "mcp_servers": {"crm": crm}})
    recorded = deploy(lambda: Fleet("fleet", arguments))
    assert recorded.types()["crm"] == "holdfast:index:McpServer"
    [rule] = recorded.inputs["crm-networkpolicy"]["spec"]["ingress"]
    [caller] = rule["from"]
    assert caller["podSelector"]["matchLabels"]["holdfast.dev/agent"] == "support"
    [config] = [name for name in recorded.inputs if HASH.sub("", name) == "support-config-"]
    told = recorded.inputs[config]["data"]["agent.json"]
    assert "http://crm.cx.svc:9000/mcp" in told
    assert recorded.inputs["crm-deployment"]["spec"]["replicas"] == 1
