"""The program of every stack, with Pulumi's mocks in place of the engine and the cluster."""

import runpy
from pathlib import Path
from typing import Any

import pulumi
import pytest
import yaml
from pulumi.runtime import mocks
from pulumi.runtime.settings import SETTINGS

ROOT = Path(__file__).resolve().parents[1]
STACKS = sorted(each.name.split(".")[1] for each in (ROOT / "stacks").glob("Pulumi.*.yaml"))
WORKLOADS = {"kubernetes:apps/v1:Deployment", "kubernetes:batch/v1:CronJob"}


class Recorder(mocks.Mocks):
    """Takes every resource as created, and records what it was asked to be."""

    def __init__(self) -> None:
        self.resources: list[mocks.MockResourceArgs] = []

    def new_resource(self, args: mocks.MockResourceArgs) -> tuple[str, dict[str, Any]]:
        self.resources.append(args)
        return f"{args.name}-id", dict(args.inputs)

    def call(self, args: mocks.MockCallArgs) -> tuple[dict[Any, Any], None]:
        return {}, None


def run_program() -> None:
    """Run the program as the engine does."""
    runpy.run_path(str(ROOT / "infra" / "__main__.py"), run_name="__main__")


@pytest.fixture(params=STACKS)
def resources(
    request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> list[mocks.MockResourceArgs]:
    """Resources that the program declares on one stack."""
    monkeypatch.setenv("KUBECONFIG", str(tmp_path / "no-cluster"))
    recorder = Recorder()
    mocks.set_mocks(recorder, project="tests", stack=request.param)
    SETTINGS.root_directory = str(ROOT)
    pulumi.runtime.test(run_program)()
    return recorder.resources


def test_every_manifest_of_an_agent_is_deployed(resources: list[mocks.MockResourceArgs]) -> None:
    documents = [
        document
        for file in (ROOT / "agents").rglob("*.yaml")
        for document in yaml.safe_load_all(file.read_text(encoding="utf-8"))
    ]
    declared = {each["metadata"]["name"] for each in documents if each["kind"] == "Agent"}
    deployed = {each.name for each in resources if each.typ == "holdfast:index:Agent"}
    assert declared == deployed


def test_every_image_has_a_digest(resources: list[mocks.MockResourceArgs]) -> None:
    templates = [
        spec["template"]["spec"]
        for each in resources
        if each.typ in WORKLOADS
        for spec in [each.inputs["spec"].get("jobTemplate", each.inputs)["spec"]]
    ]
    images = [container["image"] for each in templates for container in each["containers"]]
    assert [image for image in images if "@sha256:" not in image] == []
