"""Completion: the script loads; a shell that asks gets verbs, options, choices and names."""

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest
from holdfast.cli.main import run

MANIFESTS = {
    "agents/chat.yaml": "# a comment\nkind: Agent\nmetadata:\n  name: support\nspec: {}\n",
    "agents/more/two.yml": (
        "kind: Agent\nmetadata:\n  namespace: cx\n  # why\n\n  name: 'sales'\n"
        "---\nkind: MCPServer\nmetadata: {namespace: cx, name: docs}\n"
        "---\nkind: AgentTeam\nmetadata:\n  name: front\n"
    ),
    "agents/nameless.yaml": "kind: Agent\nmetadata:\nspec:\n  name: none\n",
    "agents/hostile.yaml": "kind: Agent\nmetadata:\n  name: $(touch${IFS}pwned)\n",
    "agents/broken.yaml": "kind: Agent\nmetadata: [\n",
    "stacks/Pulumi.a;b.yaml": "",
    "policy-pack/rules/own_rule.py": "raise SystemExit('a rule was run')\n",
    "policy-pack/rules/__init__.py": "",
}


@pytest.fixture
def project(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    (tmp_path / "Pulumi.yaml").write_text("name: holdfast\n")
    (tmp_path / "stacks").mkdir()
    for stack in ("dev", "prod"):
        (tmp_path / "stacks" / f"Pulumi.{stack}.yaml").write_text("config: {}\n")
    for file, text in MANIFESTS.items():
        (tmp_path / file).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / file).write_text(text)
    monkeypatch.chdir(tmp_path)
    return tmp_path


