"""A file is written whole or not at all, even by a program that is killed in the middle."""

import os
import signal
import subprocess
import sys
import time
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from pathlib import Path

import pytest
from holdfast.adapters.files import write_atomically, write_private_file

WRITE_ENDLESSLY = """
import sys
from itertools import count
from pathlib import Path
from holdfast.adapters.files import write_atomically
for number in count():
    write_atomically(Path(sys.argv[1]), f"{number % 10}" * 3_000_000)
"""


def test_what_a_killed_writer_leaves_is_whole(tmp_path: Path) -> None:
    file = tmp_path / "report.json"
    for _ in range(3):
        writer = subprocess.Popen([sys.executable, "-c", WRITE_ENDLESSLY, str(file)])
        while not file.exists():
            time.sleep(0.01)
        time.sleep(0.1)
        writer.send_signal(signal.SIGKILL)
        writer.wait()
        text = file.read_text()
        assert len(text) == 3_000_000
        assert len(set(text)) == 1


def test_what_cannot_be_written_stays_as_it_was(tmp_path: Path) -> None:
    file = tmp_path / "report.json"
    file.write_text("before")
    with pytest.raises(UnicodeEncodeError):
        write_atomically(file, "half \ud800")
    assert file.read_text() == "before"
    assert [each.name for each in tmp_path.iterdir()] == ["report.json"]


def test_rights_and_links_stay(tmp_path: Path) -> None:
    file, link = tmp_path / "report.json", tmp_path / "link.json"
    file.write_text("before")
    file.chmod(0o640)
    link.symlink_to(file.name)
    write_atomically(link, "after")
    assert link.is_symlink()
    assert file.read_text() == "after"
    assert file.stat().st_mode & 0o777 == 0o640


def test_a_pipe_is_written_to(tmp_path: Path) -> None:
    reader, writer = os.pipe()
    write_atomically(Path(f"/dev/fd/{writer}"), "through")
    os.close(writer)
    with os.fdopen(reader) as out:
        assert out.read() == "through"


@pytest.mark.parametrize("before", [None, 0o644])
def test_a_private_file_is_its_owners_alone(tmp_path: Path, before: int | None) -> None:
    file = tmp_path / "kubeconfig"
    if before is not None:
        file.write_text("before")
        file.chmod(before)
    write_private_file(file, b"after")
    assert file.read_bytes() == b"after"
    assert file.stat().st_mode & 0o777 == 0o600


def test_a_new_file_has_the_rights_of_any_new_file(tmp_path: Path) -> None:
    plain, written = tmp_path / "plain", tmp_path / "written"
    plain.write_text("")
    write_atomically(written, "")
    assert written.stat().st_mode == plain.stat().st_mode


def test_threads_of_one_process_do_not_write_into_each_others_file(tmp_path: Path) -> None:
    file = tmp_path / "report.json"
    texts = [f"{number}" * 1_000_000 for number in range(8)]
    with ThreadPoolExecutor(8) as pool:
        list(pool.map(partial(write_atomically, file), texts * 4))
    assert file.read_text() in texts
    assert [each.name for each in tmp_path.iterdir()] == ["report.json"]
