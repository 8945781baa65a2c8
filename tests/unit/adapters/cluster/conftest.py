from collections.abc import Iterator

import pytest
from holdfast.adapters.cluster import backoff
from holdfast.adapters.cluster.backoff import Backoff

from tests.unit.adapters.cluster.fake_api import FakeApi, fake_api


@pytest.fixture
def api(monkeypatch: pytest.MonkeyPatch) -> Iterator[FakeApi]:
    """A fake API server; retries do not wait."""
    monkeypatch.setattr(backoff, "REQUESTS", Backoff(0.0, 0.0))
    monkeypatch.setattr(backoff, "STREAMS", Backoff(0.0, 0.0))
    with fake_api() as running:
        yield running
