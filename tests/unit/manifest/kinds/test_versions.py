"""Versions of the manifests' schema."""

from pathlib import Path

import pytest
from holdfast.manifest.kinds.versions import OLDER_VERSIONS, SUPPORTED
from holdfast.manifest.publish.json_schema import manifest_schema
from holdfast.manifest.types.manifest import API_VERSION

from tests.unit.manifest.projects import MANIFEST, agent, errors_of, write


def test_the_newest_version_is_the_only_one_before_a_release() -> None:
    assert dict(OLDER_VERSIONS) == {}
    assert SUPPORTED == (API_VERSION,)


@pytest.mark.parametrize("version", ["v1alpha0", "v1beta7"])
def test_an_unknown_version_is_refused_with_the_one_that_is_read(
    tmp_path: Path, version: str
) -> None:
    write(tmp_path, MANIFEST, agent().replace("v1alpha1", version))
    [error] = errors_of(tmp_path).errors
    assert str(error) == (
        f"{MANIFEST}:1:13: apiVersion: expected {API_VERSION}, "
        f"got the text 'holdfast.dev/{version}'; did you mean \"{API_VERSION}\"?"
    )


def test_editors_offer_the_versions_that_are_read() -> None:
    for name, definition in manifest_schema()["$defs"].items():
        version = definition.get("properties", {}).get("apiVersion")
        if version:
            assert version.get("const") in SUPPORTED, name
