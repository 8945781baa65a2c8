"""Who owns what, told from managed fields."""

from typing import Any

from holdfast.drift.cause.owners import owned_object, owned_objects


def live(name: str, **owned: dict[str, Any]) -> dict[str, Any]:
    entries = [
        {
            "manager": manager.replace("_", "-"),
            "operation": "Apply",
            "time": "2026-11-22T01:00:00Z",
            "fieldsV1": fields,
        }
        for manager, fields in owned.items()
    ]
    metadata = {"name": name, "namespace": "cx", "managedFields": entries}
    return {"apiVersion": "v1", "kind": "Service", "metadata": metadata}


PORTS: dict[str, Any] = {
    "f:spec": {"f:ports": {".": {}, 'k:{"port":80,"protocol":"TCP"}': {".": {}, "f:name": {}}}}
}
LABELS: dict[str, Any] = {
    "f:metadata": {"f:labels": {"f:a.b/c": {}}, "f:finalizers": {'v:"one/two"': {}}}
}


def test_every_manager_is_reported_with_its_fields_in_the_words_of_reports() -> None:
    owned = owned_object(live("one", holdfast=PORTS, mesh=LABELS))
    assert [(each.manager, each.deliverer, each.paths) for each in owned.owners] == [
        ("holdfast", "Holdfast", ("spec.ports[port=80,protocol=TCP].name",)),
        ("mesh", "", ("metadata.finalizers[=one/two]", 'metadata.labels["a.b/c"]')),
    ]
    assert owned.deliverers == ("holdfast",)


def test_an_object_that_several_deliver_says_so_and_a_status_is_no_ownership() -> None:
    shared = live(
        "b", kustomize_controller=PORTS, holdfast=PORTS, kubelet={"f:status": {"f:x": {}}}
    )
    first, second = owned_objects([shared, live("a", kubectl=LABELS)])
    assert (first.ref.name, first.deliverers) == ("a", ())
    assert second.deliverers == ("holdfast", "kustomize-controller")
    assert [each.manager for each in second.owners] == ["holdfast", "kustomize-controller"]
