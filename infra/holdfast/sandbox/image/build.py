"""Build the sandbox's image as an archive."""

import tempfile
from pathlib import Path
from typing import Final

from holdfast.sandbox.image.oci_archive import ImageConfig, write_archive
from holdfast.sandbox.image.rootfs import ENTRYPOINT, make_rootfs

REPOSITORY: Final = "sandbox.holdfast.dev/agent"
TAG: Final = "local"


def build_image(archive: Path) -> str:
    """Write the image's archive; return its reference with the digest.

    Raises:
        SandboxError: this machine lacks a program that belongs to the image.
        OSError: a file cannot be read or written.
    """
    archive.parent.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(prefix="holdfast-image-") as folder:
        root = Path(folder, "root")
        root.mkdir()
        make_rootfs(root)
        digest = write_archive(
            root, archive, f"{REPOSITORY}:{TAG}", ImageConfig(entrypoint=ENTRYPOINT)
        )
    return f"{REPOSITORY}@{digest}"
