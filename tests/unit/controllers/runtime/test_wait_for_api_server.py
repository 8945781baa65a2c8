"""An operator that begins while the API server is away waits, and ends where that is vain."""

import pytest
from holdfast.adapters.cluster.api_error import ApiError, UnreachableError
from holdfast.adapters.cluster.backoff import STARTS
from holdfast.controllers.runtime.process import wait_for_api_server


def refusal(status: int) -> ApiError:
    error = ApiError(f"GET /apis: {status}")
    error.status = status
    return error


class Server:
    """Answers after some failures."""

    def __init__(self, *failures: Exception) -> None:
        self.failures = list(failures)
        self.rests: list[float] = []
        self.told: list[str] = []

    def begin(self) -> None:
        if self.failures:
            raise self.failures.pop(0)

    def rest(self, seconds: float) -> bool:
        self.rests.append(seconds)
        return True

    def begins(self) -> bool:
        return wait_for_api_server(self.begin, self.rest, self.told.append)


def test_waits_longer_and_longer_and_says_why() -> None:
    server = Server(UnreachableError("no answer"), refusal(503), refusal(429), refusal(500))
    assert server.begins()
    assert server.told == ["no answer", "GET /apis: 503", "GET /apis: 429", "GET /apis: 500"]
    assert server.rests == [2.0, 6.0, 18.0, STARTS.longest_seconds]


def test_what_waiting_does_not_mend_ends_it() -> None:
    with pytest.raises(ApiError, match="403"):
        Server(refusal(403)).begins()


def test_stops_when_it_is_reported_to() -> None:
    server = Server(UnreachableError("no answer"))
    assert not wait_for_api_server(server.begin, lambda _: False, server.told.append)
