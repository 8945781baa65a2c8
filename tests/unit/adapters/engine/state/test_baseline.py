"""A small world: changes happen to a stack one after the other, and a history remembers them."""

import json
from dataclasses import dataclass, field
from typing import Any

import msgspec
import pytest
from holdfast.adapters.engine.state.baseline import Baseline, choose_baseline
from holdfast.adapters.engine.state.checkpoint import Deployment, PendingOperation, RecordedResource
from holdfast.adapters.engine.state.history import Change, position_covering
from hypothesis import given
from hypothesis import strategies as st

REFRESHED = {"pulumi.flag.refresh": "set"}


def timestamp(seconds: float) -> str:
    return f"2026-11-21T18:{int(seconds) // 60:02}:{seconds % 60:09.6f}Z"


EPOCH = 1795284000.0
"""2026-11-21T18:00:00Z."""


@dataclass
class World:
    """A stack whose objects hold one word each; every change takes ten seconds."""

    seconds: float = 0.0
    state: dict[str, RecordedResource] = field(default_factory=dict)
    changes: list[tuple[Change, float, Deployment | None]] = field(default_factory=list)
    interrupted: tuple[PendingOperation, ...] = ()

    def up(self, *, result: str = "succeeded", refresh: bool = False, **wanted: str) -> None:
        """Ask for objects with these words; what is recorded so already is left alone."""
        before = dict(self.state)
        for name, word in wanted.items():
            if name in self.state and self.state[name].inputs == msgspec.Raw(inputs(name, word)):
                continue
            self._record(name, word, asked=word, uid=f"uid-{name}-{int(self.seconds)}")
        for name in before.keys() - wanted.keys():
            del self.state[name]
        self._end("update", result, REFRESHED if refresh else {})

    def refresh(self, **found: str) -> None:
        """Record what is live now; the inputs stay, as the engine keeps what it cannot compare."""
        self.drift(**found)
        self._end("refresh", "succeeded", {})

    def drift(self, **found: str) -> None:
        for name, word in found.items():
            old = self.state[name]
            there = old.kubernetes_object()
            assert there is not None
            self._record(name, word, uid=there.uid, created=old.created, raw=old.inputs)

    def destroy(self, environment: dict[str, str] | None = None) -> None:
        self._end("destroy", "succeeded", environment or {})

    def forget_checkpoints(self, *, but_newest: bool = False) -> None:
        kept = self.changes[-1][2] if but_newest else None
        self.changes = [(change, seconds, None) for change, seconds, _ in self.changes]
        self.changes[-1] = (*self.changes[-1][:2], kept)

    def _record(
        self, name: str, word: str, *, uid: str, asked: str = "", created: str = "", raw: Any = None
    ) -> None:
        now = timestamp(self.seconds + 5)
        self.state[name] = RecordedResource(
            urn=f"urn::{name}",
            type="kubernetes:core/v1:ConfigMap",
            custom=True,
            inputs=msgspec.Raw(inputs(name, asked)) if raw is None else raw,
            answer=msgspec.Raw(answer(name, word, uid)),
            created=created or now,
            modified=now,
        )

    def _end(self, kind: str, result: str, environment: dict[str, str]) -> None:
        change = Change(kind, result, int(EPOCH + self.seconds), environment)
        self.seconds += 10
        left = Deployment(tuple(self.state.values()))
        self.changes.append((change, EPOCH + self.seconds, left))

    # What a history has to offer.

    @property
    def saved_seconds(self) -> tuple[float, ...]:
        return tuple(seconds for _, seconds, _ in self.changes)

    def change(self, position: int) -> Change:
        return self.changes[position][0]

    def checkpoint(self, position: int) -> Deployment | None:
        return self.changes[position][2]

    def pending(self) -> tuple[PendingOperation, ...]:
        return self.interrupted


def inputs(name: str, word: str) -> bytes:
    return json.dumps({"metadata": {"name": name}, "data": {"word": word}}).encode()


