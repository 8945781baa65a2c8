"""Which objects of a state an update keeps, and how its record names them."""

import msgspec
import pytest
from holdfast.adapters.engine.state.checkpoint import Deployment, RecordedResource
from holdfast.adapters.engine.state.history import Change
from holdfast.adapters.engine.state.kept_objects import KeptObject, kept_by_update, named_in
from holdfast.adapters.engine.update_record import UpdateRecord, kept_of, message_of, record_of
from holdfast.errors import InputError
from holdfast.kube.objects import Identity, ObjectRef

CLAIM = ObjectRef("cx", "PersistentVolumeClaim", "one-data", "v1")
URN = "urn:pulumi:dev::p::kubernetes:core/v1:PersistentVolumeClaim::one-claim-data"
DECLARED = Identity("", "PersistentVolumeClaim", "cx", "one-data")


def state(*, is_retained: bool = True, is_protected: bool = True) -> Deployment:
    """A state with one claim."""
    live = {
        "apiVersion": "v1",
        "kind": "PersistentVolumeClaim",
        "metadata": {"name": "one-data", "namespace": "cx", "uid": "u-1"},
    }
    resource = RecordedResource(
        URN,
        "kubernetes:core/v1:PersistentVolumeClaim",
        custom=True,
        answer=msgspec.Raw(msgspec.json.encode(live)),
        protect=is_protected,
        retain_on_delete=is_retained,
    )
    return Deployment((resource,))


@pytest.mark.parametrize("is_protected", [True, False])
def test_a_retained_object_that_is_no_longer_declared_is_kept(*, is_protected: bool) -> None:
    [kept] = kept_by_update(state(is_protected=is_protected), set(), set())
    assert kept == KeptObject(CLAIM, "u-1", URN, is_protected)


def test_nothing_is_kept_that_is_declared_or_not_retained() -> None:
    assert kept_by_update(state(), {DECLARED}, {("PersistentVolumeClaim", "one-claim-data")}) == ()
    assert kept_by_update(state(is_retained=False), set(), set()) == ()
    assert kept_by_update(None, set(), set()) == ()


def test_data_do_not_move_to_another_namespace() -> None:
    with pytest.raises(InputError, match=r"cx/one-data cannot move to another namespace"):
        kept_by_update(state(), set(), {("PersistentVolumeClaim", "one-claim-data")})


def test_the_engines_history_says_what_was_kept() -> None:
    kept = (
        str(KeptObject(CLAIM, "u-1")),
        str(KeptObject(ObjectRef("", "Namespace", "cx", "v1"), "2")),
    )
    record = UpdateRecord(action="up", stack="dev", outcome="succeeded", kept=kept, reason="why")
    change = Change(kind="update", result="succeeded", message=message_of(record))
    read = record_of(change, "dev")
    assert read is not None
    assert (read.kept, read.reason) == (kept, "why")
    assert [(each.reference.name, each.uid) for each in named_in(read.kept)] == [
        ("one-data", "u-1"),
        ("cx", "2"),
    ]


def test_a_reason_forges_no_record_of_what_was_kept() -> None:
    forged = "x\nHoldfast-Kept: PersistentVolumeClaim cx/mine v1 u-9"
    record = UpdateRecord(action="up", stack="dev", outcome="succeeded", reason=forged)
    assert kept_of(Change(kind="update", message=message_of(record))) == ()


@pytest.mark.parametrize("words", ["", "one two", "a b c d e"])
def test_what_names_no_object_is_left_out(words: str) -> None:
    assert list(named_in((words,))) == []
