from pathlib import Path

import pytest
from holdfast.errors import SandboxError
from holdfast.sandbox.paths import SandboxPaths
from holdfast.sandbox.process import ProcessIdentity
from holdfast.sandbox.record import Ports, SandboxRecord, read_record, write_record
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

ports = st.integers(min_value=1, max_value=65535)
identities = st.builds(
    ProcessIdentity,
    pid=st.integers(min_value=1, max_value=2**22),
    start_ticks=st.integers(min_value=0, max_value=2**62),
    executable=st.text(),
    boot=st.text(),
)
records = st.builds(
    SandboxRecord,
    token=st.text(),
    ports=st.builds(Ports, ports, ports, ports),
    processes=st.dictionaries(st.sampled_from(["etcd", "kwok"]), identities),
)


@pytest.fixture
def place(tmp_path: Path) -> SandboxPaths:
    return SandboxPaths("a", tmp_path)


@settings(suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(record=records)
def test_reads_what_was_written(place: SandboxPaths, record: SandboxRecord) -> None:
    write_record(place, record)

    assert read_record(place) == record


def test_is_for_the_owners_eyes_and_leaves_no_scratch_file(place: SandboxPaths) -> None:
    write_record(place, SandboxRecord(token="t", ports=Ports(1, 2, 3)))

    assert [path.name for path in place.directory.iterdir()] == ["sandbox.json"]
    assert place.record.stat().st_mode & 0o777 == 0o600


def test_there_may_be_none(place: SandboxPaths) -> None:
    assert read_record(place) is None


@pytest.mark.parametrize(
    ("text", "says"),
    [
        pytest.param("", "is not a sandbox's record", id="empty"),
        pytest.param('{"token": "t", "por', "is not a sandbox's record", id="cut-off"),
        pytest.param('{"token": "t"}', "ports", id="incomplete"),
        pytest.param(
            '{"token": "t", "ports": {"api_server": 1, "etcd": 2, "etcd_peer": 3}, "format": 9}',
            "has format 9, this version reads 1",
            id="of-a-newer-version",
        ),
    ],
)
def test_trusts_nothing_that_it_cannot_read(place: SandboxPaths, text: str, says: str) -> None:
    place.record.write_text(text)

    with pytest.raises(SandboxError, match=says) as caught:
        read_record(place)
    assert f"remove {place.directory}" in caught.value.remedy or "that folder" in str(caught.value)


def test_a_process_takes_the_place_of_the_programs_last_one() -> None:
    first, second = (ProcessIdentity(pid, 1, "/bin/etcd", "b") for pid in (1, 2))
    record = SandboxRecord(token="t", ports=Ports(1, 2, 3))

    later = record.with_process("etcd", first).with_process("etcd", second)

    assert later.processes == {"etcd": second}
    assert record.processes == {}
