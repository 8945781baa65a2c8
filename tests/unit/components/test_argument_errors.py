from typing import Any

import pulumi
import pytest
from holdfast.components.argument_errors import (
    ArgumentsError,
    CamelCaseArguments,
    validated,
    whole_numbers,
)
from holdfast.components.inputs import AgentInputs
from hypothesis import given
from hypothesis import strategies as st

IMAGE = f"registry.example/other@sha256:{'3' * 64}"
GOOD: dict[str, Any] = {"namespace": "cx", "version": "1.0.0", "image": IMAGE}
PLACE = {"name": "other", "namespace": "cx"}


def faults(args: dict[str, Any], model: type[Any] = AgentInputs) -> list[str]:
    with pytest.raises(ArgumentsError) as raised:
        validated("Agent other", args, model)
    return [f"{each.path}: {each.reason}" for each in raised.value.faults]


FAULTS = [
    pytest.param(
        GOOD | {"version": "1.0"},
        'version: version must be a semantic version such as "1.4.0" or "2.0.0-rc.1", got \'1.0\'',
        id="a value",
    ),
    pytest.param(
        {key: GOOD[key] for key in ("namespace", "image")},
        "version: this field is required; add version",
        id="a missing field",
    ),
    pytest.param(
        GOOD | {"storage": {"volumes": [{"name": "data", "size": "1Gi"}]}},
        "storage.volumes[0].mount_path: this field is required; add mount_path",
        id="a missing field of two words, as Python spells it",
    ),
    pytest.param(
        CamelCaseArguments(GOOD | {"storage": {"volumes": [{"name": "data", "size": "1Gi"}]}}),
        "storage.volumes[0].mountPath: this field is required; add mountPath",
        id="a missing field of two words, as other languages spell it",
    ),
    pytest.param(
        GOOD | {"network": {"ingres_from": []}},
        "network.ingres_from: expected a known field, got 'ingres_from'; "
        'did you mean "ingressFrom"?',
        id="an unknown field",
    ),
    pytest.param(
        GOOD | {"telemetry": {"logs": {"level": "warn"}}},
        "telemetry.logs.level: expected 'debug', 'info', 'warning' or 'error', "
        "got the text 'warn'; did you mean \"warning\"?",
        id="a word out of a list",
    ),
    pytest.param(
        GOOD | {"scaling": {"replicas": 2.5}},
        "scaling.replicas: expected an integer, got the number 2.5",
        id="half a replica",
    ),
    pytest.param(
        GOOD | {"version": 1.0},
        "version: expected text, got the number 1; put it in quotes",
        id="a number where text is meant",
    ),
    pytest.param(
        GOOD | {"image": "registry.example/other@sha256:0"},
        "image: ",
        id="an image with half a digest",
    ),
]


@pytest.mark.parametrize(("args", "says"), FAULTS)
def test_a_fault_names_its_path_as_the_caller_spells_it(args: dict[str, Any], says: str) -> None:
    found = faults(args)
    assert len(found) == 1
    assert found[0].startswith(says)


def test_every_fault_stands_in_one_error_under_the_component() -> None:
    with pytest.raises(ArgumentsError) as raised:
        validated("Agent other", {"namespace": "CX", "version": "1"}, AgentInputs)
    lines = str(raised.value).splitlines()
    assert lines[0] == "Agent other: invalid arguments"
    assert [line.split(":")[0].strip() for line in lines[1:]] == ["namespace", "version"]


def test_ends_a_program_without_a_traceback() -> None:
    assert issubclass(ArgumentsError, pulumi.RunError)


def test_both_spellings_are_taken() -> None:
    snake = GOOD | {"pod": {"security": {"read_only_root_filesystem": False}}}
    camel = GOOD | {"pod": {"security": {"readOnlyRootFilesystem": False}}}
    assert validated("a", snake, AgentInputs) == validated("a", camel, AgentInputs)


def test_whole_numbers_that_came_as_floats_are_whole_again_wherever_they_stand() -> None:
    args = GOOD | {
        "scaling": {"replicas": 3.0},
        "pod": {"security": {"pod_security_context": {"runAsUser": 9.0}}},
    }
    model = validated("a", args, AgentInputs)
    assert repr(model.scaling.replicas) == "3"
    assert repr(model.pod.security.pod_security_context) == "{'runAsUser': 9}"


JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False) | st.text(),
    lambda inner: st.lists(inner) | st.dictionaries(st.text(), inner),
    max_leaves=20,
)


@given(JSON)
def test_making_numbers_whole_changes_no_value(value: object) -> None:
    assert whole_numbers(value) == value
    assert whole_numbers(whole_numbers(value)) == whole_numbers(value)
