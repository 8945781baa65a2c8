"""Outputs of other resources among the arguments, under recording mocks."""

import asyncio
import logging
from collections.abc import Callable
from functools import partial
from typing import Any, cast

import pulumi
import pytest
from holdfast.components.agent import Agent
from holdfast.components.argument_errors import ArgumentsError
from holdfast.components.fleet import Fleet
from holdfast.components.late_objects import differing
from holdfast.components.parts import AgentIdentity, AgentStorage

from tests.unit.components.test_components import HASH, IMAGE, SUPPORT, Recorder, deploy

MODEL = {"provider": "OpenAI", "name": "m"}
PLACES: dict[str, tuple[str | int, ...]] = {
    "cx": ("namespace",),
    IMAGE: ("image",),
    "blue": ("labels", "team"),
    "of the program": ("annotations", "example.com/why"),
    'one "two" ${three}': ("container", "env", 0, "value"),
    "made-secret": ("container", "env", 1, "value_from", "secret_key_ref", "name"),
    "made-map": ("container", "env_from", 0, "config_map_ref", "name"),
    "arn:aws:iam::1:role/agent": (
        "pod",
        "security",
        "service_account",
        "annotations",
        "eks.amazonaws.com/role-arn",
    ),
    "http://vlm.inference-a.svc:8000/v1": ("model", "base_url"),
    "edge": ("network", "ingress_from", 0, "namespace"),
    "fast": ("storage", "volumes", 0, "storage_class_name"),
    "made-claim": ("storage", "volumes", 1, "existing_claim"),
    "urgent": ("pod", "priority_class_name"),
    "token": ("secrets", 0, "ref"),
}
"""Value to its place in an agent's arguments."""


def arguments(wrap: Callable[[str], Any]) -> Any:
    """Arguments with a value, or an output, in every place."""
    args: dict[str, Any] = {
        **SUPPORT,
        "scaling": {"replicas": 1},
        "model": {**MODEL, "base_url": ""},
        "labels": {},
        "annotations": {},
        "container": {
            "env": [
                {"name": "GREETING", "value": ""},
                {"name": "KEY", "value_from": {"secret_key_ref": {"name": "", "key": "k"}}},
            ],
            "env_from": [{"config_map_ref": {"name": ""}}],
        },
        "pod": {"security": {"service_account": {"annotations": {}}}},
        "network": {"ingress_from": [{"namespace": ""}]},
        "storage": {
            "volumes": [
                {"name": "index", "size": "1Gi", "mount_path": "/a"},
                {"name": "old", "mount_path": "/b"},
            ]
        },
        "secrets": [{"name": "token", "ref": "", "key": "k", "env": "TOKEN"}],
    }
    for value, path in PLACES.items():
        here: Any = args
        for part in path[:-1]:
            here = here[part]
        here[path[-1]] = wrap(value)
    return args


def known(value: str) -> Any:
    return pulumi.Output.from_input(value)


@pytest.fixture(autouse=True)
def as_quiet_as_the_host_of_programs() -> None:
    """Pulumi leaves futures behind when a program fails; its host of programs silences asyncio."""
    logging.getLogger("asyncio").setLevel(logging.CRITICAL)


def by_role(recorded: Recorder) -> dict[str, dict[str, Any]]:
    return {HASH.sub("", name).rstrip("-"): inputs for name, inputs in recorded.inputs.items()}


def test_an_agent_with_outputs_renders_as_with_their_values() -> None:
    """But for what is named by its content: the two must never delete each other's objects."""
    with_values = by_role(deploy(lambda: Agent("support", arguments(str))))
    with_outputs = by_role(deploy(lambda: Agent("support", arguments(known))))
    assert with_outputs.keys() == with_values.keys()
    differences = {
        (role, ".".join(map(str, path)))
        for role in with_values
        for path in differing([with_values[role], with_outputs[role]])
    }
    revision = "metadata.annotations.holdfast.dev/revision"
    pod = "spec.template"
    assert differences == {
        ("support-config", "metadata.name"),
        ("support-config", revision),
        ("support-prompt", "metadata.name"),
        ("support-prompt", revision),
        ("support-deployment", revision),
        ("support-deployment", f"{pod}.metadata.annotations.holdfast.dev/config-hash"),
        ("support-deployment", f"{pod}.spec.volumes.0.configMap.name"),
        ("support-deployment", f"{pod}.spec.volumes.1.configMap.name"),
    }


