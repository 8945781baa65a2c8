"""Owners of fields, for people and as data."""

import json

from holdfast.drift.cause.owners import OwnedObject, Owner
from holdfast.kube.objects import ObjectRef
from holdfast.report.text.revert_text import owners_json, owners_text

TIME = "2026-11-22T01:00:00Z"
REF = ObjectRef("cx", "Service", "one", "v1")
FLUX = Owner("kustomize-controller", "Apply", TIME, ("spec.ports", "spec.type"))
OURS = Owner("holdfast", "Apply", TIME, ("spec.ports",))
EDIT = Owner("kubectl-\x1b[31medit", "Update", TIME, ("metadata.labels.team",))


def test_deliverers_are_counted_and_others_reported_by_field() -> None:
    text = owners_text([OwnedObject(REF, (OURS, EDIT, FLUX))])
    assert text.splitlines()[1:] == [
        f"  holdfast  Apply {TIME}",
        "    applies 1 field (Holdfast)",
        f"  kubectl-\\e[31medit  Update {TIME}",
        "    metadata.labels.team",
        f"  kustomize-controller  Apply {TIME}",
        "    applies 2 fields (Flux)",
        "  shared by holdfast, kustomize-controller",
        "1 object, 1 applied by more than one",
    ]


def test_the_data_has_every_path_of_every_owner() -> None:
    (told,) = json.loads(owners_json([OwnedObject(REF, (FLUX, EDIT))]))["objects"]
    assert told["owners"][0]["delivers"] == "Flux"
    assert told["owners"][0]["paths"] == ["spec.ports", "spec.type"]
    assert told["owners"][1]["delivers"] is None
