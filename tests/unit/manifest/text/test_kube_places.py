"""The line and column of a field in a file of Kubernetes objects."""

from pathlib import Path

import pytest
from holdfast.kube.paths import format_path
from holdfast.manifest.text.kube_files import read_kube_objects
from holdfast.manifest.text.kube_places import KubeFilePlaces
from hypothesis import given
from hypothesis import strategies as st

FILE = """\
# a comment
apiVersion: v1
kind: ConfigMap
metadata: {name: first}
data:
  "a.b": one
---
---
apiVersion: v1
kind: List
items:
- apiVersion: v1
  kind: Pod
  metadata:
    name: second
  spec:
    containers:
    - name: agent
      ports:
      - {containerPort: 80, protocol: TCP}
      image: "x:latest"
"""
PLACES = [
    pytest.param(0, "", "2:1", id="a whole object"),
    pytest.param(0, 'data["a.b"]', "6:10", id="a value whose key has a dot"),
    pytest.param(0, "data.absent.deeper", "5:1", id="what is absent stands below what is there"),
    pytest.param(1, "metadata.name", "15:11", id="an item of a List"),
    pytest.param(1, "spec.containers[name=agent].image", "21:14", id="an item by its name"),
    pytest.param(1, "spec.containers[0].image", "21:14", id="an item by its number"),
    pytest.param(
        1,
        "spec.containers[name=agent].ports[containerPort=80,protocol=TCP].containerPort",
        "20:25",
        id="an item by two keys",
    ),
    pytest.param(1, "spec.containers[name=other].image", "17:5", id="an item that is not there"),
    pytest.param(1, "spec.containers[7]", "17:5", id="a number that is not there"),
]


@pytest.mark.parametrize(("index", "path", "place"), PLACES)
def test_a_field_is_found(tmp_path: Path, index: int, path: str, place: str) -> None:
    file = tmp_path / "objects.yaml"
    file.write_text(FILE)
    assert str(KubeFilePlaces(str(file)).place_of(index, path)) == f"{file}:{place}"


def test_json_that_is_no_yaml_is_known_by_its_file(tmp_path: Path) -> None:
    file = tmp_path / "objects.json"
    file.write_text('{\t"apiVersion": "v1", "kind": "Pod", "metadata": {"name": "a"}}')
    assert len(read_kube_objects(file)) == 1
    assert KubeFilePlaces(str(file)).place_of(0, "metadata.name").file == str(file)


@given(st.lists(st.sampled_from(["Pod", "List", "Kustomization", ""]), max_size=6))
def test_objects_are_counted_as_they_are_read(
    tmp_path_factory: pytest.TempPathFactory, kinds: list[str]
) -> None:
    """Law: the n-th object that is read is found as the n-th, whatever stands between them."""
    texts = {
        "Pod": "apiVersion: v1\nkind: Pod\nmetadata: {name: x%d}\n",
        "List": "kind: List\nitems: [{apiVersion: v1, kind: Pod, metadata: {name: x%d}}]\n",
        "Kustomization": "apiVersion: kustomize.config.k8s.io/v1\nkind: Kustomization\n# %d\n",
        "": "# nothing %d\n",
    }
    file = tmp_path_factory.mktemp("files") / "objects.yaml"
    text = "---\n".join(texts[kind] % number for number, kind in enumerate(kinds))
    file.write_text(text)
    lines = text.splitlines()
    for index, one in enumerate(read_kube_objects(file)):
        place = KubeFilePlaces(str(file)).place_of(index, format_path(("metadata", "name")))
        assert f"name: {one.kube_object['metadata']['name']}" in lines[place.line - 1]
