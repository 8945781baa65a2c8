"""Files made to hurt the reader are refused with little time and memory."""

import os
import resource
import subprocess
import sys
from pathlib import Path

import pytest

from tests.unit.manifest.projects import MANIFEST, write

LAUGHS = "a0: &a0 [ha]\n" + "".join(
    f"a{level}: &a{level} [{', '.join([f'*a{level - 1}'] * 9)}]\n" for level in range(1, 10)
)
MERGES = "m0: &m0 {k: v}\n" + "".join(
    f"m{level}: &m{level} {{<<: [{', '.join([f'*m{level - 1}'] * 8)}]}}\n" for level in range(1, 9)
)
BOMBS = [
    pytest.param("11 billion laughs", LAUGHS, "anchors are not allowed", id="11"),
    pytest.param("12 merge bomb", MERGES, "anchors are not allowed", id="12"),
    pytest.param("13 nesting, brackets", "[" * 100_000, "at most 64 levels", id="13-flow"),
    pytest.param("13 nesting, dashes", "- " * 100_000, "at most 64 levels", id="13-block"),
    pytest.param("14 file of 50 MB", 50_000_000, "at most 1048576 bytes, got 50000000", id="14"),
    pytest.param("15 scalar of 10 MB", 10_000_000, "at most 1048576 bytes", id="15"),
    pytest.param("16 200,000 keys", "".join(f"{n}a: \n" for n in range(200_000)), "bytes", id="16"),
    pytest.param(
        "16 many keys in 1 MB",
        "{" + ",".join(f"a{n}" for n in range(100_000)) + "}",
        "10000 values",
        id="16b",
    ),
    pytest.param(
        "errors without end", "[" + "NO, " * 100_000, "fewer than 100 errors", id="errors"
    ),
    pytest.param("documents without end", "---\n" * 100_000, "200 documents", id="documents"),
]
LOAD = """
import resource, sys
from pathlib import Path
from holdfast.errors import InvalidFilesError
from holdfast.manifest.fleet.loader import load_fleet
before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
try:
    load_fleet(Path(sys.argv[1]))
except InvalidFilesError as error:
    print(error)
print(resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before)
"""


@pytest.mark.parametrize(("what", "content", "words"), BOMBS)
def test_bombs_are_refused_with_little_time_and_memory(
    tmp_path: Path, what: str, content: str | int, words: str
) -> None:
    path = write(tmp_path, MANIFEST, content if isinstance(content, str) else "a: x")
    if isinstance(content, int):
        os.truncate(path, content)
    result = subprocess.run(
        [sys.executable, "-c", LOAD, str(tmp_path)],
        check=True,
        capture_output=True,
        text=True,
        preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_CPU, (20, 20)),
    )
    *errors, kilobytes = result.stdout.splitlines()
    assert words in "\n".join(errors), what
    assert int(kilobytes) < 50_000, what