def completed(
    line: str, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> list[str]:
    monkeypatch.setenv("_HOLDFAST_COMPLETE", "bash_complete")
    monkeypatch.setenv("COMP_WORDS", line)
    monkeypatch.setenv("COMP_CWORD", str(line.count(" ")))
    with pytest.raises(SystemExit) as ended:
        run([])
    assert ended.value.code == 0
    lines = capsys.readouterr().out.splitlines()
    return [line.partition(",")[2] for line in lines if line]


@pytest.mark.usefixtures("project")
@pytest.mark.parametrize(
    ("line", "words"),
    [
        pytest.param("holdfast dr", ["drift"], id="verb"),
        pytest.param("holdfast drift rev", ["revert"], id="part of a verb"),
        pytest.param("holdfast agent rest", ["restart", "restore"], id="verb of a group"),
        pytest.param("holdfast validate -o j", ["json"], id="choice"),
        pytest.param("holdfast drift -s ", ["dev", "prod"], id="stacks"),
        pytest.param("holdfast policy check --stack p", ["prod"], id="stack begun"),
        pytest.param("holdfast promote --from d", ["dev"], id="stack of promote"),
        pytest.param("holdfast diff d", ["dev"], id="first stack of diff"),
        pytest.param("holdfast diff dev ", ["dev", "prod"], id="second stack of diff"),
        pytest.param("holdfast history p", ["prod"], id="stack of history"),
        pytest.param("holdfast agent describe x -s p", ["prod"], id="below a group"),
        pytest.param("holdfast drift plan -s ", ["dev", "prod"], id="below a verb"),
        pytest.param("holdfast agent restart x -s d", ["dev"], id="verb of a group's"),
        pytest.param("holdfast nothing x", [], id="unknown verb"),
        pytest.param("holdfast agent restart s", ["support", "sales"], id="agents"),
        pytest.param("holdfast agent describe sa", ["sales"], id="agent to describe"),
        pytest.param("holdfast status ", ["support", "sales"], id="agents of status"),
        pytest.param("holdfast drift owners su", ["support"], id="agent below a verb"),
        pytest.param("holdfast render --agent sa", ["sales"], id="agent of an option"),
        pytest.param("holdfast render --team ", ["front"], id="teams"),
        pytest.param("holdfast mcp check ", ["docs"], id="tool servers"),
        pytest.param("holdfast history s", ["support", "sales"], id="agents of history"),
        pytest.param("holdfast explain own-r", ["own-rule"], id="own rules"),
        pytest.param("holdfast explain image-d", ["image-digest-pinned"], id="rules"),
        pytest.param(
            "holdfast explain Mo",
            ["ModelConfig", "ModelConfig.metadata", "ModelConfig.spec"],
            id="a kind and its parts",
        ),
        pytest.param(
            "holdfast explain spec.scaling.maxR", ["spec.scaling.maxReplicas"], id="field"
        ),
        pytest.param("holdfast explain Stack.cluster.con", ["Stack.cluster.context"], id="setting"),
        pytest.param("holdfast agent set x scaling.rep", ["scaling.replicas="], id="field to set"),
        pytest.param(
            "holdfast drift revert --allow", ["--allow-replace"], id="option below a verb"
        ),
    ],
)
def test_a_shell_gets_what_fits(
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
    line: str,
    words: list[str],
) -> None:
    assert sorted(completed(line, monkeypatch, capsys)) == sorted(words)


def test_outside_a_project_there_are_no_stacks_and_no_error(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    assert completed("holdfast drift -s ", monkeypatch, capsys) == []


@pytest.mark.parametrize("shell", ["bash", "zsh", "fish"])
def test_the_script_names_the_variable_that_is_answered(
    shell: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert run(["completion", shell]) == 0
    assert f"_HOLDFAST_COMPLETE={shell}_complete" in capsys.readouterr().out


def test_bash_reads_its_script(capsys: pytest.CaptureFixture[str]) -> None:
    bash = shutil.which("bash")
    assert bash is not None
    assert run(["completion", "bash"]) == 0
    text = capsys.readouterr().out.encode()
    subprocess.run([bash, "-n"], input=text, check=True)


ASKED = """
eval "$("$HOLDFAST" completion bash)"
read -ra COMP_WORDS <<< "$LINE"
[[ $LINE == *" " ]] && COMP_WORDS+=("")
COMP_CWORD=$(( ${#COMP_WORDS[@]} - 1 ))
_holdfast_completion holdfast
printf '%s\\n' "${COMPREPLY[@]}"
"""


@pytest.mark.parametrize(
    ("line", "words"),
    [
        pytest.param("holdfast agent restart s", {"support", "sales"}, id="agents"),
        pytest.param("holdfast status -s ", {"dev", "prod"}, id="stacks"),
        pytest.param("holdfast policy list --profile d", {"dev"}, id="choice"),
    ],
)
def test_a_real_bash_completes_and_writes_nothing_to_standard_error(
    project: Path, tmp_path_factory: pytest.TempPathFactory, line: str, words: set[str]
) -> None:
    # The command as an installation makes it: an environment of the tests may have none.
    program = tmp_path_factory.mktemp("bin") / "holdfast"
    program.write_text(f'#!/bin/sh\nexec {sys.executable} -m holdfast.cli.main "$@"\n')
    program.chmod(0o755)
    environment = {
        "PATH": f"{program.parent}:/usr/bin:/bin",
        "PYTHONPATH": os.environ.get("PYTHONPATH", ""),
        "HOLDFAST": str(program),
        "LINE": line,
    }
    done = subprocess.run(
        ["bash", "-c", ASKED], cwd=project, env=environment, capture_output=True, text=True,
        check=True,
    )  # fmt: skip
    assert (set(done.stdout.split()), done.stderr) == (words, "")
    assert not (project / "pwned").exists()


@pytest.mark.parametrize(
    "line",
    ["holdfast explain sp", "holdfast agent restart ", "holdfast drift -s ", "holdfast x y "],
)
@pytest.mark.parametrize("shell", ["bash", "zsh", "fish"])
def test_no_shell_gets_an_error_in_a_folder_that_is_gone(
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
    shell: str,
    line: str,
) -> None:
    gone = tmp_path / "gone"
    gone.mkdir()
    monkeypatch.chdir(gone)
    gone.rmdir()
    monkeypatch.setenv("_HOLDFAST_COMPLETE", f"{shell}_complete")
    monkeypatch.setenv("COMP_WORDS", line)
    monkeypatch.setenv(
        "COMP_CWORD", line.rsplit(maxsplit=1)[-1] if shell == "fish" else str(line.count(" "))
    )
    with pytest.raises(SystemExit):
        run([])
    assert capsys.readouterr().err == ""


def test_completion_loads_no_models() -> None:
    asked = (
        "import os, sys; os.environ.update(_HOLDFAST_COMPLETE='bash_complete',"
        "COMP_WORDS='holdfast explain spec.', COMP_CWORD='2')\n"
        "from holdfast.cli.main import run\n"
        "try: run([])\n"
        "except SystemExit: pass\n"
        "print(sorted({'pydantic', 'pulumi', 'kubernetes', 'yaml'} & set(sys.modules)))"
    )
    done = subprocess.run([sys.executable, "-c", asked], capture_output=True, text=True, check=True)
    assert done.stdout.splitlines()[-1] == "[]"
    assert done.stderr == ""
