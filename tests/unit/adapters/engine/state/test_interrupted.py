"""What a killed run has left is taken out of a state, and what it was changing is not trusted."""

from typing import Any

import pytest
from holdfast.adapters.engine.state.interrupted import without_pending

WEB = "urn:pulumi:dev::fleet::kubernetes:apps/v1:Deployment::web"
API = "urn:pulumi:dev::fleet::kubernetes:apps/v1:Deployment::api"


def state(*pending: tuple[str, str]) -> dict[str, Any]:
    return {
        "manifest": {"version": "v3"},
        "resources": [{"urn": WEB, "inputs": {"kind": "Deployment"}}, {"urn": API}],
        "pending_operations": [{"type": kind, "resource": {"urn": urn}} for kind, urn in pending],
    }


def not_done(deployment: dict[str, Any]) -> list[str]:
    return [each["urn"] for each in deployment["resources"] if each.get("initErrors")]


@pytest.mark.parametrize(
    ("pending", "expected"),
    [
        pytest.param([("updating", WEB)], [WEB], id="changed"),
        pytest.param([("updating", WEB), ("updating", API)], [WEB, API], id="both changed"),
        pytest.param([("creating", "urn:other")], [], id="created, and not in the state"),
        pytest.param([("deleting", WEB)], [], id="deleted"),
        pytest.param([("updating", "urn:gone")], [], id="not in the state"),
        pytest.param([], [], id="nothing"),
    ],
)
def test_what_was_being_changed_is_marked_as_not_done(
    pending: list[tuple[str, str]], expected: list[str]
) -> None:
    mended = without_pending(state(*pending))

    assert not_done(mended) == expected
    assert "pending_operations" not in mended
    assert mended["manifest"] == {"version": "v3"}
    assert [{**each, "initErrors": None} for each in mended["resources"]] == [
        {**each, "initErrors": None} for each in state()["resources"]
    ]


def test_a_state_that_nobody_left_half_done_stays_as_it_is() -> None:
    whole = {"resources": [{"urn": WEB}]}

    assert without_pending(whole) == whole
    assert without_pending(without_pending(state(("updating", WEB)))) == without_pending(
        state(("updating", WEB))
    )
