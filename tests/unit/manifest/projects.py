"""Small projects on disk, as tests of the loader need them, and the form of a bad input."""

from dataclasses import dataclass
from pathlib import Path
from textwrap import dedent, indent

import pytest
from holdfast.errors import InvalidFilesError
from holdfast.manifest.fleet.loader import load_fleet

MANIFEST = "agents/triage.yaml"
EXCEPTION = """\
apiVersion: holdfast.dev/v1alpha1
kind: PolicyException
metadata: {name: legacy-egress}
spec:
  rules: [egress-scoped]
  target: {kind: NetworkPolicy, name: triage, namespace: agents}
  reason: the vendor has no fixed addresses yet
  owner: sre
  ticket: OPS-17
  approver: security
  expires: "2026-05-30"
"""
STACK = "stacks/Pulumi.dev.yaml"
IMAGE = "registry.example/agent@sha256:" + "0" * 64


def write(root: Path, file: str, content: str | bytes) -> Path:
    """Put a file into a project; text is dedented."""
    path = root / file
    path.parent.mkdir(parents=True, exist_ok=True)
    if isinstance(content, str):
        content = dedent(content).encode()
    path.write_bytes(content)
    return path


def agent(name: str = "triage", spec: str = "", metadata: str = "", image: str = IMAGE) -> str:
    """A manifest of six lines; `spec` is dedented and begins on line 7."""
    head = f"""\
apiVersion: holdfast.dev/v1alpha1
kind: Agent
metadata: {{name: {name}{metadata}}}
spec:
  version: 1.0.0
  image: "{image}"
"""
    return head + indent(dedent(spec).strip("\n"), "  ") + "\n"


def errors_of(root: Path, stack: str | None = None) -> InvalidFilesError:
    """All that is wrong with a project."""
    with pytest.raises(InvalidFilesError) as caught:
        load_fleet(root, stack)
    return caught.value


@dataclass(frozen=True)
class Bad:
    """One bad input: what stands in which file, where the fault is, and words of the error."""

    content: str | bytes
    place: str
    words: tuple[str, ...]
    file: str


def bad(row: str, content: str | bytes, place: str, *words: str, file: str = MANIFEST) -> object:
    """A row of a table of bad inputs; numbers are those of the project's list of them."""
    return pytest.param(Bad(content, place, words, file), id=row)


def spec(text: str) -> str:
    """A manifest of an agent called triage; `text` begins on line 7, two columns in."""
    return agent(spec=text)


def assert_refused(root: Path, case: Bad) -> None:
    """A project with this input has exactly this one error, at this place."""
    if case.file != MANIFEST and case.file.startswith("agents/"):
        write(root, "agents/.keep", "")
    else:
        write(root, MANIFEST, agent())
    write(root, STACK, "config: {}")
    write(root, case.file, case.content)
    errors = errors_of(root, "dev").errors
    first = errors[0]
    assert str(first.location) == f"{case.file}:{case.place}", str(first)
    for word in case.words:
        assert word in str(first)
    assert len(errors) == 1, [str(error) for error in errors]
