"""System messages in files: literal text from inside the project, and nothing else."""

import os
from pathlib import Path

import pytest
from holdfast.errors import InvalidFilesError
from holdfast.manifest.fleet.loader import load_fleet

from tests.unit.manifest.projects import Bad, agent, assert_refused, bad, spec, write

PROMPT = "prompt: {systemMessageFrom: {file: %s}}"
PROMPTS = [
    bad("79 out of the project", spec(PROMPT % "../../etc/passwd"), "7:38", "outside the project"),
    bad(
        "79 absolute path",
        spec(PROMPT % "/etc/passwd"),
        "7:38",
        "a file inside the project",
        "'/etc/passwd'",
    ),
    bad("80 link out of the project", spec(PROMPT % "link.md"), "7:38", "outside the project"),
    bad("80 links in a loop", spec(PROMPT % "loop.md"), "7:38", "loop"),
    bad("81 not a regular file", spec(PROMPT % "pipe.md"), "7:38", "expected a regular file"),
    bad("81 folder", spec(PROMPT % "."), "7:38", "expected a regular file"),
    bad("prompt that is not there", spec(PROMPT % "absent.md"), "7:38", "no such file"),
    bad("hidden folder", spec(PROMPT % "../.git/config.md"), "7:38", "that is not hidden"),
    bad("hidden file", spec(PROMPT % ".env.txt"), "7:38", "that is not hidden"),
    bad("credentials of a tool", spec(PROMPT % "../key.pem"), "7:38", "a file of text (.md, .txt)"),
    bad("link to a hidden file", spec(PROMPT % "way.md"), "7:38", "that is not hidden"),
    bad("prompt of more than 256 KiB", spec(PROMPT % "large.md"), "7:38", "at most 262144 bytes"),
    bad("prompt that is not UTF-8", spec(PROMPT % "latin.md"), "7:38", "UTF-8", "0xe9 at offset 3"),
]


@pytest.mark.parametrize("case", PROMPTS)
def test_a_bad_prompt_file_is_refused_at_its_place(tmp_path: Path, case: Bad) -> None:
    root = tmp_path / "project"
    write(root, "agents/large.md", b"x" * 262145)
    write(root, "agents/latin.md", b"caf\xe9")
    write(tmp_path, "outside.md", "secret")
    (root / "agents/link.md").symlink_to(tmp_path / "outside.md")
    (root / "agents/loop.md").symlink_to("loop.md")
    write(root, ".git/config.md", "token")
    (root / "agents/way.md").symlink_to("../.git/config.md")
    os.mkfifo(root / "agents/pipe.md")
    assert_refused(root, case)


@pytest.mark.parametrize("text", ["{{ name }}", "${HOME}", "$(id)"])
def test_a_prompt_is_taken_literally(tmp_path: Path, text: str) -> None:
    """Rows 76 to 78."""
    write(tmp_path, "agents/a.yaml", spec(f'prompt: {{systemMessage: "say {text}"}}'))
    write(tmp_path, "agents/b.yaml", agent("other", PROMPT % "prompts/b.md"))
    write(tmp_path, "agents/prompts/b.md", f"say {text}\n")
    other, triage = load_fleet(tmp_path).agents
    assert triage.spec.prompt
    assert triage.spec.prompt.system_message == f"say {text}"
    assert other.spec.prompt
    assert other.spec.prompt.system_message == f"say {text}\n"


LINKED = ["agents/x.yaml", "agents/tools.lock", "stacks/Pulumi.dev.yaml"]


@pytest.mark.parametrize("file", LINKED)
def test_no_file_of_a_project_is_a_link_to_another_file_of_the_machine(
    tmp_path: Path, file: str
) -> None:
    root = tmp_path / "project"
    write(root, "agents/a.yaml", spec("prompt: {systemMessage: x}"))
    write(root, "stacks/Pulumi.dev.yaml", "config: {}\n")
    secret = write(tmp_path, "passwd", "root:x:0:0\n")
    (root / file).unlink(missing_ok=True)
    (root / file).symlink_to(secret)
    with pytest.raises(InvalidFilesError) as caught:
        load_fleet(root, "dev")
    (error,) = caught.value.errors
    assert "a link that leads outside" in str(error)
    assert "root:x" not in str(error)


def test_a_link_inside_the_project_is_followed(tmp_path: Path) -> None:
    write(tmp_path, "shared/a.yaml", agent("linked", "prompt: {systemMessage: x}"))
    (tmp_path / "agents").mkdir()
    (tmp_path / "agents/a.yaml").symlink_to("../shared/a.yaml")
    assert [each.name for each in load_fleet(tmp_path).agents] == ["linked"]
