"""A write that somebody else was faster than is told from one that is refused, and done anew."""

from collections.abc import Callable
from typing import Any

import pytest
from holdfast.adapters.cluster.api_error import ApiError
from holdfast.adapters.cluster.writing import Writer, patch_object, retry_on_conflict
from holdfast.kube.objects import ObjectRef
from holdfast.kube.structure import KindEntry

from tests.unit.adapters.cluster.fake_api import Answer, FakeApi, failure

PATH = "/api/v1/namespaces/cx/configmaps/one"
REMOVAL = {"op": "remove", "path": "/data/extra"}
GUARD = {"op": "test", "path": "/metadata/resourceVersion", "value": "7"}


def refusal(status: int) -> ApiError:
    error = ApiError("PATCH /one")
    error.status = status
    return error


def answering(*answers: ApiError | str) -> tuple[Callable[[], str], list[int]]:
    """Work that fails or ends as told, the last for ever, and how often it was begun."""
    begun: list[int] = []

    def work() -> str:
        answer = answers[min(len(begun), len(answers) - 1)]
        begun.append(1)
        if isinstance(answer, ApiError):
            raise answer
        return answer

    return work, begun


def test_what_was_overtaken_is_retried() -> None:
    work, begun = answering(refusal(409), refusal(409), "done")

    assert retry_on_conflict(work, patience_seconds=30) == "done"
    assert len(begun) == 3


def test_patience_ends_but_never_before_the_second_try() -> None:
    work, begun = answering(refusal(409))

    with pytest.raises(ApiError):
        retry_on_conflict(work, patience_seconds=0)
    assert len(begun) == 2


@pytest.mark.parametrize(("conflicts", "times"), [(1, 0), (8, 1)])
def test_those_who_waits_for_long_is_reported_why_once(
    monkeypatch: pytest.MonkeyPatch, conflicts: int, times: int
) -> None:
    monkeypatch.setattr("holdfast.adapters.cluster.writing.time.sleep", lambda _: None)
    work, _ = answering(*[refusal(409)] * conflicts, "done")
    told: list[str] = []

    retry_on_conflict(work, 30, lambda: told.append("waits"))
    assert len(told) == times


@pytest.mark.parametrize("status", [400, 403, 404, 422, 500])
def test_what_is_refused_for_itself_is_not_tried_again(status: int) -> None:
    work, begun = answering(refusal(status))

    with pytest.raises(ApiError):
        retry_on_conflict(work, patience_seconds=30)
    assert len(begun) == 1


@pytest.mark.parametrize(
    ("now", "operations", "is_conflict"),
    [
        pytest.param("8", [GUARD, REMOVAL], True, id="written-in-between"),
        pytest.param("7", [GUARD, REMOVAL], False, id="not-valid"),
        pytest.param("", [GUARD, REMOVAL], True, id="gone"),
        pytest.param("8", [REMOVAL], False, id="without-a-guard"),
    ],
)
def test_a_patch_that_is_refused_is_a_conflict_where_the_version_has_moved_on(
    api: FakeApi, now: str, operations: list[dict[str, Any]], is_conflict: bool
) -> None:
    there = Answer({"metadata": {"name": "one", "resourceVersion": now}})
    api.on(PATH, failure(422, "an error in our request"), there if now else failure(404))
    ref, entry = ObjectRef("cx", "ConfigMap", "one", "v1"), KindEntry("configmaps", True, "")

    with pytest.raises(ApiError, match="an error in our request") as refused:
        patch_object(api.client(), entry, ref, operations, Writer("holdfast"))

    assert refused.value.is_conflict is is_conflict
    assert ("another client has written in between" in str(refused.value)) is is_conflict
