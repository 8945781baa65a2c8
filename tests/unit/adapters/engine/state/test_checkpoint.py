import gzip
import json
from typing import Any

import pytest
from holdfast.adapters.engine.state.checkpoint import (
    RecordedObject,
    RecordedResource,
    decode_checkpoint,
    decode_export,
)
from holdfast.errors import EngineError
from holdfast.kube.objects import reference_of

SIGNATURE = "4dabf18193072939515e22adb298388d"
SECRET = {SIGNATURE: "1b47061264138c4ac30d75fd1eb44270", "ciphertext": "v1:abc"}
STACK = "organization/p/dev"


def resource(**parts: Any) -> dict[str, Any]:
    whole = {
        "urn": "urn:pulumi:dev::p::kubernetes:core/v1:Secret::s",
        "type": "kubernetes:core/v1:Secret",
        "custom": True,
        "inputs": {"kind": "Secret"},
        "outputs": {
            "__inputs": {"data": SECRET},
            "__fieldManager": "holdfast",
            "apiVersion": "v1",
            "kind": "Secret",
            "metadata": {"name": "s", "uid": "u-1", "labels": {"a": SECRET, "b": "c"}},
            "data": SECRET,
            "list": [{"x": SECRET}, 1],
        },
        "created": "2026-11-21T18:22:35.2Z",
        "modified": "2026-11-21T18:22:36.2Z",
    }
    return whole | parts


def checkpoint(*resources: dict[str, Any], stack: str = STACK, version: int = 3) -> bytes:
    latest = {"manifest": {}, "resources": resources}
    return json.dumps(
        {"version": version, "checkpoint": {"stack": stack, "latest": latest}}
    ).encode()


def decoded(*resources: dict[str, Any]) -> tuple[RecordedResource, ...]:
    return decode_checkpoint(checkpoint(*resources), stack=STACK, place="x.json").resources


def test_gives_the_live_object_without_notes_and_without_secrets() -> None:
    secret = decoded(resource())[0].kubernetes_object()

    assert secret is not None
    assert (secret.uid, secret.field_manager) == ("u-1", "holdfast")
    assert secret.live == {
        "apiVersion": "v1",
        "kind": "Secret",
        "metadata": {"name": "s", "uid": "u-1", "labels": {"b": "c"}},
        "list": [{}, 1],
    }


@pytest.mark.parametrize(
    "metadata",
    [
        pytest.param({"name": "s", "namespace": "cx", "uid": "u-1"}, id="plain"),
        pytest.param({"name": "s", "namespace": None, "uid": None}, id="nulls"),
        pytest.param({"name": SECRET, "uid": "u-1"}, id="secret-name"),
        pytest.param({"name": "s", "namespace": SECRET, "uid": SECRET}, id="secret-uid"),
        pytest.param(SECRET, id="all-secret"),
        pytest.param(None, id="null"),
        pytest.param({}, id="nothing"),
    ],
)
def test_is_known_without_being_read_as_it_is_known_when_it_is(metadata: Any) -> None:
    answer = {"apiVersion": "v1", "kind": "ConfigMap", "metadata": metadata, "data": {"a": "b"}}

    found = decoded(resource(outputs=answer))[0].kubernetes_object()

    assert found is not None
    assert found.reference == reference_of(found.live)
    assert found.uid == str((found.live.get("metadata") or {}).get("uid") or "")
    assert found.live["data"] == {"a": "b"}


@pytest.mark.parametrize(
    "parts",
    [
        pytest.param({"custom": False}, id="component"),
        pytest.param({"delete": True}, id="replaced-and-to-be-deleted"),
        pytest.param({"external": True}, id="only-read"),
        pytest.param({"type": "pulumi:providers:kubernetes"}, id="provider"),
        pytest.param({"type": "aws:s3:Bucket"}, id="other-cloud"),
        pytest.param({"outputs": {"name": "release"}}, id="no-object"),
        pytest.param({"outputs": None}, id="nothing"),
    ],
)
def test_tells_objects_of_the_stack_from_everything_else(parts: dict[str, Any]) -> None:
    assert decoded(resource(**parts))[0].kubernetes_object() is None


def test_two_records_that_say_the_same_are_equal() -> None:
    """As a backend elsewhere gives it, and as a file holds it: with other spaces."""

    def read(text: bytes) -> RecordedObject | None:
        return decode_checkpoint(text, stack=STACK, place="x").resources[0].kubernetes_object()

    text = checkpoint(resource())
    other = checkpoint(resource(outputs=resource()["outputs"] | {"list": [2]}))
    assert read(text) == read(json.dumps(json.loads(text), indent=4).encode())
    assert hash(read(text)) == hash(read(json.dumps(json.loads(text), indent=4).encode()))
    assert read(text) != read(other)
    assert "v1:abc" not in repr(read(text))


def test_reads_compressed_files() -> None:
    packed = gzip.compress(checkpoint(resource()))

    assert len(decode_checkpoint(packed, stack=STACK, place="x").resources) == 1


def test_reads_the_operations_that_are_pending() -> None:
    operation = {"type": "creating", "resource": resource()}
    latest = {"resources": [], "pending_operations": [operation]}
    data = json.dumps({"version": 3, "checkpoint": {"stack": STACK, "latest": latest}}).encode()

    (pending,) = decode_checkpoint(data, stack=STACK, place="x").pending_operations

    assert (pending.type, pending.resource.type) == ("creating", "kubernetes:core/v1:Secret")


def test_an_empty_stack_has_no_resources() -> None:
    empty = json.dumps({"version": 3, "checkpoint": {"stack": STACK}}).encode()

    assert decode_checkpoint(empty, stack=STACK, place="x").resources == ()


@pytest.mark.parametrize(
    ("data", "says"),
    [
        pytest.param(b"", "x.json cannot be read, it may be cut off", id="empty"),
        pytest.param(checkpoint(resource())[:-9], "may be cut off", id="cut-off"),
        pytest.param(gzip.compress(checkpoint())[:-9], "may be cut off", id="cut-off-gzip"),
        pytest.param(b"\x1f\x8bnonsense", "may be cut off", id="no-gzip"),
        pytest.param(b"[1]", "cannot be read", id="no-object"),
        pytest.param(checkpoint(version=5), "format 5, newer than 4; update", id="of-the-future"),
        pytest.param(
            checkpoint(stack="organization/other/dev"),
            "x.json belongs to organization/other/dev, not to organization/p/dev",
            id="of-another-project",
        ),
        pytest.param(b'{"version":3}', "belongs to no stack", id="of-nobody"),
    ],
)
def test_refuses_a_checkpoint_that_cannot_be_trusted(data: bytes, says: str) -> None:
    with pytest.raises(EngineError, match=says):
        decode_checkpoint(data, stack=STACK, place="x.json")


def test_says_when_only_a_newer_python_could_read_it(monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(name: str) -> None:
        raise ImportError(name)

    monkeypatch.setattr("importlib.import_module", refuse)

    with pytest.raises(EngineError, match=r"zstd, which this Python cannot read; set PULUMI_DIY"):
        decode_checkpoint(b"\x28\xb5\x2f\xfd...", stack=STACK, place="x.json.zst")


def test_reads_an_export() -> None:
    export = json.dumps({"version": 3, "deployment": {"resources": [resource()]}}).encode()

    (found,) = decode_export(export, place="the export").resources
    assert found.urn.endswith("::s")


def test_refuses_an_export_that_is_none() -> None:
    with pytest.raises(EngineError, match="the export cannot be read"):
        decode_export(b"error: nothing", place="the export")
