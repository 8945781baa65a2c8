"""Images from archives: which names they carry, and when they cannot be loaded."""

import io
import json
import tarfile
from pathlib import Path

import pytest
from holdfast.errors import ExitCode, SandboxError
from holdfast.sandbox.node.load import ArchivedImage, archived_images, load_archive
from holdfast.sandbox.paths import SandboxPaths
from holdfast.sandbox.record import Ports, SandboxRecord, write_record

DIGEST = f"sha256:{'a' * 64}"


def archive(folder: Path, **members: object) -> Path:
    file = folder / "image.tar"
    with tarfile.open(file, "w") as tar:
        for name, content in members.items():
            data = json.dumps(content).encode()
            member = tarfile.TarInfo(f"{name}.json")
            member.size = len(data)
            tar.addfile(member, io.BytesIO(data))
    return file


@pytest.mark.parametrize("key", ["io.containerd.image.name", "org.opencontainers.image.ref.name"])
def test_names_and_digests_of_an_oci_archive(key: str, tmp_path: Path) -> None:
    entry = {"digest": DIGEST, "annotations": {key: "example.test:5000/a/b:1"}}

    (image,) = archived_images(archive(tmp_path, index={"manifests": [entry]}))

    assert image == ArchivedImage("example.test:5000/a/b:1", DIGEST)
    assert image.reference == f"example.test:5000/a/b@{DIGEST}"


def test_docker_archives_name_tags_and_newer_ones_digests_too(tmp_path: Path) -> None:
    older = archive(tmp_path, manifest=[{"RepoTags": ["a:1", "b:2"]}])
    assert [each.reference for each in archived_images(older)] == ["a:1", "b:2"]

    entry = {"digest": DIGEST, "annotations": {"io.containerd.image.name": "a:1"}}
    newer = archive(tmp_path, manifest=[{"RepoTags": ["a:1"]}], index={"manifests": [entry]})
    assert archived_images(newer) == (ArchivedImage("a:1", DIGEST),)


def test_a_registry_with_a_port_and_no_tag_keeps_its_port() -> None:
    image = ArchivedImage("example.test:5000/a", DIGEST)

    assert image.reference == f"example.test:5000/a@{DIGEST}"


@pytest.mark.parametrize("content", [b"no archive", b""])
def test_refuses_what_is_no_archive(content: bytes, tmp_path: Path) -> None:
    (tmp_path / "image.tar").write_bytes(content)

    with pytest.raises(SandboxError, match="is no archive of an image") as refused:
        archived_images(tmp_path / "image.tar")
    assert refused.value.exit_code is ExitCode.BAD_INPUT


def test_refuses_an_archive_without_a_name(tmp_path: Path) -> None:
    with pytest.raises(SandboxError, match="names no image; save it by its name"):
        archived_images(archive(tmp_path, index={"manifests": [{"digest": DIGEST}]}))


@pytest.mark.parametrize("has_node", [True, False])
def test_says_how_to_get_a_node(has_node: bool, tmp_path: Path) -> None:
    place = SandboxPaths("a", tmp_path)
    write_record(place, SandboxRecord("t", Ports(1, 2, 3), has_node=has_node))

    with pytest.raises(SandboxError, match="run 'holdfast sandbox up --node --name a'"):
        load_archive(place, archive(tmp_path, manifest=[{"RepoTags": ["a:1"]}]))