def test_no_stand_in_is_left_in_any_object() -> None:
    recorded = deploy(lambda: Agent("support", arguments(known)))
    assert "late-" not in str(recorded.inputs)
    assert "late-" not in str(sorted(recorded.inputs))


def test_resources_are_named_alike_whatever_the_outputs_become() -> None:
    names = [
        set(deploy(partial(labelled_agent, team)).inputs) for team in ("blue", "green", "late-0-a")
    ]
    assert names[0] == names[1] == names[2]


def labelled_agent(team: str) -> Agent:
    given: Any = {**arguments(known), "labels": {"team": known(team)}}
    return Agent("support", given)


@pytest.mark.parametrize(
    "path", PLACES.values(), ids=[".".join(map(str, p)) for p in PLACES.values()]
)
def test_a_single_output_changes_what_its_value_would_change(path: tuple[str | int, ...]) -> None:
    value = next(each for each, place in PLACES.items() if place == path)
    plain = by_role(deploy(lambda: Agent("support", arguments(str))))
    late = by_role(
        deploy(
            lambda: Agent("support", arguments(lambda each: known(each) if each == value else each))
        )
    )
    assert plain.keys() == late.keys()
    assert plain["support-serviceaccount"] == late["support-serviceaccount"]
    assert plain["support-networkpolicy"] == late["support-networkpolicy"]


SHAPE = {
    "a count": ({"scaling": {"replicas": known}}, "scaling.replicas", "a number decides"),
    "a switch": (
        {"pod": {"security": {"automount_token": known}}},
        "pod.security.automount_token",
        "a switch decides",
    ),
    "a kind": ({"type": known}, "type", "a choice decides"),
    "a name of a volume": (
        {"storage": {"volumes": [{"name": known, "size": "1Gi", "mount_path": "/a"}]}},
        "storage.volumes[0].name",
        "it identifies an entry",
    ),
    "a whole mapping": ({"labels": known}, "labels", "each text in it may be an output"),
    "a whole list": ({"secrets": known}, "secrets", "each text in it may be an output"),
    "a duration": ({"budget": {"timeout": known}}, "budget.timeout", "it is computed with"),
    "a declared model": (
        {"model": {"ref": known}},
        "model.ref",
        "it refers to another declared resource",
    ),
    "an unknown field": ({"lables": known}, "lables", "no field of this name"),
}


@pytest.mark.parametrize(("given", "field", "says"), SHAPE.values(), ids=list(SHAPE))
def test_an_output_that_decides_the_shape_is_refused_by_name(
    given: dict[str, Any], field: str, says: str
) -> None:
    with pytest.raises(ArgumentsError) as raised:
        deploy(lambda: Agent("support", cast("Any", {**SUPPORT, **_called(given)})))
    [fault] = raised.value.faults
    assert fault.path == field
    assert says in fault.reason
    assert "use a value that the program knows" in fault.reason


def _called(value: Any) -> Any:
    if value is known:
        return known("x")
    if isinstance(value, dict):
        return {key: _called(each) for key, each in value.items()}
    return [_called(each) for each in value] if isinstance(value, list) else value


def test_a_fleet_that_declares_its_namespaces_must_know_their_names() -> None:
    def program() -> None:
        agents: Any = {"one": {**SUPPORT, "namespace": known("cx")}}
        Fleet("fleet", {"agents": agents})

    with pytest.raises(ArgumentsError, match=r"agents\.one\.namespace: .*which objects there are"):
        deploy(program)


