"""One value changes in a file of YAML, and nothing else: what it means, and how it is written."""

from typing import Any

import pytest
import yaml
from holdfast.errors import SourceLocation
from holdfast.kube.paths import Path, parse_path
from holdfast.manifest.text.documents import read_documents
from holdfast.manifest.text.yaml_edit import REMOVE, UneditableError, with_edit

TEXT = """\
# an agent
kind: Agent   # of ours
spec:
  image: a@sha256:1  # pinned
  env:
    # the level
    - {name: LEVEL, value: info}
    - name: MODE
      value: "fast"   # or slow
  limits: {cpu: "1"}
  rules: |
    collection: docs
    top_k: 8
  labels: {}

  ports:
  - 80
  - 443
---
kind: Other
spec: {a: 1, b: 2}
"""


def edited(path: str, value: Any, document: int = 0, text: str = TEXT) -> str:
    """Change by the place of the nearest value that is written, as its callers do."""
    origin, parts = read_documents(text, "f").documents[document].origin, parse_path(path)
    for depth, part in enumerate(parts):
        below = origin.child(part)
        if below is None:
            return with_edit(text, origin.value_location, parts[depth:], value)
        origin = below
    return with_edit(text, origin.value_location, (), value)


def changed_data(data: Any, path: Path, value: Any) -> Any:
    """The same change in the data."""
    inner = data
    for segment in path[:-1]:
        inner = inner.setdefault(segment, {}) if isinstance(inner, dict) else inner[segment]
    last = path[-1]
    if value is REMOVE:
        del inner[last]
    elif isinstance(inner, list) and last == len(inner):
        inner.append(value)
    else:
        inner[last] = value
    return data


@pytest.mark.parametrize(
    ("path", "value", "line"),
    [
        pytest.param("spec.image", "b@sha256:2", "  image: b@sha256:2  # pinned", id="scalar"),
        pytest.param("spec.env[1].value", "on", '      value: "on"   # or slow', id="quoted"),
        pytest.param(
            "spec.env[0].value", "a, b", '    - {name: LEVEL, value: "a, b"}', id="in flow"
        ),
        pytest.param("spec.limits.memory", "1Gi", '  limits: {cpu: "1", memory: 1Gi}', id="key"),
        pytest.param("spec.labels.a", "b", "  labels: {a: b}", id="first key in flow"),
        pytest.param("spec.replicas", 3, "  replicas: 3", id="key in a block"),
        pytest.param(
            "spec.env[2]", {"name": "NEW", "value": ""}, '    - {name: NEW, value: ""}', id="item"
        ),
        pytest.param("spec.ports[2]", 8080, "  - 8080", id="item of a list that is not indented"),
        pytest.param("spec.a.b", [1], "  a: {b: [1]}", id="what has no parent yet"),
        pytest.param("spec.rules", "x: 1\ny: 2\n", "    y: 2", id="several lines"),
        pytest.param("spec.env", [], "    []", id="a whole block"),
        pytest.param("spec.limits.cpu", REMOVE, "  limits: {}", id="the last key"),
        pytest.param("spec.image", REMOVE, "", id="a key of a block"),
        pytest.param("spec.env[0]", REMOVE, "", id="an item"),
        pytest.param("spec.env[1].name", REMOVE, '    - value: "fast"   # or slow', id="first key"),
        pytest.param("spec.env[1].value", REMOVE, "", id="last key of an item"),
        pytest.param("spec.env[0].name", REMOVE, "    - {value: info}", id="first key in flow"),
        pytest.param("spec.env[0].value", REMOVE, "    - {name: LEVEL}", id="last key in flow"),
        pytest.param("spec.ports[1]", REMOVE, "", id="last item"),
    ],
)
def test_the_change_and_nothing_else(path: str, value: Any, line: str) -> None:
    text = edited(path, value)
    before = list(yaml.safe_load_all(TEXT))
    wanted = changed_data(before[0], parse_path(path), value)
    assert list(yaml.safe_load_all(text)) == [wanted, before[1]]
    assert line in text.splitlines()
    gone = {each for each in TEXT.splitlines() if each not in text.splitlines()}
    assert len(gone) <= (5 if path == "spec.env" else 2)
    assert text.endswith("\n")


def test_another_document_is_meant_by_its_place() -> None:
    text = edited("spec.b", 3, document=1)
    assert text == TEXT.replace("b: 2", "b: 3")


def test_a_file_that_ends_without_a_newline() -> None:
    assert edited("b", 2, text="a: 1") == "a: 1\nb: 2\n"


@pytest.mark.parametrize(
    ("path", "value"),
    [
        pytest.param("spec.image.x", 1, id="below a scalar"),
        pytest.param("spec.absent", REMOVE, id="what is not there"),
        pytest.param("spec.ports[7]", 1, id="far behind the end"),
        pytest.param("", REMOVE, id="everything"),
    ],
)
def test_what_has_no_place_is_refused(path: str, value: Any) -> None:
    with pytest.raises(UneditableError):
        edited(path, value)


def test_a_place_where_nothing_begins_is_refused() -> None:
    with pytest.raises(UneditableError, match="nothing begins at f:1:1"):
        with_edit("  a: 1\n", SourceLocation("f", 1, 1), (), 2)
