"""Write a folder as an image of one layer: an OCI archive, the same bytes for the same files.

Neither a registry nor a container engine takes part. Source: OCI image format 1.0, containerd's
annotation for the name under which an archive is imported.
"""

import hashlib
import io
import json
import os
import platform
import tarfile
import tempfile
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

ARCHITECTURES = {"x86_64": "amd64", "aarch64": "arm64"}
SEARCH_PATH = "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin"
_TYPE = "application/vnd.oci.image"
_NAME_ANNOTATION = "io.containerd.image.name"
_BLOCK_BYTES = 1 << 20


@dataclass(frozen=True, slots=True)
class ImageConfig:
    """How containers of an image start.

    Attributes:
        entrypoint: Command line; empty when each pod names its own.
        user: Number of the user; the kubelet refuses names where root is forbidden.
        environment: Variables besides PATH.
        labels: Labels of the image.
    """

    entrypoint: tuple[str, ...] = ()
    user: str = "65532"
    environment: tuple[tuple[str, str], ...] = ()
    labels: tuple[tuple[str, str], ...] = ()


def write_archive(folder: Path, archive: Path, name: str, config: ImageConfig) -> str:
    """Write an archive of a folder; return the image's digest, `sha256:...`.

    Args:
        folder: The root of the image's files; owners and times do not count.
        archive: File to write; replaced in one step.
        name: Name under which a node finds the image, `host/path:tag`.
        config: How its containers start.

    Raises:
        OSError: a file cannot be read or written.
    """
    with tempfile.TemporaryDirectory(dir=archive.parent, prefix=".image-") as scratch:
        layer = Path(scratch) / "layer.tar"
        _write_layer(folder, layer)
        layer_digest = _digest_of(layer)
        configuration = _json(_configuration(config, layer_digest))
        manifest = _json(
            {
                "schemaVersion": 2,
                "mediaType": f"{_TYPE}.manifest.v1+json",
                "config": _descriptor(f"{_TYPE}.config.v1+json", configuration),
                "layers": [
                    {
                        "mediaType": f"{_TYPE}.layer.v1.tar",
                        "digest": layer_digest,
                        "size": layer.stat().st_size,
                    }
                ],
            }
        )
        entry = _descriptor(f"{_TYPE}.manifest.v1+json", manifest)
        entry["annotations"] = {_NAME_ANNOTATION: name}
        index = _json({"schemaVersion": 2, "manifests": [entry]})
        written = Path(scratch) / "archive.tar"
        with tarfile.open(written, "w") as tar:
            _add_bytes(tar, "oci-layout", b'{"imageLayoutVersion":"1.0.0"}')
            _add_bytes(tar, "index.json", index)
            for blob in (configuration, manifest):
                _add_bytes(tar, f"blobs/sha256/{hashlib.sha256(blob).hexdigest()}", blob)
            tar.add(
                layer, f"blobs/sha256/{layer_digest.removeprefix('sha256:')}", filter=_anonymous
            )
        written.replace(archive)
    return str(entry["digest"])


def _write_layer(folder: Path, layer: Path) -> None:
    with tarfile.open(layer, "w") as tar:
        for path in _files(folder):
            tar.add(path, str(path.relative_to(folder)), recursive=False, filter=_anonymous)


def _files(folder: Path) -> Iterator[Path]:
    for parent, folders, files in os.walk(folder):
        folders.sort()
        yield from (Path(parent, name) for name in sorted([*folders, *files]))


def _anonymous(member: tarfile.TarInfo) -> tarfile.TarInfo:
    member.uid = member.gid = 0
    member.uname = member.gname = ""
    member.mtime = 0
    return member


def _configuration(config: ImageConfig, layer_digest: str) -> dict[str, Any]:
    machine = platform.machine()
    environment = [("PATH", SEARCH_PATH), *config.environment]
    started: dict[str, Any] = {
        "User": config.user,
        "Env": [f"{name}={value}" for name, value in environment],
    }
    if config.entrypoint:
        started["Entrypoint"] = list(config.entrypoint)
    if config.labels:
        started["Labels"] = dict(config.labels)
    return {
        "architecture": ARCHITECTURES.get(machine, machine),
        "os": "linux",
        "config": started,
        "rootfs": {"type": "layers", "diff_ids": [layer_digest]},
    }


def _descriptor(media_type: str, content: bytes) -> dict[str, Any]:
    digest = f"sha256:{hashlib.sha256(content).hexdigest()}"
    return {"mediaType": media_type, "digest": digest, "size": len(content)}


def _digest_of(file: Path) -> str:
    digest = hashlib.sha256()
    with file.open("rb") as content:
        while block := content.read(_BLOCK_BYTES):
            digest.update(block)
    return f"sha256:{digest.hexdigest()}"


def _json(content: dict[str, Any]) -> bytes:
    return json.dumps(content, separators=(",", ":")).encode()


def _add_bytes(tar: tarfile.TarFile, name: str, content: bytes) -> None:
    member = tarfile.TarInfo(name)
    member.size = len(content)
    tar.addfile(member, io.BytesIO(content))
