"""The built-in types and defaults, held against what the API server really serves and stores."""

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from holdfast.kube.openapi import kinds_of, types_of
from holdfast.kube.structure import builtin, builtin_kind
from holdfast.manifest.text.kube_files import read_kube_objects

from tests.e2e.live_sandbox import Kubectl, LiveSandbox, run_holdfast

pytestmark = pytest.mark.e2e

MATERIAL = Path(__file__).parent / "material" / "defaults.yaml"
NAMESPACE = "drift-defaults"


@pytest.fixture(scope="module")
def declared(kubectl: Kubectl, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Path]:
    """Every kind, declared as briefly as the server accepts it, and applied."""
    objects = [one.kube_object for one in read_kube_objects(MATERIAL)]
    for one in objects:
        entry = builtin_kind(one["apiVersion"], one["kind"])
        assert entry is not None
        if entry.is_namespaced:
            one["metadata"]["namespace"] = NAMESPACE
    file = tmp_path_factory.mktemp("defaults") / "objects.json"
    file.write_text(json.dumps({"apiVersion": "v1", "kind": "List", "items": objects}))
    kubectl("create", "namespace", NAMESPACE)
    kubectl("apply", "--server-side", "--field-manager=holdfast", "-f", str(file))
    yield file
    kubectl("delete", "--wait=false", "--ignore-not-found", "-f", str(file))
    kubectl("delete", "--wait=false", "namespace", NAMESPACE)


def test_a_default_is_never_drift(declared: Path, sandbox: LiveSandbox) -> None:
    done = run_holdfast(
        "drift", "--desired", str(declared), "--kubeconfig", str(sandbox.kubeconfig())
    )
    assert done.stdout.startswith("in sync")
    assert done.returncode == 0


def test_defaults_are_known_without_any_help_from_ownership(
    declared: Path, kubectl: Kubectl, tmp_path: Path
) -> None:
    """With the record of owners wiped, everything that no default explains is drift."""
    live: dict[str, Any] = json.loads(kubectl("get", "-f", str(declared), "-o", "json"))
    for one in live["items"]:
        one["metadata"]["managedFields"] = [{}]
    file = tmp_path / "live.json"
    file.write_text(json.dumps(live))
    done = run_holdfast("drift", "--desired", str(declared), "--live", str(file))
    assert done.stdout.startswith("in sync")


def test_the_packaged_types_are_those_that_the_server_serves(kubectl: Kubectl) -> None:
    """`python toolchain/kubernetes_types.py` writes them anew."""
    packaged = builtin()
    for api_version, kinds in packaged.kinds.items():
        root = "apis" if "/" in api_version else "api"
        document = json.loads(kubectl("get", "--raw", f"/openapi/v3/{root}/{api_version}"))
        served = types_of(document)
        entries = {kind: list(entry) for kind, entry in kinds_of(document, api_version).items()}
        assert {
            kind: [entry.plural, entry.is_namespaced, entry.type_name]
            for kind, entry in kinds.items()
        } == entries
        for name in served.keys() & packaged.types.keys():
            stars_off = {
                field: notation.removeprefix("*")
                for field, notation in packaged.types[name].items()
            }
            assert stars_off == {
                field: notation.removeprefix("*") for field, notation in served[name].items()
            }, name
