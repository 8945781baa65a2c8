from typing import Any

import msgspec
import pytest
from holdfast.kube.managed_fields import notations_of, read_managed_fields
from holdfast.kube.paths import ItemKey, Path

AGENT = ItemKey((("name", "agent"),))
LIVE: dict[str, Any] = {
    "metadata": {
        "finalizers": ["a.example/x"],
        "managedFields": [
            {
                "manager": "holdfast",
                "operation": "Apply",
                "time": "2026-11-21T10:00:00Z",
                "fieldsV1": {
                    "f:metadata": {"f:finalizers": {'v:"a.example/x"': {}}},
                    "f:spec": {
                        "f:securityContext": {},
                        "f:containers": {
                            'k:{"name":"agent"}': {".": {}, "f:name": {}, "f:args": {}}
                        },
                    },
                },
            },
            {
                "manager": "kubectl-set",
                "operation": "Update",
                "time": "2026-11-21T11:00:00Z",
                "fieldsV1": {"f:spec": {"f:containers": {'k:{"name":"agent"}': {"f:image": {}}}}},
            },
            {"manager": "kubectl", "operation": "Update", "subresource": "status"},
        ],
    },
    "spec": {"containers": [{"name": "agent", "image": "a:1", "args": ["x"]}]},
}


@pytest.mark.parametrize(
    ("path", "owners"),
    [
        pytest.param(
            ("spec", "containers", AGENT, "image"), ["kubectl-set"], id="field of an item"
        ),
        pytest.param(("spec", "containers", AGENT), ["holdfast", "kubectl-set"], id="parts of it"),
        pytest.param(("spec", "containers", AGENT, "args", 0), ["holdfast"], id="atomic list"),
        pytest.param(("spec", "containers", 0, "image"), ["kubectl-set"], id="item by index"),
        pytest.param(("metadata", "finalizers", 0), ["holdfast"], id="item of a set"),
        pytest.param(("spec", "containers", AGENT, "tty"), [], id="nobody"),
        pytest.param(("spec", "securityContext", "runAsUser"), ["holdfast"], id="empty struct"),
    ],
)
def test_a_path_has_the_owners_that_wrote_it(path: Path, owners: list[str]) -> None:
    found = read_managed_fields(LIVE).owners_of(path)
    assert [entry.manager for entry in found] == owners


def test_who_owns_the_value_itself_goes_before_who_owns_all_around_it() -> None:
    managed = [
        {"manager": "holdfast", "fieldsV1": {"f:spec": {"f:securityContext": {}}}},
        {"manager": "kubectl", "fieldsV1": {"f:spec": {"f:securityContext": {"f:runAsUser": {}}}}},
    ]
    found = read_managed_fields({"metadata": {"managedFields": managed}})
    assert [e.manager for e in found.owners_of(("spec", "securityContext", "runAsUser"))] == [
        "kubectl"
    ]


def test_raw_json_of_a_scan_is_read_like_decoded_data() -> None:
    raw = msgspec.Raw(msgspec.json.encode(LIVE["metadata"]["managedFields"]))
    assert read_managed_fields({"metadata": {"managedFields": raw}}).entries == (
        read_managed_fields(LIVE).entries
    )


@pytest.mark.parametrize(
    "managed",
    [
        pytest.param(None, id="absent"),
        pytest.param([], id="empty"),
        pytest.param([{}], id="reset"),
        pytest.param("nonsense", id="not a list"),
        pytest.param(
            [{"manager": "x", "subresource": "status", "fieldsV1": {"f:a": {}}}], id="status"
        ),
    ],
)
def test_a_wiped_record_says_nothing(managed: object) -> None:
    assert read_managed_fields({"metadata": {"managedFields": managed}}).say_nothing


def test_ownership_gives_away_keyed_lists_and_sets() -> None:
    types = notations_of(read_managed_fields(LIVE).entries)
    assert types["root..spec"]["containers"] == "[root..spec.containers]name"
    assert types["root..metadata"]["finalizers"] == "[any]set"
