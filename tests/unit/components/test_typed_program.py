"""What a type checker accepts of another team's program, and what it refuses.

`make types` checks this file as well: a comment that ignores an error which mypy does not find is
itself an error, so each refusal below is proven twice.
"""

import holdfast
import pytest
from holdfast.components.argument_errors import ArgumentsError, validated
from holdfast.components.inputs import AgentInputs

IMAGE = f"registry.example/other@sha256:{'3' * 64}"


def test_right_arguments_are_typed() -> None:
    args: holdfast.AgentArgs = {
        "namespace": "cx",
        "version": "1.0.0",
        "image": IMAGE,
        "network": {
            "ingress_from": ["peer", {"namespace": "edge"}],
            "egress": [{"agent": "other"}],
        },
        "rollout": {"max_surge": "25%"},
        "telemetry": {"traces": {"protocol": "grpc", "sampling": 1}},
    }
    assert validated("Agent x", args, AgentInputs).telemetry.traces.sampling == 1


def test_a_wrong_key_is_refused() -> None:
    args: holdfast.AgentArgs = {
        "namespace": "cx",
        "version": "1.0.0",
        "image": IMAGE,
        "rolout": {"max_surge": 1},  # type: ignore[typeddict-unknown-key]  # the point
    }
    with pytest.raises(ArgumentsError, match='did you mean "rollout"'):
        validated("Agent x", args, AgentInputs)


def test_a_wrong_word_is_refused_deep_inside() -> None:
    args: holdfast.AgentArgs = {
        "namespace": "cx",
        "version": "1.0.0",
        "image": IMAGE,
        "telemetry": {"logs": {"level": "warn"}},  # type: ignore[typeddict-item]  # the point
    }
    with pytest.raises(ArgumentsError, match='did you mean "warning"'):
        validated("Agent x", args, AgentInputs)


def test_a_missing_key_is_refused() -> None:
    args: holdfast.AgentArgs = {"namespace": "cx", "image": IMAGE}  # type: ignore[typeddict-item]  # the point
    with pytest.raises(ArgumentsError, match="add version"):
        validated("Agent x", args, AgentInputs)
