"""Where a live object is not what was rendered for it, whoever did it: for comparing two clusters.

More than drift: what admission, defaults or a controller made of an object in one cluster and not
in the other is a difference between environments, though nobody is to blame for it. Pure.
"""

from collections.abc import Iterator, Mapping
from typing import Any

from holdfast.drift.cause.ownership import Ownership
from holdfast.drift.compare.comparison import compare
from holdfast.drift.exemption.autoscaling import REPLICAS
from holdfast.drift.exemption.server_owned import is_server_owned
from holdfast.drift.masking import mask_pair
from holdfast.drift.object_drift import DriftContext
from holdfast.kube.defaults import ALLOCATED
from holdfast.kube.normalisation import normalise_object
from holdfast.kube.objects import KubeObject, ObjectRef
from holdfast.kube.paths import Path


def deviations_of(
    ref: ObjectRef, desired: KubeObject, live: Mapping[str, Any], context: DriftContext
) -> Iterator[tuple[Path, Any, Any]]:
    """Path, rendered value and live value of each deviation, masked; None where there is none.

    Without what every cluster chooses for itself: addresses, names of volumes, replicas within an
    autoscaler's range.
    """
    wanted = normalise_object(desired)
    ownership = Ownership(wanted, live)
    for each in compare(wanted, normalise_object(live), context.structure_of(ref, live)):
        managers = [entry.manager for entry in ownership.owners_of(each.path)]
        is_own_choice = each.desired is ALLOCATED or (
            each.path == REPLICAS and context.autoscalers.range_of(ref) is not None
        )
        if is_own_choice or (not each.is_declared and is_server_owned(ref, each, managers, wanted)):
            continue
        yield (each.path, *mask_pair(desired, each.path, each.desired, each.live))
