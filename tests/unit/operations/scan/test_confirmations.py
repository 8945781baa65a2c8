"""What confirms a recreated object, so that it is no drift any more."""

from dataclasses import dataclass
from typing import Any

import pytest
from holdfast.adapters.engine.state.history import Change
from holdfast.adapters.engine.update_record import DONE, UpdateRecord
from holdfast.errors import EngineError
from holdfast.operations.scan.confirmations import Confirmations

CREATED = "2026-11-21T10:00:00Z"
SECONDS = 1795255200
LIVE: dict[str, Any] = {
    "metadata": {
        "uid": "new",
        "creationTimestamp": CREATED,
        "labels": {"holdfast.dev/agent": "support"},
    }
}


@dataclass(frozen=True)
class StubHistory:
    """The changes of a stack, each saved ten seconds after its start."""

    changes: tuple[Change, ...]

    @property
    def saved_seconds(self) -> list[float]:
        return [each.start_time + 10.0 for each in self.changes]

    def change(self, position: int) -> Change:
        return self.changes[position]


def change(seconds: int, kind: str = "update", result: str = "succeeded") -> Change:
    return Change(kind, result, SECONDS + seconds)


def action(name: str, started_at: str, **fields: Any) -> UpdateRecord:
    fields = {"agents": ("support",), "seconds": 20.0, **fields}
    return UpdateRecord(action=name, stack="dev", outcome=DONE, started_at=started_at, **fields)


@pytest.mark.parametrize(
    ("changes", "records", "is_confirmed"),
    [
        pytest.param((change(5),), (), True, id="an update that began afterwards"),
        pytest.param((change(-5),), (), False, id="created while an update ran"),
        pytest.param((change(5, result="failed"),), (), False, id="a failed update"),
        pytest.param((change(-9), change(5, "refresh")), (), False, id="a refresh"),
        pytest.param((), (action("revert", CREATED, confirmed=("new",)),), True, id="our revert"),
        pytest.param((), (action("revert", CREATED, confirmed=("old",)),), False, id="of another"),
        pytest.param((), (action("recreate", "2026-11-21T09:59:50Z"),), True, id="our recreation"),
        pytest.param((), (action("recreate", "2026-11-21T09:00:00Z"),), False, id="an earlier one"),
        pytest.param(
            (),
            (action("recreate", CREATED, agents=("other",)),),
            False,
            id="a recreation of another agent",
        ),
        pytest.param((), (action("restart", CREATED),), False, id="an action that creates nothing"),
    ],
)
def test_a_recreated_object_is_confirmed_by_an_update_or_an_action_of_ours(
    changes: tuple[Change, ...], records: tuple[UpdateRecord, ...], is_confirmed: bool
) -> None:
    history: Any = StubHistory(changes)
    assert Confirmations(lambda: history, lambda: records)(LIVE) is is_confirmed


def test_what_cannot_be_read_confirms_nothing() -> None:
    def fail() -> Any:
        raise EngineError("the backend is away")

    assert not Confirmations(fail, tuple)(LIVE)
