"""What a scan saw, whole: the declaration with the live values of its findings."""

from holdfast.drift.scan import observed_objects

from tests.unit.drift.objects import CONTAINER, DEPLOYMENT, edit, findings, live_of


def test_without_findings_it_is_the_declaration() -> None:
    assert list(observed_objects([DEPLOYMENT], [])) == [DEPLOYMENT]


def test_what_was_changed_added_and_removed_is_as_it_was_found() -> None:
    edits = {
        f"{CONTAINER}.image": "evil:1",
        CONTAINER.replace("agent", "tap"): {"name": "tap", "image": "t:1"},
    }
    live = live_of(DEPLOYMENT, edits)
    assert list(observed_objects([DEPLOYMENT], findings(DEPLOYMENT, live))) == [
        edit(DEPLOYMENT, edits)
    ]
