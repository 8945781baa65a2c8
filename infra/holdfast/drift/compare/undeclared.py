"""Judge what the declaration does not mention: a default, the server's own, or drift.

The order: the server's own fields; what the baseline had; who owns it; and for what nobody owns,
whether it can be a default. Admission leaves no owner, exactly like a default does, so an unowned
list item or a value other than the default is drift that admission is held to have made.
"""

from collections.abc import Iterator
from dataclasses import replace

from holdfast.drift.cause.ownership import Ownership
from holdfast.drift.compare.comparison import compare_at
from holdfast.drift.compare.difference import Difference
from holdfast.drift.exemption.server_owned import is_server_owned
from holdfast.kube.defaults import ALLOCATED
from holdfast.kube.objects import ObjectRef
from holdfast.kube.paths import ABSENT, value_at


def undeclared_drift(
    ref: ObjectRef,
    difference: Difference,
    ownership: Ownership,
) -> Iterator[Difference]:
    """What of an undeclared difference is drift: nothing, itself, or parts of it.

    Args:
        ref: The object.
        difference: A difference in what nobody declared.
        ownership: Who owns the object's fields, and how it was after the last good update.
    """
    if difference.desired is ALLOCATED and not ownership.names(str(difference.path[-1])):
        return  # nearly every undeclared difference is one that the server allocated
    owners = ownership.owners_of(difference.path)
    managers = [entry.manager for entry in owners]
    if is_server_owned(ref, difference, managers, dict(ownership.desired)):
        return
    baseline = ownership.normal_baseline
    before = value_at(baseline, difference.path) if baseline is not None else ABSENT
    if before is not ABSENT:
        # The baseline says what was there: only what moved since then can be drift, and what an
        # update has passed over.
        since = list(compare_at(difference.position.undeclared(), before, difference.live))
        for moved in since:
            if _is_drift(moved, ownership, has_baseline=True):
                yield replace(moved, is_from_baseline=True)
        if not since and ownership.is_of_strangers(difference.path):
            yield difference
    elif _is_drift(difference, ownership, has_baseline=baseline is not None):
        yield difference


def _is_drift(difference: Difference, ownership: Ownership, *, has_baseline: bool) -> bool:
    if ownership.owners_of(difference.path):
        return True
    if difference.desired is ALLOCATED:
        return False
    if ownership.is_wiped:
        # Who wiped the record may also have made the object: its creation proves nothing.
        return True
    if not has_baseline and ownership.is_as_created(difference.path):
        return False
    return difference.position.is_known
