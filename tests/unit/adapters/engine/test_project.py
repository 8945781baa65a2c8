from pathlib import Path

import pytest
from holdfast.adapters.engine.project import read_project
from holdfast.errors import InputError


@pytest.mark.parametrize(
    ("text", "name", "environment", "backend"),
    [
        pytest.param(
            "name: holdfast\nruntime:\n  name: python\n  options:\n    virtualenv: .venv\n",
            "holdfast",
            ".venv",
            "",
            id="block",
        ),
        pytest.param(
            'runtime: {name: python, options: {virtualenv: ".venv"}}\nname: "a-b"  # ours\n',
            "a-b",
            ".venv",
            "",
            id="flow-and-quotes",
        ),
        pytest.param("name: x\nruntime: yaml\n", "x", None, "", id="no-python"),
        pytest.param(
            "name: x\nbackend:\n  url: s3://state?region=eu # ours\n",
            "x",
            None,
            "s3://state?region=eu",
            id="backend",
        ),
        pytest.param("name: x\nbackend: {url: gs://s}\n", "x", None, "gs://s", id="backend-flow"),
        pytest.param("# name: no\nname: yes-it-is\n", "yes-it-is", None, "", id="comment-before"),
        pytest.param(
            "name: x\nruntime:\n  name: python\n  options:\n    # virtualenv: old-venv\n"
            "    virtualenv: .venv\n",
            "x",
            ".venv",
            "",
            id="an-environment-in-a-comment",
        ),
        pytest.param(
            "name: x\ndescription: 'virtualenv: of nothing'\nruntime: python\n",
            "x",
            None,
            "",
            id="an-environment-in-a-text",
        ),
        pytest.param(
            "name: x\nbackend:\n  # where the team keeps it\n\n  url: s3://state\n",
            "x",
            None,
            "s3://state",
            id="a-comment-inside-the-backend",
        ),
        pytest.param(
            '"name": x\n"backend": {"url": "gs://s"}\n', "x", None, "gs://s", id="quoted-keys"
        ),
        pytest.param(
            "name: x\nconfig:\n  backend:\n    url: s3://no\n", "x", None, "", id="another-url"
        ),
        pytest.param(
            "name: x\nconfig: {p:flag: {default: yes}}\n", "x", None, "", id="a-word-of-yaml-1.1"
        ),
    ],
)
def test_reads_what_must_be_known_before_the_engine(
    tmp_path: Path, text: str, name: str, environment: str | None, backend: str
) -> None:
    (tmp_path / "Pulumi.yaml").write_text(text)

    project = read_project(tmp_path)

    assert (project.root, project.name, project.backend_url) == (tmp_path, name, backend)
    assert project.virtual_environment == (tmp_path / environment if environment else None)


@pytest.mark.parametrize(
    ("text", "says"),
    [
        pytest.param(None, "cannot be read", id="absent"),
        pytest.param(
            "runtime:\n  name: python\n", "expected a line 'name: <project>'", id="nameless"
        ),
        pytest.param("name: 12\n", "expected a line 'name: <project>'", id="a-number"),
        pytest.param("- name: x\n", "expected a line 'name: <project>'", id="a-list"),
        pytest.param("runtime: python\n  name: python\n", r"Pulumi\.yaml:2:", id="no-yaml"),
        pytest.param("", "is empty", id="empty"),
    ],
)
def test_refuses_a_folder_that_is_no_project(tmp_path: Path, text: str | None, says: str) -> None:
    if text is not None:
        (tmp_path / "Pulumi.yaml").write_text(text)

    with pytest.raises(InputError, match=says):
        read_project(tmp_path)
