"""The published schemas are current, accept the samples, and refuse what an editor can see."""

import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
import yaml
from holdfast.manifest.kinds.kinds import KINDS
from holdfast.manifest.publish.json_schema import field_descriptions, manifest_schema, stack_schema
from holdfast.manifest.stack.environment import Environment
from holdfast.manifest.types.annotations import models_below
from holdfast.report.published import FILES, SCHEMAS
from jsonschema import Draft202012Validator

from tests.unit.manifest.projects import IMAGE, agent, spec

ROOT = Path(__file__).parents[2]


def faults(schema: dict[str, Any], text: str) -> Iterator[str]:
    for document in yaml.safe_load_all(text):
        for error in Draft202012Validator(schema).iter_errors(document):
            yield f"{error.json_path}: {error.message}"


@pytest.mark.parametrize("file", FILES)
def test_what_is_made_from_the_models_is_current(file: str) -> None:
    """Run `make schema` when this fails."""
    assert (ROOT / file).read_text(encoding="utf-8") == FILES[file]()


@pytest.mark.parametrize("file", SCHEMAS)
def test_the_schema_is_valid_in_its_dialect(file: str) -> None:
    Draft202012Validator.check_schema(SCHEMAS[file]())


@pytest.mark.parametrize("path", sorted(ROOT.glob("agents/*.yaml")), ids=lambda path: path.name)
def test_the_schema_accepts_a_sample_which_names_it(path: Path) -> None:
    text = path.read_text(encoding="utf-8")
    assert list(faults(manifest_schema(), text)) == []
    assert text.startswith("# yaml-language-server: $schema=../docs/schema/agent.schema.json\n")


@pytest.mark.parametrize("path", sorted(ROOT.glob("stacks/*.yaml")), ids=lambda path: path.name)
def test_the_schema_accepts_a_stack_file_which_names_it(path: Path) -> None:
    text = path.read_text(encoding="utf-8")
    assert list(faults(stack_schema(), text)) == []
    assert text.startswith("# yaml-language-server: $schema=../docs/schema/stack.schema.json\n")


@pytest.mark.parametrize("file", ["README.md", "CONTRIBUTING.md"])
def test_manifests_in_the_documentation_are_as_the_schema_wants_them(file: str) -> None:
    text = (ROOT / file).read_text(encoding="utf-8")
    for block in re.findall(r"```yaml\n(.*?)```", text, re.DOTALL):
        if "kind: Agent" in block:
            assert list(faults(manifest_schema(), block)) == []


BAD_MANIFESTS = [
    pytest.param(spec("imagee: x"), id="unknown field"),
    pytest.param(spec("container: {env: [{name: A, valu: b}]}"), id="unknown field in a list"),
    pytest.param(agent().replace("Agent", "Agnet"), id="unknown kind"),
    pytest.param(agent("Agent_1"), id="name that is no label"),
    pytest.param(agent("a" * 53), id="name that leaves no room for suffixes"),
    pytest.param(agent(metadata=", labels: {a/b/c: x}"), id="key with two slashes"),
    pytest.param(agent(image="Registry.example/agent"), id="image in upper case"),
    pytest.param(agent(image=IMAGE[:-1]), id="digest of 63 digits"),
    pytest.param(agent().replace("  version: 1.0.0\n", ""), id="required field absent"),
    pytest.param(spec('scaling: {replicas: "3"}'), id="number in quotes"),
    pytest.param(spec("scaling: {replicas: 1001}"), id="too many replicas"),
    pytest.param(spec("container: {resources: {limits: {cpu: 1 core}}}"), id="no quantity"),
    pytest.param(spec("network: {expose: {port: 0}}"), id="port out of range"),
    pytest.param(spec("network: {ingressFrom: [{}]}"), id="caller of no shape"),
    pytest.param(spec("telemetry: {logs: {level: warn}}"), id="word out of a list"),
]


@pytest.mark.parametrize("text", BAD_MANIFESTS)
def test_the_schema_refuses_what_one_value_shows(text: str) -> None:
    assert list(faults(manifest_schema(), agent())) == []
    assert list(faults(manifest_schema(), text)) != []


@pytest.mark.parametrize(
    "text",
    [
        pytest.param("confg: {}", id="unknown key"),
        pytest.param("config: {cluster: {}}", id="key without namespace"),
        pytest.param("config: {holdfast:clustr: {}}", id="unknown setting"),
        pytest.param("config: {holdfast:agents: {a: {imagee: x}}}", id="unknown field of an agent"),
        pytest.param("config: {holdfast:agents: {a: {scaling: {replicas: x}}}}", id="wrong type"),
    ],
)
def test_the_stack_schema_refuses_what_one_value_shows(text: str) -> None:
    assert list(faults(stack_schema(), text)) != []


def test_an_override_may_be_partial_and_may_remove() -> None:
    text = """
config:
  kubernetes:context: any
  holdfast:agents:
    support-rag:
      image: null
      container: {env: [{name: A, value: null}]}
      storage: {volumes: [{name: index, size: 2Gi}]}
      network: {ingressFrom: [{namespace: clinic}]}
"""
    assert list(faults(stack_schema(), text)) == []


def test_every_field_is_described() -> None:
    for model in models_below([*KINDS.values(), Environment]):
        assert set(model.model_fields) <= set(field_descriptions(model)), model.__name__