def test_a_fleet_in_existing_namespaces_takes_their_names_as_outputs() -> None:
    def program() -> None:
        namespace = known("cx")
        bare = {key: value for key, value in SUPPORT.items() if key != "storage"}
        first = {**bare, "namespace": namespace, "depends_on": [{"name": "two", "wait": False}]}
        agents: Any = {"one": first, "two": {**bare, "namespace": namespace}}
        Fleet("fleet", {"agents": agents, "namespaces": "existing"})

    recorded = deploy(program)
    variables = recorded.inputs["one-deployment"]["spec"]["template"]["spec"]["containers"][0][
        "env"
    ]
    assert {"name": "TWO_URL", "value": "http://two.cx.svc:8080"} in variables
    assert recorded.inputs["two-deployment"]["metadata"]["namespace"] == "cx"


INVALID = {
    "upper case": ({"namespace": known}, "CX", "namespace"),
    "not text": ({"namespace": known}, 3, "namespace"),
    "no digest": ({"image": known}, "Registry.example/x", "image"),
    "a label with a space": ({"labels": {"team": known}}, "a b", "labels.team"),
}


@pytest.mark.parametrize(("given", "value", "field"), INVALID.values(), ids=list(INVALID))
def test_an_output_with_an_invalid_value_ends_the_run_and_names_the_field(
    given: dict[str, Any],
    value: Any,
    field: str,
) -> None:
    with pytest.raises(ArgumentsError) as raised:
        deploy(lambda: Agent("support", cast("Any", {**SUPPORT, **_with(given, value)})))
    assert {fault.path for fault in raised.value.faults} == {field}
    assert isinstance(raised.value, pulumi.RunError)


def _with(given: dict[str, Any], value: Any) -> dict[str, Any]:
    return {
        key: _with(each, value) if isinstance(each, dict) else pulumi.Output.from_input(value)
        for key, each in given.items()
    }


def test_the_value_of_a_secret_is_in_no_error() -> None:
    def program() -> None:
        Agent("support", {**SUPPORT, "namespace": pulumi.Output.secret("Not-A-Namespace")})

    with pytest.raises(ArgumentsError) as raised:
        deploy(program)
    assert "namespace" in str(raised.value)
    assert "Not-A" not in str(raised.value)


def test_a_value_that_changes_the_rules_of_the_network_is_right_in_them() -> None:
    for address in ("http://vlm.inference-a.svc:8000/v1", "http://vlm.inference-b.svc/v1"):
        plain, late = (
            by_role(deploy(partial(agent_with_model, address, wrap))) for wrap in (str, known)
        )
        assert plain["support-networkpolicy"]["spec"] == late["support-networkpolicy"]["spec"]


def agent_with_model(address: str, wrap: Callable[[str], Any]) -> Agent:
    model: Any = {**MODEL, "base_url": wrap(address)}
    return Agent("support", {**SUPPORT, "model": model})


def test_parts_alone_take_outputs_too() -> None:
    def program() -> None:
        agent: Any = {"name": "other", "namespace": known("team")}
        security: Any = {"service_account": {"annotations": {"a/b": known("c")}}}
        AgentIdentity("other-identity", {"agent": agent, "pod": {"security": security}})
        volume: Any = {"name": "d", "size": "1Gi", "mount_path": "/d"}
        AgentStorage("other-storage", {"agent": agent, "storage": {"volumes": [volume]}})

    recorded = deploy(program)
    metadata = recorded.inputs["other-serviceaccount"]["metadata"]
    assert metadata["namespace"] == "team"
    assert metadata["annotations"]["a/b"] == "c"
    assert recorded.inputs["other-claim-d"]["metadata"]["namespace"] == "team"


def test_an_object_depends_on_the_resource_whose_output_it_holds() -> None:
    def program() -> None:
        role = AgentIdentity("role", cast("Any", {"agent": {"name": "role", "namespace": "cx"}}))
        Agent("support", cast("Any", {**SUPPORT, "owner": role.service_account_name}))

    recorded = deploy(program)
    assert (
        recorded.inputs["support-deployment"]["metadata"]["labels"]["holdfast.dev/owner"] == "role"
    )


def test_awaitables_are_outputs() -> None:
    async def later() -> str:
        await asyncio.sleep(0)
        return "cx"

    recorded = deploy(lambda: Agent("support", cast("Any", {**SUPPORT, "namespace": later()})))
    assert recorded.inputs["support-deployment"]["metadata"]["namespace"] == "cx"
