"""What the image of the sandbox is made of."""

import shutil
import subprocess
import sys
from pathlib import Path

import pytest
from holdfast.errors import ExitCode, SandboxError
from holdfast.sandbox.image import rootfs


def test_names_the_packages_that_are_missing(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setattr(rootfs, "system_program", lambda name: None)

    with pytest.raises(
        SandboxError, match=r"apt-get install .*busybox-static curl libc-bin"
    ) as got:
        rootfs.make_rootfs(tmp_path)

    assert got.value.exit_code is ExitCode.BAD_INPUT
    assert list(tmp_path.iterdir()) == []


@pytest.mark.skipif(shutil.which("ldd") is None, reason="needs ldd")
def test_libraries_lie_where_their_programs_look_for_them(tmp_path: Path) -> None:
    ldd = Path(str(shutil.which("ldd")))
    rootfs._copy_libraries([Path(sys.executable).resolve()], ldd, tmp_path)

    listed = subprocess.run([ldd, sys.executable], capture_output=True, text=True, check=True)
    libc = next(line.split()[2] for line in listed.stdout.splitlines() if "libc.so" in line)
    assert (tmp_path / libc.removeprefix("/")).is_file()
