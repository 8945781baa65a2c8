from pathlib import Path
from typing import Any

import pytest
from holdfast.errors import ExitCode, InputError
from holdfast.manifest.text.kube_files import read_data, read_kube_objects

POD = "apiVersion: v1\nkind: Pod\nmetadata: {name: a}\n"


def write(folder: Path, text: str | bytes, name: str = "a.yaml") -> Path:
    file = folder / name
    file.write_bytes(text.encode() if isinstance(text, str) else text)
    return file


@pytest.mark.parametrize(
    ("text", "value"),
    [
        pytest.param("a: 2026-01-01", "2026-01-01", id="date is text"),
        pytest.param("a: 12:30:45", "12:30:45", id="no base 60"),
        pytest.param("a: 012", 10, id="octal as Kubernetes reads it"),
        pytest.param("a: 1e3", 1000.0, id="number with exponent"),
        pytest.param("a: 1.5", 1.5, id="fraction"),
        pytest.param("a: yes", True, id="yes"),
        pytest.param("a: '5'", "5", id="quoted"),
        pytest.param("a: ~", None, id="null"),
        pytest.param("a: 1_000", 1000, id="underscores between digits"),
        pytest.param("a: y", True, id="one letter for true"),
        pytest.param("a: N", False, id="one letter for false"),
        pytest.param("a: 0b1010", 10, id="binary"),
        pytest.param("a: 0o17", 15, id="octal with its letter"),
        pytest.param("a: 08", 8, id="what only looks octal"),
        pytest.param("a: '='", "=", id="an equals sign"),
        pytest.param("a: 0x1F", 31, id="hexadecimal"),
    ],
)
def test_scalars_are_typed_like_kubernetes_types_them(
    tmp_path: Path, text: str, value: Any
) -> None:
    assert read_data(write(tmp_path, text)) == [{"a": value}]


def test_documents_lists_and_folders_are_flattened_in_order(tmp_path: Path) -> None:
    write(tmp_path, f"{POD}---\n---\n{POD.replace('a}', 'b}')}", "2.yaml")
    (tmp_path / "inner").mkdir()
    listed = '{"kind":"List","apiVersion":"v1","items":[{"kind":"ConfigMapList","items":[%s]}]}'
    item = '{"apiVersion":"v1","kind":"ConfigMap","metadata":{"name":"c"}}'
    write(tmp_path, listed % item, "inner/1.json")
    write(tmp_path, "not read", "notes.txt")
    found = [(one.kube_object["metadata"]["name"], one.file) for one in read_kube_objects(tmp_path)]
    assert [name for name, _ in found] == ["a", "b", "c"]
    assert found[0][1].endswith("2.yaml")


def test_what_kustomize_reads_is_passed_over(tmp_path: Path) -> None:
    text = f"kind: Kustomization\napiVersion: kustomize.config.k8s.io/v1beta1\n---\n{POD}"
    assert len(read_kube_objects(write(tmp_path, text))) == 1


@pytest.mark.parametrize(
    ("text", "message"),
    [
        pytest.param("a: [1", r"a.yaml:1:4: expected ',' or '\]' after this '\['", id="syntax"),
        pytest.param(
            "a: {b: 1\nc: 2", "a.yaml:1:4: expected ',' or '}' after this '{'", id="a later line"
        ),
        pytest.param("\t- a", "a.yaml:1:1: expected valid YAML, got a tab", id="tab"),
        pytest.param("a: !!python/object/apply:os.system [x]", "got the unsupported tag", id="tag"),
        pytest.param(b"\xff\xfe\x00", "expected valid YAML", id="encoding"),
        pytest.param(b"a: \x00", "expected valid YAML", id="null byte"),
        pytest.param("[" * 50_000, "nested too deeply", id="deep flow"),
        pytest.param("- " * 50_000, "nested too deeply", id="deep block"),
        pytest.param("a: &a {b: 1}\nc:\n  <<: *a", "merge keys", id="merge key"),
        pytest.param("a: &a [*a]", "aliases stand for", id="self-reference"),
        pytest.param("- a", "expected a Kubernetes object, got list", id="list"),
        pytest.param("just text", "expected a Kubernetes object, got str", id="text"),
        pytest.param("kind: Pod", "an object without apiVersion", id="no apiVersion"),
        pytest.param("apiVersion: v1", "an object without kind", id="no kind"),
        pytest.param("apiVersion: v1\nkind: Pod", "Pod without metadata.name", id="no name"),
        pytest.param("apiVersion: 1\nkind: Pod", "without apiVersion", id="number"),
        pytest.param('{"a": 1', "expected ',' or '}' after this '{'", id="broken JSON"),
    ],
)
def test_a_bad_file_is_one_clear_error(tmp_path: Path, text: str | bytes, message: str) -> None:
    with pytest.raises(InputError, match=message) as caught:
        read_kube_objects(write(tmp_path, text))
    assert str(tmp_path / "a.yaml") in str(caught.value)
    assert caught.value.exit_code is ExitCode.BAD_INPUT


def test_nothing_to_read_is_an_error(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="no such file"):
        read_kube_objects(tmp_path / "absent.yaml")
    with pytest.raises(InputError, match="no YAML or JSON file"):
        read_kube_objects(tmp_path)


def test_a_bomb_of_aliases_is_refused_before_it_is_walked(tmp_path: Path) -> None:
    lines = ["a0: &a0 [x, x, x, x, x, x, x, x, x, x]"]
    lines += [f"a{n}: &a{n} [{', '.join([f'*a{n - 1}'] * 10)}]" for n in range(1, 30)]
    with pytest.raises(InputError, match="aliases stand for"):
        read_kube_objects(write(tmp_path, "\n".join(lines)))


@pytest.mark.parametrize(
    "value",
    [
        '!!bool "zzz"',
        "!!int x",
        "!!int ''",
        "!!float ''",
        "!!binary aGk=",
        "!!set {a}",
        "!!timestamp x",
        "!!omap [a: 1]",
        "!custom x",
    ],
)
def test_a_tag_that_its_value_cannot_be_is_an_error_and_no_crash(
    tmp_path: Path, value: str
) -> None:
    with pytest.raises(InputError, match="expected valid YAML"):
        read_data(write(tmp_path, f"a: {value}"))


@pytest.mark.parametrize(("key", "read"), [("1", "1"), ("y", "true"), ("no", "false"), ("a", "a")])
def test_keys_are_text_as_kubernetes_makes_them(tmp_path: Path, key: str, read: str) -> None:
    assert read_data(write(tmp_path, f"{key}: x")) == [{read: "x"}]


def test_a_key_that_is_no_scalar_is_an_error(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="key"):
        read_data(write(tmp_path, "null: x"))


def test_what_flux_calls_a_kustomization_is_an_object(tmp_path: Path) -> None:
    text = "apiVersion: kustomize.toolkit.fluxcd.io/v1\nkind: Kustomization\nmetadata: {name: a}\n"
    (found,) = read_kube_objects(write(tmp_path, text))
    assert found.kube_object["kind"] == "Kustomization"


def test_a_kind_that_only_ends_in_list_is_an_object(tmp_path: Path) -> None:
    text = "apiVersion: a.example/v1\nkind: AllowList\nmetadata: {name: a}\nspec: {items: []}\n"
    (found,) = read_kube_objects(write(tmp_path, text))
    assert found.kube_object["kind"] == "AllowList"
