"""Kinds of agents' objects: one whose definition is installed later is noticed, once."""

from collections.abc import Iterable, Iterator
from dataclasses import replace
from typing import cast

import pytest
from holdfast.adapters.cluster.changes import WatchedKind
from holdfast.adapters.cluster.cluster_watch import ClusterWatch
from holdfast.adapters.cluster.kinds import served_kinds
from holdfast.controllers.operator.informers import InformerSet

from tests.unit.adapters.cluster.fake_api import Answer, FakeApi, fake_api

ROLLOUT = ("argoproj.io/v1alpha1", "Rollout")
SERVED = Answer({"resources": [{"name": "rollouts", "kind": "Rollout", "namespaced": True}]})


class Watch:
    """Stands for the streams."""

    def __init__(self) -> None:
        self.followed: list[WatchedKind] = []

    def follow(self, kinds: Iterable[WatchedKind]) -> None:
        self.followed += kinds


@pytest.fixture
def api() -> Iterator[FakeApi]:
    with fake_api() as fake:
        yield fake


def informers(api: FakeApi) -> tuple[InformerSet, Watch]:
    made, watch = InformerSet(api.client(), "dev"), Watch()
    made._watch = cast("ClusterWatch", watch)
    return made, watch


def test_a_definition_that_is_installed_later_is_news_once(api: FakeApi) -> None:
    made, watch = informers(api)
    made.follow([ROLLOUT])
    [kind] = watch.followed
    assert (kind.entry, made.kinds) == (None, {}), "not served yet"
    assert not made.learn_late(kind), "still not served"

    api.on("/apis/argoproj.io/v1alpha1", SERVED)
    planned = replace(kind, entry=served_kinds(api.client(), [ROLLOUT])[ROLLOUT])
    assert made.learn_late(planned)
    assert made.kinds[ROLLOUT].plural == "rollouts"
    assert not made.learn_late(planned)


def test_a_kind_that_was_served_from_the_start_is_no_news(api: FakeApi) -> None:
    api.on("/apis/argoproj.io/v1alpha1", SERVED)
    made, watch = informers(api)
    made.follow([ROLLOUT])
    made.follow([ROLLOUT])
    [kind] = watch.followed
    assert kind.entry is not None
    assert not made.learn_late(kind)
