"""What a stack's state records, decoded: the same as the engine sends, and nothing secret told."""

import json
from typing import Any

import pytest
from google.protobuf import json_format, struct_pb2
from holdfast_policies.decode.properties import (
    SECRET_SIGNATURE,
    SIGNATURE_KEY,
    UNKNOWN_TEXTS,
    decode_properties,
)
from holdfast_policies.decode.recorded import decode_recorded
from holdfast_policies.decode.unknown import UndeterminedError, is_unknown
from holdfast_policies.evaluation import judge
from holdfast_policies.evaluation.profile import profile_of
from holdfast_policies.model.subject import Subject
from hypothesis import given
from hypothesis import strategies as st

LEAVES = (
    st.none()
    | st.booleans()
    | st.integers(-(2**50), 2**50)
    | st.text(max_size=8)
    | st.floats(-1, 1)
)
KEYS = st.text(max_size=6).filter(lambda key: not key.startswith("__"))
JSON = st.recursive(
    LEAVES | st.sampled_from(sorted(UNKNOWN_TEXTS)),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(KEYS, inner, max_size=4),
    max_leaves=20,
)


def plain(value: Any) -> Any:
    """The decoded value with unknowns written out, to be compared."""
    if is_unknown(value):
        return "(unknown)"
    if isinstance(value, dict):
        return {key: plain(item) for key, item in dict.items(value)}
    if isinstance(value, list):
        return [plain(item) for item in list.__iter__(value)]
    return value


@given(st.dictionaries(KEYS, JSON, max_size=4))
def test_a_state_says_what_a_request_says(properties: dict[str, Any]) -> None:
    """Law: for what both can hold, the two decoders agree."""
    struct = struct_pb2.Struct()
    json_format.ParseDict(properties, struct)
    assert plain(decode_recorded(properties)) == plain(decode_properties(struct))


def secret(**content: str) -> dict[str, str]:
    return {SIGNATURE_KEY: SECRET_SIGNATURE, **content}


def test_an_encrypted_value_cannot_be_determined_and_the_others_can() -> None:
    recorded = decode_recorded({"data": {"a": secret(ciphertext="v1:xyz"), "b": "plain"}})
    assert recorded["data"]["b"] == "plain"
    with pytest.raises(UndeterminedError) as raised:
        recorded["data"]["a"]
    assert raised.value.path == "data.a"


def test_a_secret_in_plain_text_is_judged_and_never_shown() -> None:
    token = "ghp_" + "a1B2c3D4e5F6g7H8i9J0k1L2m3N4o5P6q7R8"
    env = [{"name": "TOKEN", "value": secret(plaintext=json.dumps(token))}]
    spec = {"containers": [{"name": "agent", "image": "x", "env": env}]}
    recorded = decode_recorded({"apiVersion": "v1", "kind": "Pod", "spec": spec})
    found = judge.violations(recorded, "prod")
    assert "no-literal-credentials" in {each.rule for each in found}
    assert token not in str([each.message for each in found])


def test_notes_of_the_provider_are_no_fields() -> None:
    recorded = decode_recorded({"__fieldManager": "x", "kind": "Pod", "metadata": {"__a": 1}})
    assert recorded == {"kind": "Pod", "metadata": {"__a": 1}}


@pytest.mark.parametrize("odd", [None, [], "text", 3])
def test_what_is_no_mapping_says_nothing(odd: object) -> None:
    assert decode_recorded(odd) == {}
    assert judge.violations(decode_recorded(odd), "prod") == []


def test_an_encrypted_field_leaves_the_rule_undecided() -> None:
    container = {"name": "agent", "image": secret(ciphertext="v1:x")}
    pod = decode_recorded({"apiVersion": "v1", "kind": "Pod", "spec": {"containers": [container]}})
    undecided = {
        each.ruling.rule.id: [one.path for one in each.undecided]
        for each in judge.judgements(Subject.of(pod), profile_of("prod"))
        if each.undecided
    }
    assert undecided["image-digest-pinned"] == ["spec.containers[name=agent].image"]
