"""Field owners of the objects that are declared: of all, of one agent, of those that are shared."""

from pathlib import Path
from typing import Any

import pytest
from holdfast.errors import InputError
from holdfast.operations.scan.owners import field_owners
from holdfast.operations.scan.request import ScanRequest

from tests.unit.cli.drift_files import CONFIG, write

LEVEL: dict[str, Any] = {"f:data": {"f:level": {}}}


def config(name: str, agent: str, *managers: str) -> dict[str, Any]:
    labels = {"holdfast.dev/agent": agent}
    entries = [{"manager": each, "operation": "Apply", "fieldsV1": LEVEL} for each in managers]
    metadata = {"name": name, "namespace": "cx", "labels": labels, "managedFields": entries}
    return {**CONFIG, "metadata": metadata}


@pytest.fixture
def request_of_files(tmp_path: Path) -> ScanRequest:
    desired = [config("alone", "first"), config("shared", "second"), config("absent", "second")]
    live = [
        config("alone", "first", "holdfast"),
        config("shared", "second", "holdfast", "kustomize-controller"),
        config("undeclared", "first", "kubectl"),
    ]
    return ScanRequest(
        desired=Path(write(tmp_path, "desired.json", *desired)),
        live=Path(write(tmp_path, "live.json", *live)),
    )


@pytest.mark.parametrize(
    ("agent", "names"),
    [("", ["alone", "shared"]), ("first", ["alone"]), ("second", ["shared"])],
)
def test_declared_objects_that_are_live_have_owners(
    request_of_files: ScanRequest, agent: str, names: list[str]
) -> None:
    found = field_owners(request_of_files, agent)
    assert [each.ref.name for each in found.objects] == names
    assert found.not_checked == ()


def test_an_object_that_two_managers_apply_is_shared(request_of_files: ScanRequest) -> None:
    (only,) = field_owners(request_of_files).only_shared().objects
    assert (only.ref.name, only.deliverers) == ("shared", ("holdfast", "kustomize-controller"))


def test_an_agent_that_declares_nothing_is_refused(request_of_files: ScanRequest) -> None:
    with pytest.raises(InputError, match="no declared object is of an agent 'third'"):
        field_owners(request_of_files, "third")
