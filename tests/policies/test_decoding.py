"""The engine's encoding, taken apart into plain data."""

from typing import Any

import pytest
from google.protobuf import json_format, struct_pb2
from holdfast_policies.decode.properties import SIGNATURE_KEY, decode_properties
from holdfast_policies.decode.resource import (
    is_patch,
    kind_of_token,
    stack_of_urn,
)
from holdfast_policies.decode.unknown import UndeterminedError, is_unknown
from holdfast_policies.model.kinds import Kind
from holdfast_policies.model.wording import shown

from tests.policies.rule_cases import UNKNOWN

SECRET = "1b47061264138c4ac30d75fd1eb44270"
ASSET = "c44067f5952c0a294b673a41bacd8c17"
REFERENCE = "5cf8f73096256a8f31e491e813e4eb8e"
OUTPUT = "d0e6a833031e9bbcd3f4e8bde6ca49a4"


def decode(properties: dict[str, Any]) -> dict[str, Any]:
    struct = struct_pb2.Struct()
    json_format.ParseDict(properties, struct)
    return decode_properties(struct)


def test_integral_numbers_become_ints() -> None:
    decoded = decode({"replicas": 3, "ratio": 0.5, "on": True, "none": None})
    assert decoded == {"replicas": 3, "ratio": 0.5, "on": True, "none": None}
    assert type(decoded["replicas"]) is int
    assert decoded["on"] is True


def test_plain_data_is_plain() -> None:
    decoded = decode({"spec": {"items": [{"a": "b"}]}})
    assert type(decoded["spec"]) is dict
    assert type(decoded["spec"]["items"]) is list


def test_secrets_become_their_values() -> None:
    assert decode({"data": {SIGNATURE_KEY: SECRET, "value": {"token": "x"}}}) == {
        "data": {"token": "x"}
    }


def test_a_secret_compares_as_itself_and_is_never_written() -> None:
    value = decode({"image": {SIGNATURE_KEY: SECRET, "value": "registry.example/x"}})["image"]
    assert value == "registry.example/x"
    assert value.startswith("registry.example/")
    for written in (str(value), f"{value}", f"{value!r}", shown(value), shown([{"a": value}])):
        assert "registry" not in written


def test_an_unknown_within_a_secret_stays_unknown() -> None:
    with pytest.raises(UndeterminedError) as caught:
        decode({"data": {"token": {SIGNATURE_KEY: SECRET, "value": UNKNOWN}}})["data"]["token"]
    assert caught.value.path == "data.token"


@pytest.mark.parametrize(
    "signed",
    [
        pytest.param({SIGNATURE_KEY: OUTPUT}, id="output-without-value"),
        pytest.param({SIGNATURE_KEY: REFERENCE, "urn": "x"}, id="resource-reference"),
        pytest.param({SIGNATURE_KEY: "from-the-future"}, id="signature-of-the-future"),
    ],
)
def test_what_cannot_be_taken_apart_is_unknown(signed: dict[str, Any]) -> None:
    assert is_unknown(dict.get(decode({"value": signed}), "value"))


def test_an_output_with_a_value_is_its_value() -> None:
    assert decode({"value": {SIGNATURE_KEY: OUTPUT, "value": 3}}) == {"value": 3}


def test_an_asset_is_no_map_of_ours() -> None:
    assert decode({"value": {SIGNATURE_KEY: ASSET, "text": "x"}}) == {"value": {}}


def test_an_unknown_knows_its_path() -> None:
    decoded = decode({"spec": {"containers": [{"name": "agent", "image": UNKNOWN}, UNKNOWN]}})
    with pytest.raises(UndeterminedError) as caught:
        decoded["spec"]["containers"][0]["image"]
    assert caught.value.path == "spec.containers[name=agent].image"
    with pytest.raises(UndeterminedError) as caught:
        decoded["spec"]["containers"][1]
    assert caught.value.path == "spec.containers[1]"


@pytest.mark.parametrize(
    ("token", "kind"),
    [
        ("kubernetes:apps/v1:Deployment", Kind("apps", "Deployment")),
        ("kubernetes:core/v1:Pod", Kind("", "Pod")),
        ("kubernetes:agents.x-k8s.io/v1beta1:Sandbox", Kind("agents.x-k8s.io", "Sandbox")),
        ("kubernetes:apps/v1:DeploymentPatch", Kind("apps", "Deployment")),
        ("pulumi:pulumi:Stack", None),
        ("pulumi:providers:kubernetes", None),
        ("kubernetes:yaml:ConfigFile", None),
        ("aws:s3/bucket:Bucket", None),
    ],
)
def test_a_type_token_says_the_kind(token: str, kind: Kind | None) -> None:
    assert kind_of_token(token) == kind


def test_a_patch_is_reported_by_its_token() -> None:
    assert is_patch("kubernetes:apps/v1:DeploymentPatch")
    assert not is_patch("kubernetes:apps/v1:Deployment")
    assert not is_patch("other:index:Patch")


@pytest.mark.parametrize(
    ("urn", "stack"),
    [
        ("urn:pulumi:dev::holdfast::kubernetes:core/v1:Pod::agent", "dev"),
        ("urn:pulumi:eu-1::p::t::n", "eu-1"),
        ("", ""),
        ("something else", ""),
    ],
)
def test_a_urn_names_its_stack(urn: str, stack: str) -> None:
    assert stack_of_urn(urn) == stack