def answer(name: str, word: str, uid: str) -> bytes:
    metadata = {"name": name, "uid": uid}
    live = {"apiVersion": "v1", "kind": "ConfigMap", "metadata": metadata, "data": {"word": word}}
    return json.dumps(live).encode()


def words(baseline: Baseline) -> dict[str, str]:
    return {each.reference.name: each.object["data"]["word"] for each in baseline.objects}


@pytest.fixture
def world() -> World:
    return World()


def test_is_what_the_last_update_recorded(world: World) -> None:
    world.up(a="one", b="two")
    world.up(a="three", b="two")

    baseline = choose_baseline(world)

    assert words(baseline) == {"a": "three", "b": "two"}
    assert baseline.updated_seconds == EPOCH + 20
    assert baseline.exists
    assert baseline.later_changes == ()


def test_is_not_what_a_refresh_recorded(world: World) -> None:
    world.up(a="one")
    world.refresh(a="evil")

    baseline = choose_baseline(world)

    assert words(baseline) == {"a": "one"}
    assert [change.kind for change in baseline.later_changes] == ["refresh"]


def test_says_what_a_refresh_recorded_instead(world: World) -> None:
    world.up(a="one", b="two")
    assert choose_baseline(world).rewritten == ()

    world.refresh(a="evil")
    (recorded,) = choose_baseline(world).rewritten
    assert recorded["data"] == {"word": "evil"}

    world.up(a="one", b="three")
    assert [each["data"]["word"] for each in choose_baseline(world).rewritten] == ["evil"]

    world.up(a="four", b="three")
    assert choose_baseline(world).rewritten == ()


def test_is_not_what_a_refresh_recorded_and_an_update_carried_on(world: World) -> None:
    world.up(a="one", b="two")
    world.refresh(a="evil")
    world.up(a="one", b="two")
    world.up(a="one", b="two")

    assert words(choose_baseline(world)) == {"a": "one", "b": "two"}


def test_is_not_what_an_update_that_refreshes_first_carried_on(world: World) -> None:
    world.up(a="one")
    world.drift(a="evil")
    world.up(a="one", refresh=True)

    assert words(choose_baseline(world)) == {"a": "one"}


def test_is_what_an_update_that_refreshes_first_changed(world: World) -> None:
    world.up(a="one")
    world.drift(a="evil")
    world.up(a="two", refresh=True)

    assert words(choose_baseline(world)) == {"a": "two"}


def test_is_not_what_a_failed_update_recorded(world: World) -> None:
    world.up(a="one")
    world.up(a="two", result="failed")

    baseline = choose_baseline(world)

    assert words(baseline) == {"a": "one"}
    assert [change.succeeded for change in baseline.later_changes] == [False]


def test_names_the_objects_that_only_a_failed_update_has_deployed(world: World) -> None:
    world.up(a="one")
    world.up(a="one", b="two", result="failed")

    unfinished = choose_baseline(world).unfinished

    assert [each.reference.name for each in unfinished] == ["b"]
    world.up(a="one", b="two")
    assert choose_baseline(world).unfinished == ()


def test_takes_what_a_failed_update_recorded_once_a_good_one_confirms_it(world: World) -> None:
    world.up(a="one")
    world.up(a="two", result="failed")
    world.up(a="two")

    assert words(choose_baseline(world)) == {"a": "two"}


def test_says_which_objects_have_no_record_to_be_trusted(world: World) -> None:
    world.up(a="one", b="two")
    world.refresh(a="evil")
    world.forget_checkpoints()
    world.up(a="one", b="two")

    baseline = choose_baseline(world)

    assert words(baseline) == {"b": "two"}
    assert [reference.name for reference in baseline.untrusted] == ["a"]


def test_does_not_trust_a_record_that_no_change_accounts_for(world: World) -> None:
    world.up(a="one")
    world.drift(a="evil")  # somebody edits the state by hand
    world.seconds += 60
    world.forget_checkpoints()
    world.up(a="one")

    assert [reference.name for reference in choose_baseline(world).untrusted] == ["a"]


