"""What is declared is read anew when the resources have changed, and been quiet for a moment."""

from collections.abc import Iterable
from io import StringIO

import pytest
from holdfast.adapters.cluster.changes import Planned, Snapshot, WatchedKind, WatchScope
from holdfast.adapters.cluster.client import ApiClient
from holdfast.adapters.cluster.kind_reader import Listing
from holdfast.adapters.cluster.kubeconfig import Connection
from holdfast.controllers.operator import desired_state
from holdfast.controllers.operator.agent_store import AgentStore
from holdfast.controllers.operator.desired_state import DesiredStateCache
from holdfast.controllers.operator.informers import ALWAYS, InformerSet
from holdfast.controllers.runtime.log import Logger, Output
from holdfast.errors import ClusterError
from holdfast.kube.objects import KubeObject, ObjectRef, reference_of

from tests.unit.controllers.operator.resources import (
    STACK,
    declare_again,
    deployed,
    named,
    verdicts,
)

HELPER = ("ops", "k8s-helper")


def logger(stream: StringIO) -> Logger:
    return Logger(Output(errors=stream).note, as_json=True)


class Heard:
    """A cluster of which everything was read."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setattr(desired_state, "SETTLING_SECONDS", 0.0)
        self.log, self.store = StringIO(), AgentStore()
        following = InformerSet(ApiClient(Connection("http://127.0.0.1:1")), STACK)
        self.followed: set[tuple[str, str]] = set()
        self.is_away = False
        monkeypatch.setattr(following, "follow", self.follow)
        self.declaring = DesiredStateCache(STACK, self.store, following, verdicts, logger(self.log))
        self.resources = deployed()
        self.settings = next(one for one in self.resources if one["kind"] == "ConfigMap")
        for one in self.resources:
            self.hear(one)

    def declare(self) -> None:
        """The deployer declares the resources as they are now."""
        for one in declare_again(self.resources):
            one["metadata"] |= {"uid": "again", "generation": len(self.store.versions)}
            self.hear(one)

    def follow(self, kinds: Iterable[tuple[str, str]]) -> None:
        if self.is_away:
            raise ClusterError("no answer")
        self.followed |= set(kinds)

    def read_all(self) -> None:
        for version, name in ALWAYS:
            kind = WatchedKind(None, (ObjectRef("", name, "", version),))
            scope = WatchScope(kind, name)
            self.store.take(Planned(kind, (scope,)))
            self.store.take(Snapshot(scope, Listing(unchanged=set(self.store.versions)), 0.0))

    def hear(self, one: KubeObject) -> bool:
        version = len(self.store.versions) + 1
        one["metadata"]["resourceVersion"] = str(version)
        self.store.put(reference_of(one).identity, one)
        return self.declaring.has_changed(reference_of(one).identity, one)


def test_nothing_is_declared_before_everything_was_read(monkeypatch: pytest.MonkeyPatch) -> None:
    cluster = Heard(monkeypatch)
    assert cluster.declaring.renew() == []
    assert cluster.declaring.current is None
    cluster.read_all()
    assert HELPER in cluster.declaring.renew()
    assert ("apps/v1", "Deployment") in cluster.followed


def test_only_agents_that_are_declared_otherwise_are_reported(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    cluster = Heard(monkeypatch)
    cluster.read_all()
    cluster.declaring.renew()
    helper = named(cluster.resources, "k8s-helper")
    helper["status"] = {"phase": "Ready"}
    assert not cluster.hear(helper)
    assert cluster.declaring.renew() == []
    helper["spec"]["version"], helper["metadata"]["generation"] = "9.9.9", 2
    assert cluster.hear(helper)
    cluster.declare()
    assert cluster.declaring.renew() == [HELPER]


def test_what_was_declared_goes_on_while_the_settings_cannot_be_read(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    cluster = Heard(monkeypatch)
    cluster.read_all()
    cluster.declaring.renew()
    before = cluster.declaring.current
    good = dict(cluster.settings["data"])
    cluster.settings["data"]["environment.json"] = "{]"
    cluster.settings["metadata"]["generation"] = 2
    cluster.hear(cluster.settings)
    cluster.declare()
    assert cluster.declaring.renew() == []
    assert cluster.declaring.current is before
    assert "holds no settings" in cluster.declaring.problem
    assert cluster.declaring.problem in cluster.log.getvalue()
    cluster.settings["data"] = good
    cluster.settings["metadata"]["generation"] = 3
    cluster.hear(cluster.settings)
    cluster.declare()
    cluster.declaring.renew()
    assert cluster.declaring.problem == ""


def test_a_cluster_that_does_not_say_how_a_kind_is_called_is_asked_again(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(desired_state, "ASKED_AGAIN_SECONDS", 0.0)
    cluster = Heard(monkeypatch)
    cluster.read_all()
    cluster.is_away = True
    assert cluster.declaring.renew() == cluster.declaring.renew() == []
    assert cluster.declaring.problem == "no answer"
    assert cluster.log.getvalue().count("no answer") == 1
    assert cluster.declaring.current is None
    cluster.is_away = False
    assert HELPER in cluster.declaring.renew()
    assert cluster.declaring.problem == ""


def test_a_burst_is_waited_for_but_not_without_an_end(monkeypatch: pytest.MonkeyPatch) -> None:
    cluster = Heard(monkeypatch)
    cluster.read_all()
    monkeypatch.setattr(desired_state, "SETTLING_SECONDS", 3600.0)
    assert cluster.declaring.renew() == []
    monkeypatch.setattr(desired_state, "LONGEST_SETTLING_SECONDS", 0.0)
    assert HELPER in cluster.declaring.renew()


def test_a_resource_that_is_gone_leaves_nothing_behind(monkeypatch: pytest.MonkeyPatch) -> None:
    cluster = Heard(monkeypatch)
    helper = named(cluster.resources, "k8s-helper")
    identity = reference_of(helper).identity
    remembered = len(cluster.declaring._prints)
    assert cluster.declaring.has_changed(identity, None)
    assert len(cluster.declaring._prints) == remembered - 1
    assert not cluster.declaring.has_changed(identity, None)


def test_a_resource_that_the_renderer_cannot_take_keeps_what_was_declared(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    cluster = Heard(monkeypatch)
    cluster.read_all()
    cluster.declaring.renew()
    before = cluster.declaring.current

    def defect(*_: object) -> None:
        raise KeyError("replicas")

    monkeypatch.setattr(cluster.declaring._renderer, "declaration", defect)
    cluster.declaring.expire()
    assert cluster.declaring.renew() == []
    assert cluster.declaring.current is before
    assert cluster.declaring.problem.startswith("KeyError")
