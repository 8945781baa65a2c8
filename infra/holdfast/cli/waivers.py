"""PolicyException manifests as the policy pack's waivers. Wiring between two vocabularies."""

from collections.abc import Iterator
from pathlib import Path

from holdfast_policies.waivers import Waiver, compiled

from holdfast.errors import ManifestError, SourceLocation
from holdfast.manifest.fleet import Fleet

WAIVERS_FILE = "policy-pack/waivers.yaml"


def waivers_of(fleet: Fleet) -> tuple[Waiver, ...]:
    """Every declared exception, in the pack's words."""
    return tuple(
        Waiver(
            name=each.name,
            rules=each.spec.rules,
            kind=each.spec.target.kind,
            namespace=each.spec.target.namespace,
            object_name=each.spec.target.name,
            reason=each.spec.reason,
            owner=each.spec.owner,
            ticket=each.spec.ticket,
            approver=each.spec.approver,
            expires=each.spec.expires,
        )
        for each in fleet.policy_exceptions
    )


def faults_of_compiled(root: Path, fleet: Fleet) -> Iterator[ManifestError]:
    """The compiled waivers where they are not what the manifests declare.

    The pack reads the compiled file only: one that lags behind grants what nobody grants any more.
    """
    file = root / WAIVERS_FILE
    written = file.read_text(encoding="utf-8") if file.exists() else compiled(())
    if file.parent.is_dir() and written != compiled(waivers_of(fleet)):
        yield ManifestError(
            SourceLocation(WAIVERS_FILE),
            "",
            expected="expected the exceptions that agents/ declares",
            remedy="run `holdfast policy waivers --write`",
        )
