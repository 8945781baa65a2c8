"""Actions that go through Git: tried, shown, written."""

import json
from pathlib import Path

import pytest
from holdfast.cli.main import run

MANIFEST = f"""\
apiVersion: holdfast.dev/v1alpha1
kind: Agent
metadata: {{name: mover, namespace: cx}}
spec:
  version: 1.0.0
  owner: customer-care
  image: registry.example/any@sha256:{"a" * 64}
"""
STACK = """\
# Production.
config:
  holdfast:cluster: {context: prod, identifier: prod}
  holdfast:agents:
    mover:
      version: 1.0.0  # pinned here
"""


@pytest.fixture
def project(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A project of one agent and one stack; nothing leaves the test's folder."""
    for folder in ("agents", "stacks"):
        (tmp_path / folder).mkdir()
    (tmp_path / "Pulumi.yaml").write_text("name: test\nruntime: python\n")
    (tmp_path / "agents" / "mover.yaml").write_text(MANIFEST)
    (tmp_path / "stacks" / "Pulumi.prod.yaml").write_text(STACK)
    monkeypatch.setenv("HOLDFAST_STATE", str(tmp_path / "state"))
    monkeypatch.chdir(tmp_path)
    return tmp_path


def act(*words: str) -> int:
    return run(["agent", *words, "-s", "prod", "--reason", "the sale"])


def test_set_writes_the_stack_file_and_keeps_what_stands_there(
    project: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert act("set", "mover", "scaling.replicas=4") == 0
    written = (project / "stacks" / "Pulumi.prod.yaml").read_text()
    assert written.startswith(STACK.rstrip("\n"))
    assert "replicas: 4" in written
    shown = capsys.readouterr()
    assert "+      scaling: {replicas: 4}" in shown.out
    assert "commit stacks/Pulumi.prod.yaml, and run `holdfast up`" in shown.err
    journal = (project / "state" / "history" / "test" / "prod" / "updates.jsonl").read_text()
    assert '"reason":"the sale"' in journal
    assert "declared scaling.replicas: 4" in journal


def test_nothing_is_done_without_a_reason(
    project: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert run(["agent", "set", "mover", "scaling.replicas=4", "-s", "prod"]) == 2
    assert "Missing option '--reason'" in capsys.readouterr().err
    assert "replicas" not in (project / "stacks" / "Pulumi.prod.yaml").read_text()


def test_what_is_declared_already_is_not_written_again(
    project: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert act("set", "mover", "scaling.replicas=4") == 0
    before = (project / "stacks" / "Pulumi.prod.yaml").read_text()
    assert act("set", "mover", "scaling.replicas=4") == 0
    assert "mover is declared like that already" in capsys.readouterr().err
    assert (project / "stacks" / "Pulumi.prod.yaml").read_text() == before


@pytest.mark.parametrize(
    ("words", "said"),
    [
        pytest.param(
            ("set", "mover", "scaling.replicas=3000"),
            "spec.scaling.replicas: expected a number from 0 to 1000, got the number 3000",
            id="too many",
        ),
        pytest.param(
            ("restore", "mover", "--from", "monday", "--from", "tuesday"),
            "--from monday --from tuesday: expected one backup, or VOLUME=BACKUP for each",
            id="two for one",
        ),
        pytest.param(
            ("restore", "mover", "--from", "monday"),
            "spec.storage.restoreFrom: has no effect without a volume of the agent's own",
            id="nothing to fill",
        ),
        pytest.param(
            ("set", "mover", "scaling.availability.active=standby"),
            "spec.scaling.availability.active",
            id="no standby",
        ),
        pytest.param(
            ("set", "mover", "foo=1"),
            "error: mover: spec.foo: expected a known field, got 'foo'",
            id="no field of that name, and no line of a file that is not written",
        ),
        pytest.param(
            ("set", "moover", "scaling.replicas=1"), 'did you mean "mover"?', id="another name"
        ),
        pytest.param(("set", "mover", "image"), "'image': expected FIELD=VALUE", id="no value"),
        pytest.param(
            ("set", "mover", "scaling.replicas=2", "container.resources.limits.memory=much"),
            "spec.container.resources.limits.memory: expected",
            id="one of two is wrong",
        ),
        pytest.param(("set", "mover", "container.env={a: [1"), "container.env: ", id="no YAML"),
    ],
)
def test_what_cannot_be_meant_is_refused_and_nothing_is_written(
    project: Path, capsys: pytest.CaptureFixture[str], words: tuple[str, ...], said: str
) -> None:
    assert act(*words) == 2
    assert said in capsys.readouterr().err
    assert (project / "stacks" / "Pulumi.prod.yaml").read_text() == STACK


def test_several_fields_are_declared_at_once(
    project: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    changes = ("scaling.replicas=2", "spec.container.resources.limits.memory=2Gi")
    assert act("set", "mover", *changes) == 0
    written = (project / "stacks" / "Pulumi.prod.yaml").read_text()
    assert "replicas: 2" in written
    assert "memory: 2Gi" in written
    assert "+" in capsys.readouterr().out


def test_a_dry_run_writes_nothing_and_tells_programs_the_same(
    project: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert act("set", "mover", "scaling.replicas=4", "--dry-run", "-o", "json") == 0
    document = json.loads(capsys.readouterr().out)
    assert (document["action"], document["outcome"]) == ("set", "planned")
    assert document["file"] == "stacks/Pulumi.prod.yaml"
    assert "+      scaling: {replicas: 4}" in document["diff"]
    assert (project / "stacks" / "Pulumi.prod.yaml").read_text() == STACK
    assert not (project / "state" / "history").exists()
