"""A stack that does not fit into memory is refused before anything is begun."""

from pathlib import Path

import pytest
from holdfast.adapters.engine.run.memory import LIMIT_VARIABLE, memory_limit_bytes, refuse_too_large
from holdfast.errors import InputError

GIB = 1 << 30


def machine(root: Path, files: dict[str, str]) -> Path:
    for name, text in {"proc/meminfo": "MemTotal:  16777216 kB\n", **files}.items():
        (root / name).parent.mkdir(parents=True, exist_ok=True)
        (root / name).write_text(text)
    return root


@pytest.fixture(autouse=True)
def _nothing_said(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv(LIMIT_VARIABLE, raising=False)


def test_ten_thousand_objects_do_not_fit_into_a_gibibyte() -> None:
    with pytest.raises(InputError) as refused:
        refuse_too_large("prod", 10_000, GIB)
    assert "prod declares 10000 objects: the engine needs about 1533 MiB" in str(refused.value)
    assert "may use 1024 MiB; split the stack" in str(refused.value)
    refuse_too_large("prod", 6_000, GIB)


@pytest.mark.parametrize(
    ("files", "expected"),
    [
        pytest.param({}, 16 * GIB, id="the machine's"),
        pytest.param(
            {"proc/self/cgroup": "0::/a/b\n", "sys/fs/cgroup/a/memory.max": f"{GIB}\n"},
            GIB,
            id="that of a group around ours",
        ),
        pytest.param(
            {"proc/self/cgroup": "0::/a\n", "sys/fs/cgroup/a/memory.max": "max\n"},
            16 * GIB,
            id="a group without one",
        ),
        pytest.param(
            {
                "proc/self/cgroup": "4:memory:/a\n",
                "sys/fs/cgroup/memory/a/memory.limit_in_bytes": f"{2 * GIB}\n",
            },
            2 * GIB,
            id="version 1",
        ),
    ],
)
def test_the_limit_is_the_smallest(tmp_path: Path, files: dict[str, str], expected: int) -> None:
    assert memory_limit_bytes(machine(tmp_path, files)) == expected


def test_the_environment_says_otherwise(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(LIMIT_VARIABLE, "3Gi")
    assert memory_limit_bytes() == 3 * GIB
    monkeypatch.setenv(LIMIT_VARIABLE, "plenty")
    with pytest.raises(InputError, match="HOLDFAST_MEMORY_LIMIT: expected a quantity of memory"):
        memory_limit_bytes()
