"""What the next update of an object does about a finding: the risk that drift is to a deployment.

An update that changes nothing about an object sends nothing, and leaves all drift as it is; the
next one that does change it is what this is about. Before such an update Pulumi takes over what
`kubectl` wrote, without a word in its preview; what another manager or the scale subresource owns
ends in a conflict, unless the object is forced; what nobody declared stays as long as somebody else
owns it. Pure.

Source: pulumi-kubernetes 4.27, server-side apply; each answer was tried on a real API server.
"""

import re
from collections.abc import Mapping, Sequence
from typing import Any, Final

from holdfast.drift.cause.attribution import is_deployer
from holdfast.drift.finding import DriftClass, ExpectedBy, Finding, NextUpdate
from holdfast.drift.plan.replacement import needs_replacement
from holdfast.kube.managed_fields import ManagerEntry
from holdfast.kube.objects import mapping_at

_TAKEN_OVER: Final = re.compile(r"^(kubectl.*|before-first-apply)$")
_FORCE: Final = "pulumi.com/patchForce"
_OF_OBJECTS: Final = {
    DriftClass.MISSING: NextUpdate.FAILS,
    DriftClass.TERMINATING: NextUpdate.FAILS,
    DriftClass.RECREATED: NextUpdate.OVERWRITES,
    DriftClass.UNMANAGED: NextUpdate.KEEPS,
}
"""Of findings about whole objects. An update of what is gone ends in `not found`."""


def next_update_of_object(drift_class: DriftClass, *, is_recorded: bool) -> NextUpdate:
    """What the next update does about a whole object.

    Args:
        drift_class: One of those of whole objects.
        is_recorded: The last update recorded it: declared no more, it is deleted by the next one.
    """
    if drift_class is DriftClass.UNMANAGED and is_recorded:
        return NextUpdate.DELETES
    return _OF_OBJECTS[drift_class]


def next_update_of(
    finding: Finding,
    owners: Sequence[ManagerEntry],
    desired: Mapping[str, Any],
    live: Mapping[str, Any],
) -> NextUpdate:
    """What the next update of the object does about a finding.

    Args:
        finding: About the object or one of its fields.
        owners: Entries of managedFields that own the field; none for whole objects.
        desired: The declaration.
        live: The object as it is.
    """
    if finding.drift_class in _OF_OBJECTS:
        return _OF_OBJECTS[finding.drift_class]
    if finding.expected_by is ExpectedBy.DECLARATION and needs_replacement(finding, live):
        is_changeable = finding.ref.kind in {"ConfigMap", "Secret"}
        return NextUpdate.REPLACES if is_changeable else NextUpdate.FAILS
    strangers = [entry for entry in owners if not is_deployer(entry.manager)]
    is_ours = all(_is_taken_over(entry) for entry in strangers)
    if finding.expected_by is not ExpectedBy.DECLARATION:
        return NextUpdate.OVERWRITES if strangers and is_ours else NextUpdate.KEEPS
    if is_ours or mapping_at(desired, "metadata", "annotations").get(_FORCE) == "true":
        return NextUpdate.OVERWRITES
    return NextUpdate.CONFLICTS


def _is_taken_over(entry: ManagerEntry) -> bool:
    return not entry.subresource and bool(_TAKEN_OVER.match(entry.manager))
