"""Objects of any shape: a scan reports what it can and stumbles over nothing."""

from typing import Any

from holdfast.drift.context import DriftContext
from holdfast.drift.exemption.controllers import Autoscalers
from holdfast.drift.scan import DriftJudge, LiveState
from holdfast.kube.objects import KubeObject, reference_of
from holdfast.report.documents.drift import drift_json
from holdfast.report.text.drift_text import drift_text
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from tests.unit.drift.populated import KINDS, populated_object

anything = st.recursive(
    st.one_of(st.none(), st.booleans(), st.integers(), st.floats(), st.text(max_size=4)),
    lambda inner: st.one_of(
        st.lists(inner, max_size=3),
        st.dictionaries(
            st.sampled_from(["name", "spec", "metadata", "containers", "key", "value", ""]),
            inner,
            max_size=3,
        ),
    ),
    max_leaves=10,
)
METADATA = ("labels", "annotations", "managedFields", "ownerReferences", "finalizers", "uid")


Spoilt = list[tuple[list[int], Any]]
spoilings = st.lists(st.tuples(st.lists(st.integers(0, 40), max_size=9), anything), max_size=3)
odd_metadata = st.dictionaries(st.sampled_from(METADATA), anything, max_size=2)


def spoilt(kind: tuple[str, str], spoiling: Spoilt, metadata: dict[str, Any]) -> KubeObject:
    """A populated object with nonsense in some places, each found by a walk of the numbers."""
    one = populated_object(*kind)
    for steps, nonsense in spoiling:
        place: Any = one
        for step in steps:
            keys = list(range(len(place))) if isinstance(place, list) else sorted(place)
            keys = [key for key in keys if key not in {"apiVersion", "kind", "metadata"}]
            if not keys:
                break
            key = keys[step % len(keys)]
            if step == steps[-1] or not isinstance(place[key], dict | list):
                place[key] = nonsense
                break
            place = place[key]
    one["metadata"].update(metadata)
    return one


@given(
    st.sampled_from(KINDS),
    st.tuples(spoilings, odd_metadata),
    st.tuples(spoilings, odd_metadata),
    st.booleans(),
)
@settings(
    max_examples=300,
    deadline=None,
    derandomize=True,
    suppress_health_check=[HealthCheck.too_slow, HealthCheck.data_too_large],
)
def test_no_object_is_too_odd_to_be_judged(
    kind: tuple[str, str],
    declared: tuple[Spoilt, dict[str, Any]],
    found: tuple[Spoilt, dict[str, Any]],
    has_baseline: bool,
) -> None:
    desired, live = spoilt(kind, *declared), spoilt(kind, *found)
    identity = reference_of(desired).identity
    context = DriftContext(
        autoscalers=Autoscalers([desired]),
        baseline={identity: desired} if has_baseline else None,
    )
    report = DriftJudge([desired], context, "dev").report(LiveState({identity: live}))
    assert drift_json(report)
    assert drift_text(report)


def test_an_object_nested_beyond_measure_is_not_checked_and_the_others_are() -> None:
    deep: Any = "x"
    for _ in range(5000):
        deep = {"a": deep}
    shallow = populated_object("v1", "ConfigMap")
    agent = {
        "apiVersion": "x.test/v1",
        "kind": "Agent",
        "metadata": {"name": "a"},
        "spec": {"a": 1},
    }
    live = {**agent, "spec": deep}
    objects = {reference_of(one).identity: one for one in (shallow, live)}
    context = DriftContext(autoscalers=Autoscalers(()))
    report = DriftJudge([shallow, agent], context).report(LiveState(objects))
    assert report.findings == ()
    assert [item.scope for item in report.not_checked] == ["Agent a"]
