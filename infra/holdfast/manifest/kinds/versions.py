"""Versions of the manifests' schema that are read."""

from collections.abc import Mapping
from datetime import date
from typing import Final

from holdfast.manifest.types.manifest import API_VERSION

OLDER_VERSIONS: Final[Mapping[str, date]] = {}
"""Versions that a newer one replaced, each with its last day, by the word in `apiVersion`.

The first one comes with the first version after a published one: a field's name changes with a new
`apiVersion`, never within one.
"""

SUPPORTED: Final = (API_VERSION, *OLDER_VERSIONS)
"""Every version that is read, the newest first."""