@pytest.mark.parametrize(
    "happens",
    [
        pytest.param(lambda world: world.refresh(a="evil"), id="refresh"),
        pytest.param(lambda world: world.up(a="two", b="two", result="failed"), id="failed-update"),
    ],
)
def test_of_a_backend_that_gives_out_the_newest_state_is_what_later_changes_left_alone(
    world: World, happens: Any
) -> None:
    world.up(a="one", b="two")
    happens(world)
    world.forget_checkpoints(but_newest=True)

    baseline = choose_baseline(world)

    assert words(baseline) == {"b": "two"}
    assert [reference.name for reference in baseline.untrusted] == ["a"]


def test_is_not_what_a_run_made_that_was_killed_before_it_was_recorded(world: World) -> None:
    world.up(a="one", b="two")
    world.up(a="two", b="two", c="new", result="failed")
    change, seconds, _ = world.changes[0]
    world.changes = [(change, seconds, world.changes[1][2])]

    baseline = choose_baseline(world)

    assert words(baseline) == {"b": "two"}
    assert [reference.name for reference in baseline.untrusted] == ["a", "c"]


@pytest.mark.parametrize(
    ("happens", "reason"),
    [
        pytest.param(lambda world: None, "never been updated", id="nothing"),
        pytest.param(lambda world: world.refresh(), "never been updated", id="refresh"),
        pytest.param(lambda world: world.up(result="failed"), "never been", id="failed-update"),
        pytest.param(lambda world: (world.up(a="1"), world.destroy()), "destroyed", id="destroy"),
        pytest.param(
            lambda world: (world.up(a="1"), world.forget_checkpoints()), "is gone", id="forgotten"
        ),
    ],
)
def test_says_why_there_is_none(world: World, happens: Any, reason: str) -> None:
    happens(world)

    baseline = choose_baseline(world)

    assert not baseline.exists
    assert reason in baseline.reason


def test_survives_a_destroy_of_some_resources(world: World) -> None:
    world.up(a="one")
    world.destroy({"pulumi.flag.target": "set"})

    assert words(choose_baseline(world)) == {"a": "one"}


@pytest.mark.parametrize("update", [True, False], ids=["after-an-update", "in-the-first-update"])
def test_lists_the_objects_in_the_middle_of_an_operation(world: World, update: bool) -> None:
    if update:
        world.up(a="one")
    half = {"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": "b"}}
    raw = msgspec.Raw(json.dumps(half).encode())
    world.interrupted = (PendingOperation("creating", RecordedResource("urn::b", "t", inputs=raw)),)

    assert [reference.name for reference in choose_baseline(world).pending] == ["b"]


@pytest.mark.parametrize(
    ("seconds", "position"),
    [(0, None), (10, 0), (15, 0), (20, 0), (25, None), (30, 1), (40, 1), (41, None)],
)
def test_finds_the_change_that_was_under_way(seconds: int, position: int | None) -> None:
    world = World(seconds=10)
    world.up()
    world.seconds += 10
    world.up()

    assert position_covering(world, EPOCH + seconds) == position


NAMES = st.sampled_from(["a", "b", "c"])
GOOD = st.dictionaries(NAMES, st.sampled_from(["one", "two"]), min_size=1)
HISTORIES = st.lists(
    st.one_of(
        st.tuples(st.just("up"), GOOD, st.booleans()),
        st.tuples(st.just("drift-then-up"), GOOD, st.just(True)),
        st.tuples(st.just("refresh"), st.just({}), st.booleans()),
    ),
    max_size=8,
)


@given(HISTORIES, st.booleans())
def test_never_holds_what_came_from_outside(
    history: list[tuple[str, dict[str, str], bool]], gives_out_all: bool
) -> None:
    world = World()
    for kind, wanted, refreshes in history:
        evil = dict.fromkeys(world.state, "evil")
        if kind == "refresh":
            world.refresh(**evil)
            continue
        if kind == "drift-then-up":
            world.drift(**evil)
        world.up(refresh=refreshes, **wanted)
    if world.changes and not gives_out_all:
        world.forget_checkpoints(but_newest=True)

    baseline = choose_baseline(world)

    assert "evil" not in words(baseline).values()
