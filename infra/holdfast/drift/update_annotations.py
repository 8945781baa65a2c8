"""Marks of an update, put beside what is rendered.

What its pods mount, which commit it deployed, how often a check was tried. They are fields like
others: the update's record has their values.
"""

from typing import Final

from holdfast.kube.paths import Path
from holdfast.manifest.types.marks import ATTEMPT, COMMIT, MOUNTED_HASH

_OF_PODS: Final = ("spec", "template", "metadata", "annotations")
UPDATE_ANNOTATIONS: Final[tuple[Path, ...]] = (
    (*_OF_PODS, MOUNTED_HASH),
    ("metadata", "annotations", COMMIT),
    (*_OF_PODS, ATTEMPT),
)
