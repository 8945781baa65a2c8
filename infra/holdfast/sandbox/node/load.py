"""Load images from archives into a running real node, under names that manifests use."""

import json
import subprocess
import tarfile
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from holdfast.errors import ExitCode, SandboxError
from holdfast.sandbox.node.requirements import SYSTEM_PATH, system_program
from holdfast.sandbox.node.settings import CONTAINERD_SOCKET, read_settings, settings_file
from holdfast.sandbox.node.supervise import first_process
from holdfast.sandbox.paths import SandboxPaths
from holdfast.sandbox.process import is_running
from holdfast.sandbox.programs import NODE
from holdfast.sandbox.record import read_record

IMPORT_SECONDS = 300.0
_NAMES = ("io.containerd.image.name", "org.opencontainers.image.ref.name")


@dataclass(frozen=True, slots=True)
class ArchivedImage:
    """An image that an archive holds.

    Attributes:
        name: Its name, with registry and tag.
        digest: Digest of its manifest or index; empty in archives of Docker's older format.
    """

    name: str
    digest: str

    @property
    def reference(self) -> str:
        """The name by digest, where it is known."""
        repository, _, tag = self.name.partition("@")[0].rpartition(":")
        bare = repository if repository and "/" not in tag else self.name.partition("@")[0]
        return f"{bare}@{self.digest}" if self.digest else self.name


def archived_images(archive: Path) -> tuple[ArchivedImage, ...]:
    """The images that an archive names, as OCI or Docker write it.

    Raises:
        SandboxError: it is no such archive, or names no image (exit code 2).
    """
    try:
        with tarfile.open(archive) as tar:
            index = _member(tar, "index.json")
            manifest = _member(tar, "manifest.json")
    except (OSError, tarfile.TarError, ValueError) as error:
        message = f"{archive} is no archive of an image: {error}"
        remedy = "write one with 'docker save', or 'holdfast sandbox images build'"
        raise SandboxError(message, remedy=remedy, exit_code=ExitCode.BAD_INPUT) from error
    found = [*_of_index(index or {}), *_of_docker(manifest or [])]
    images = {image.name: image for image in reversed(found)}
    if not images:
        message = f"{archive} names no image"
        remedy = "save it by its name and tag, not by its id"
        raise SandboxError(message, remedy=remedy, exit_code=ExitCode.BAD_INPUT)
    return tuple(reversed(images.values()))


def load_archive(
    place: SandboxPaths, archive: Path, other_names: Sequence[str] = ()
) -> tuple[str, ...]:
    """Import an archive into a sandbox's node; return the references that pods may use now.

    Args:
        place: A sandbox whose real node runs.
        archive: OCI or Docker archive.
        other_names: References, also by another digest, under which its first image is found, too.

    Raises:
        SandboxError: no real node runs, the file is no archive, or containerd refuses it.
    """
    images = archived_images(archive)
    command = _ctr_in_node(place)
    with archive.open("rb") as content:
        _run([*command, "images", "import", "--local", "-"], stdin=content.fileno())
    references = []
    for image in images:
        names = [image.name, image.reference]
        names += other_names if image is images[0] else ()
        for name in dict.fromkeys(names):
            if name != image.name:
                _run([*command, "images", "tag", "--force", image.name, name])
            references.append(name)
    return tuple(references)


def _ctr_in_node(place: SandboxPaths) -> list[str]:
    record = read_record(place)
    process = record.processes.get(NODE.name) if record and record.has_node else None
    if process is None or not is_running(process):
        raise SandboxError(
            f"sandbox {place.name} has no real node that runs; simulated nodes need no images",
            remedy=f"run 'holdfast sandbox up --node --name {place.name}'",
        )
    first = first_process(first_process(process.pid))
    ctr = read_settings(settings_file(place)).program("ctr")
    enter = [str(system_program("nsenter")), f"--target={first}", "--mount", "--"]
    return [*enter, ctr, "--address", CONTAINERD_SOCKET, "--namespace", "k8s.io"]


def _run(command: list[str], stdin: int = subprocess.DEVNULL) -> None:
    done = subprocess.run(
        command,
        stdin=stdin,
        capture_output=True,
        text=True,
        check=False,
        timeout=IMPORT_SECONDS,
        env={"PATH": SYSTEM_PATH},
    )
    if done.returncode:
        message = f"containerd refused the image: {done.stderr.strip()[-500:]}"
        raise SandboxError(message, remedy="see 'holdfast sandbox logs containerd'")


def _member(tar: tarfile.TarFile, name: str) -> Any:  # noqa: ANN401 - JSON of two layouts
    try:
        content = tar.extractfile(name)
    except KeyError:
        return None
    return json.loads(content.read()) if content else None


def _of_index(index: dict[str, Any]) -> list[ArchivedImage]:
    found = []
    for entry in index.get("manifests", ()):
        annotations = entry.get("annotations") or {}
        name = next((annotations[key] for key in _NAMES if annotations.get(key)), "")
        # `org.opencontainers.image.ref.name` may be a tag alone.
        if "/" in name or ":" in name:
            found.append(ArchivedImage(name, entry["digest"]))
    return found


def _of_docker(manifest: list[dict[str, Any]]) -> list[ArchivedImage]:
    names = [name for entry in manifest for name in entry.get("RepoTags") or ()]
    return [ArchivedImage(name, "") for name in names]
