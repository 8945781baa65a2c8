"""A controller that lost its lease stops writing, is unhealthy, and its process ends in time."""

import threading
from typing import Any

import pytest
from holdfast.adapters.cluster.client import JSON, ApiClient
from holdfast.adapters.cluster.kubeconfig import Connection
from holdfast.adapters.cluster.leadership import LeaderElector
from holdfast.controllers.runtime import leader as module
from holdfast.controllers.runtime.leader import END_SECONDS, Leader, WriteFence
from holdfast.controllers.runtime.process import end_within, host_and_port
from holdfast.errors import ClusterError, HoldfastError, InputError

PLACE = ("ops", "holdfast-prod")


class Seen:
    """What a leader logs and reports."""

    def __init__(self) -> None:
        self.lines: list[tuple[str, dict[str, Any]]] = []
        self.leads: list[bool] = []
        self.fence = WriteFence()

    def log(self, phase: str, **facts: Any) -> None:
        self.lines.append((phase, facts))

    def leader(self, place: tuple[str, str] | None) -> Leader:
        connection = Connection("http://127.0.0.1:1")
        return Leader(place, "pod-1", lambda: connection, self.log, self.leads.append, self.fence)


def test_without_a_lease_it_leads_at_once() -> None:
    seen = Seen()
    leader = seen.leader(None)
    assert leader.take()
    leader.give_back()
    assert seen.leads == [True, False]
    assert leader.problem == ""


def test_a_lost_lease_stops_all_writing_turns_health_and_ends_the_process(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    seen, ends = Seen(), list[float]()
    monkeypatch.setattr(module, "end_within", ends.append)
    before, after = (ApiClient(Connection("http://127.0.0.1:1")) for _ in range(2))
    ended: list[None] = []
    seen.fence.guard(before)
    seen.fence.when_closed(lambda: ended.append(None))
    leader = seen.leader(PLACE)
    elector = leader._elector
    assert isinstance(elector, LeaderElector)
    monkeypatch.setattr(elector, "wait", lambda _: True)
    assert leader.take()
    assert leader.problem == ""
    elector.was_lost = True
    elector._on_lost("no answer")
    assert len(ended) == 1
    for client in (before, seen.fence.guard(after)):
        with pytest.raises(ClusterError, match="is not sent: the lease was lost"):
            client.write("PATCH", "/api/v1/pods/a", b"{}", content_type=JSON)
    with pytest.raises(HoldfastError, match="nothing is written: the lease was lost"):
        seen.fence.check()
    assert seen.leads == [True, False]
    assert leader.problem == "the lease was lost"
    assert ends == [END_SECONDS]
    assert [phase for phase, _ in seen.lines] == ["lead", "lost"]


def test_it_ends_before_another_process_may_begin() -> None:
    assert 0 < END_SECONDS < 5.0


def test_a_process_that_does_not_end_by_itself_is_ended_with_an_error() -> None:
    ended, codes = threading.Event(), list[int]()

    def end(code: int) -> None:
        codes.append(code)
        ended.set()

    end_within(0.0, end)
    assert ended.wait(10.0)
    assert codes == [1]


@pytest.mark.parametrize(
    ("address", "parts"),
    [
        pytest.param(":9464", ("", 9464), id="all addresses"),
        pytest.param("127.0.0.1:0", ("127.0.0.1", 0), id="a free port"),
        pytest.param("[::1]:80", ("::1", 80), id="IPv6"),
    ],
)
def test_an_address_is_a_host_and_a_port(address: str, parts: tuple[str, int]) -> None:
    assert host_and_port("--listen", address, ":1") == parts


@pytest.mark.parametrize("address", ["", "9464", "host:", "host:http", ":65536", ":²"])
def test_anything_else_is_no_address(address: str) -> None:
    with pytest.raises(InputError, match=r"--listen '.*': expected HOST:PORT; such as :9464"):
        host_and_port("--listen", address, ":9464")


@pytest.mark.parametrize(
    ("is_free", "done"),
    [
        pytest.param(True, ["release"], id="all work has ended"),
        pytest.param(False, ["stop"], id="abandoned work may still write: the lease expires"),
    ],
)
def test_the_lease_is_given_back_only_when_nothing_is_written_any_more(
    monkeypatch: pytest.MonkeyPatch, *, is_free: bool, done: list[str]
) -> None:
    seen, calls = Seen(), list[str]()
    leader = seen.leader(PLACE)
    elector = leader._elector
    assert isinstance(elector, LeaderElector)
    for name in ("release", "stop"):
        monkeypatch.setattr(elector, name, lambda name=name: calls.append(name))
    leader.give_back(is_free=is_free)
    assert (calls, seen.leads) == (done, [False])
