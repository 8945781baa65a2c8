"""The versions that several files must name alike."""

import sys
import tomllib
from importlib.metadata import version
from pathlib import Path

import pytest
from holdfast import __version__
from holdfast.adapters.engine.run.environment import PROVIDER_PLUGIN
from holdfast_policies.version import PACK_VERSION

ROOT = Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "toolchain"))
from programs import (  # noqa: E402  # on the path since one line
    KUBERNETES_VERSION,
    PROVIDER_VERSION,
    PULUMI_VERSION,
)


@pytest.mark.parametrize(
    ("package", "wanted"),
    [("pulumi", PULUMI_VERSION), ("pulumi-kubernetes", PROVIDER_VERSION)],
)
def test_the_packages_speak_the_version_of_the_built_programs(package: str, wanted: str) -> None:
    assert version(package) == wanted
    assert f"{package}=={wanted} \\" in (ROOT / "requirements.lock").read_text()
    assert f"{package}=={wanted}\n" in (ROOT / "toolchain" / "python-pins.txt").read_text()


def test_the_provider_is_laid_where_its_package_looks_for_it() -> None:
    assert f"resource-kubernetes-v{PROVIDER_VERSION}" == PROVIDER_PLUGIN


def test_the_built_provider_says_its_version() -> None:
    source = (ROOT / "toolchain" / "pulumi-resource-kubernetes" / "main.go").read_text()
    assert f'"{PROVIDER_VERSION}"' in source


def test_the_readme_names_the_tested_versions() -> None:
    readme = (ROOT / "README.md").read_text()
    for wanted in (PULUMI_VERSION, PROVIDER_VERSION, KUBERNETES_VERSION):
        assert f"| {wanted}" in readme


def test_the_version_stands_in_one_place() -> None:
    pyproject = tomllib.loads((ROOT / "pyproject.toml").read_text())
    assert "version" in pyproject["project"]["dynamic"]
    assert pyproject["tool"]["setuptools"]["dynamic"]["version"] == {"attr": "holdfast.__version__"}
    assert __version__ == PACK_VERSION
    for pack in ("policy-pack", "templates/fleet/policy-pack"):
        assert f"\nversion: {__version__}\n" in (ROOT / pack / "PulumiPolicy.yaml").read_text()


def test_the_lock_holds_hashes_and_no_index_address() -> None:
    lock = (ROOT / "requirements.lock").read_text()
    assert "--hash=sha256:" in lock
    assert "://" not in lock
