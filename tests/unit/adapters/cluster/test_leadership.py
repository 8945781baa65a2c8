"""Leader election: a leader that cannot renew says so in time, whatever becomes of the renewal."""

import threading
import time
from collections.abc import Callable, Iterator

import pytest
from holdfast.adapters.cluster.leadership import LeaderElector
from holdfast.adapters.cluster.lease import Lease
from holdfast.errors import ClusterError, InputError

from tests.unit.adapters.cluster.fake_api import Answer, FakeApi, failure

LEASES = "/apis/coordination.k8s.io/v1/namespaces/hs/leases"
ONE = f"{LEASES}/one"
WAIT_SECONDS = 10.0


def held_by(holder: str) -> Answer:
    spec = {"holderIdentity": holder, "leaseDurationSeconds": 15}
    return Answer({"metadata": {"name": "one", "resourceVersion": "1"}, "spec": spec})


class Lost:
    """What a leader does when its lease is lost: here it notes why."""

    def __init__(self) -> None:
        self.reasons: list[str] = []
        self.is_so = threading.Event()

    def __call__(self, reason: str) -> None:
        self.reasons.append(reason)
        self.is_so.set()


@pytest.fixture
def release() -> Iterator[threading.Event]:
    event = threading.Event()
    yield event
    event.set()


def elector(
    monkeypatch: pytest.MonkeyPatch,
    api: FakeApi,
    lost: Lost,
    then: Callable[[], bool],
    renew_seconds: float = 0.3,
) -> LeaderElector:
    """A leader that took the lease once; each renewal is `then`."""
    lease = Lease(api.client(), "hs", "one", "me")
    tries = iter([lambda: True])
    monkeypatch.setattr(lease, "try_to_hold", lambda _deadline: next(tries, then)())
    found = LeaderElector(lease, lost, renew_seconds=renew_seconds, retry_seconds=0.01)
    assert found.wait()
    return found


def raising(error: Exception) -> Callable[[], bool]:
    def fail() -> bool:
        raise error

    return fail


@pytest.mark.parametrize(
    ("error", "reason"),
    [
        pytest.param(ClusterError("no answer"), "no answer", id="no answer"),
        pytest.param(InputError("no such context"), "no such context", id="kubeconfig rewritten"),
        pytest.param(KeyError("metadata"), "KeyError: 'metadata'", id="defect"),
    ],
)
def test_a_renewal_that_keeps_failing_loses_the_lease_whatever_the_error(
    monkeypatch: pytest.MonkeyPatch, api: FakeApi, error: Exception, reason: str
) -> None:
    lost = Lost()
    found = elector(monkeypatch, api, lost, raising(error))
    assert lost.is_so.wait(WAIT_SECONDS)
    assert not found.is_held
    assert found.was_lost
    assert lost.reasons == [reason]


def test_a_renewal_that_hangs_loses_the_lease_at_the_deadline(
    monkeypatch: pytest.MonkeyPatch, api: FakeApi, release: threading.Event
) -> None:
    lost, begun = Lost(), threading.Event()

    def hang() -> bool:
        begun.set()
        release.wait(WAIT_SECONDS * 2)
        return True

    found = elector(monkeypatch, api, lost, hang)
    assert begun.wait(WAIT_SECONDS)
    assert lost.is_so.wait(WAIT_SECONDS), "the deadline passes while the request hangs"
    release.set()
    assert not found.is_held, "a renewal that comes too late changes nothing"
    assert len(lost.reasons) == 1


def test_a_lease_that_another_process_took_is_lost_at_once(
    monkeypatch: pytest.MonkeyPatch, api: FakeApi
) -> None:
    lost = Lost()
    found = elector(monkeypatch, api, lost, lambda: False, renew_seconds=3600.0)
    assert lost.is_so.wait(WAIT_SECONDS)
    assert lost.reasons == ["another process holds the lease"]
    assert not found.is_held


def test_an_attempt_with_all_its_requests_ends_at_the_deadline(
    api: FakeApi, release: threading.Event
) -> None:
    """GET is answered, PUT never: one attempt may not outlive the deadline of the renewal."""
    api.on(ONE, held_by("me"), Answer(b"", hold=release))
    lease = Lease(api.client(), "hs", "one", "me")
    begun = time.monotonic()
    with pytest.raises(ClusterError):
        lease.try_to_hold(begun + 0.3)
    assert time.monotonic() - begun < 3.0
    assert [method for method, *_ in api.requests] == ["GET", "PUT"]


def test_who_waits_goes_on_waiting_whatever_the_error(api: FakeApi) -> None:
    lost, reasons = Lost(), list[str]()
    api.on(ONE, failure(401), held_by("another"), held_by(""))
    found = LeaderElector(Lease(api.client(), "hs", "one", "me"), lost, retry_seconds=0.0)
    assert found.wait(reasons.append)
    assert "does not accept the credentials" in reasons[0]
    assert reasons[1] == "another process holds the lease"
    assert found.is_held
    found.release()
    assert not found.is_held
    assert lost.reasons == []


def test_a_lease_that_was_lost_is_not_given_back(
    monkeypatch: pytest.MonkeyPatch, api: FakeApi
) -> None:
    lost = Lost()
    found = elector(monkeypatch, api, lost, lambda: False)
    assert lost.is_so.wait(WAIT_SECONDS)
    found.release()
    assert api.requests == []
