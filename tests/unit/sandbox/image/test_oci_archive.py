"""Images without a registry: archives that say what they hold, the same bytes each time."""

import hashlib
import io
import json
import os
import tarfile
from pathlib import Path
from typing import Any

import pytest
from holdfast.sandbox.image.oci_archive import ImageConfig, write_archive

CONFIG = ImageConfig(("/app",), user="10001", environment=(("A", "1"),), labels=(("l", "v"),))


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    root = tmp_path / "root"
    (root / "bin").mkdir(parents=True)
    (root / "bin" / "app").write_text("app")
    (root / "bin" / "app").chmod(0o755)
    (root / "app").symlink_to("bin/app")
    return root


def blob(archive: Path, digest: str) -> bytes:
    with tarfile.open(archive) as tar:
        member = tar.extractfile(f"blobs/sha256/{digest.removeprefix('sha256:')}")
        assert member is not None
        content = member.read()
    assert f"sha256:{hashlib.sha256(content).hexdigest()}" == digest
    return content


def test_every_part_is_found_by_its_digest(folder: Path, tmp_path: Path) -> None:
    archive = tmp_path / "image.tar"
    digest = write_archive(folder, archive, "example.test/app:1", CONFIG)

    with tarfile.open(archive) as tar:
        entry = tar.extractfile("index.json")
        assert entry is not None
        index = json.load(entry)
    manifest: dict[str, Any] = json.loads(blob(archive, digest))
    config = json.loads(blob(archive, manifest["config"]["digest"]))
    layer = blob(archive, manifest["layers"][0]["digest"])
    assert index["manifests"][0]["digest"] == digest
    assert index["manifests"][0]["annotations"] == {
        "io.containerd.image.name": "example.test/app:1"
    }
    assert config["config"]["User"] == "10001"
    assert config["config"]["Entrypoint"] == ["/app"]
    assert config["config"]["Env"][1:] == ["A=1"]
    assert config["config"]["Labels"] == {"l": "v"}
    assert config["rootfs"]["diff_ids"] == [manifest["layers"][0]["digest"]]
    with tarfile.open(fileobj=io.BytesIO(layer)) as tar:
        assert sorted(tar.getnames()) == ["app", "bin", "bin/app"]
        assert tar.getmember("bin/app").mode == 0o755
        assert tar.getmember("app").linkname == "bin/app"


def test_owners_and_times_do_not_change_the_bytes(folder: Path, tmp_path: Path) -> None:
    first = write_archive(folder, tmp_path / "1.tar", "example.test/app:1", CONFIG)
    os.utime(folder / "bin" / "app", (1, 1))
    second = write_archive(folder, tmp_path / "2.tar", "example.test/app:1", CONFIG)

    assert first == second
    assert (tmp_path / "1.tar").read_bytes() == (tmp_path / "2.tar").read_bytes()
    assert not [path for path in tmp_path.iterdir() if path.name.startswith(".")]
