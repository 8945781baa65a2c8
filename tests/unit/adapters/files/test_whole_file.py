"""A file is written whole or not at all, even by a program that is killed in the middle."""

import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest
from holdfast.adapters.files.whole_file import write_whole

WRITE_FOR_EVER = """
import sys
from itertools import count
from pathlib import Path
from holdfast.adapters.files.whole_file import write_whole
for number in count():
    write_whole(Path(sys.argv[1]), f"{number % 10}" * 3_000_000)
"""


def test_what_a_killed_writer_leaves_is_whole(tmp_path: Path) -> None:
    file = tmp_path / "report.json"
    for _ in range(3):
        writer = subprocess.Popen([sys.executable, "-c", WRITE_FOR_EVER, str(file)])
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
        write_whole(file, "half \ud800")
    assert file.read_text() == "before"
    assert [each.name for each in tmp_path.iterdir()] == ["report.json"]


def test_rights_and_links_stay(tmp_path: Path) -> None:
    file, link = tmp_path / "report.json", tmp_path / "link.json"
    file.write_text("before")
    file.chmod(0o640)
    link.symlink_to(file.name)
    write_whole(link, "after")
    assert link.is_symlink()
    assert file.read_text() == "after"
    assert file.stat().st_mode & 0o777 == 0o640


def test_a_pipe_is_written_to(tmp_path: Path) -> None:
    reader, writer = os.pipe()
    write_whole(Path(f"/dev/fd/{writer}"), "through")
    os.close(writer)
    with os.fdopen(reader) as out:
        assert out.read() == "through"
