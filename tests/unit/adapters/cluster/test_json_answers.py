"""Answers that are cut short: asked for again, and in the end an error with its path."""

from typing import Any

import pytest
from holdfast.adapters.cluster.json_answers import get_json, written_object
from holdfast.adapters.cluster.kinds import served_kinds
from holdfast.errors import ClusterError

from tests.unit.adapters.cluster.fake_api import Answer, FakeApi

CUT = Answer(b'{"kind": "Status", "mess')


def test_a_broken_answer_is_asked_for_again(api: FakeApi) -> None:
    api.on("/api/v1/x", CUT, Answer({"a": 1}))
    assert get_json(api.client(), "/api/v1/x", of=dict[str, Any]) == {"a": 1}
    assert api.paths() == ["/api/v1/x"] * 2


def test_one_that_stays_broken_is_an_error_and_no_traceback(api: FakeApi) -> None:
    api.on("/api/v1/x", CUT)
    with pytest.raises(ClusterError, match="GET /api/v1/x: an unreadable answer"):
        get_json(api.client(), "/api/v1/x", of=dict[str, Any])


def test_discovery_survives_one(api: FakeApi) -> None:
    resource = {"name": "widgets", "kind": "Widget", "namespaced": True}
    api.on("/apis/x.test/v1", CUT, Answer({"resources": [resource]}))
    found = served_kinds(api.client(), [("x.test/v1", "Widget")])
    assert found["x.test/v1", "Widget"].plural == "widgets"


def test_after_a_write_nothing_is_known() -> None:
    with pytest.raises(ClusterError, match="the answer to a write is unreadable"):
        written_object(b'{"kind"', "PATCH /api/v1/x")
