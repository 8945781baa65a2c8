"""PolicyException manifests as the policy pack's waivers."""

from collections.abc import Iterator
from pathlib import Path

from holdfast_policies.waivers import compiled

from holdfast.adapters.files import write_atomically
from holdfast.errors import ManifestError, SourceLocation
from holdfast.manifest.fleet.fleet import Fleet
from holdfast.manifest.fleet.loader import load_fleet
from holdfast.render.objects.admission import waivers_of

WAIVERS_FILE = "policy-pack/waivers.yaml"


def faults_of_compiled(root: Path, fleet: Fleet) -> Iterator[ManifestError]:
    """The compiled waivers where they are not what the manifests declare.

    The pack reads the compiled file only: one that lags behind grants what is granted no more.
    """
    file = root / WAIVERS_FILE
    written = file.read_text(encoding="utf-8") if file.exists() else compiled(())
    if file.parent.is_dir() and written != compiled(waivers_of(fleet)):
        yield ManifestError(
            SourceLocation(WAIVERS_FILE),
            "",
            expected="expected the exceptions that agents/ declares",
            remedy="run `holdfast validate --write-waivers`",
        )


def compiled_waivers(root: Path) -> str:
    """The exceptions that a project declares, as the policy pack reads them.

    Raises:
        InvalidFilesError: the manifests are not valid.
    """
    return compiled(waivers_of(load_fleet(root, None)))


def write_waivers(root: Path) -> None:
    """Write them where the policy pack reads them."""
    write_atomically(root / WAIVERS_FILE, compiled_waivers(root))
