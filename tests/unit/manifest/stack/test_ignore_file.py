"""Rules on expected drift beside the stacks: read strictly, added to with every comment kept."""

from datetime import date
from pathlib import Path

import pytest
from holdfast.errors import InputError, InvalidFilesError
from holdfast.manifest.stack.ignore_entry import NewIgnore, with_rules
from holdfast.manifest.stack.ignore_file import DeclaredIgnore, read_ignore_file

FILE = "stacks/drift-ignore.yaml"
RULE = """\
ignore:
  # tuned by hand in the incident of May
  - target: {kind: Deployment, name: support-*}
    paths: [spec.replicas]
    stacks: [dev]
    reason: tuned by hand
    owner: cx
    expires: "2027-01-31"
"""
NEW = NewIgnore(
    target={"group": "apps", "kind": "Deployment", "name": "coder", "namespace": "dev"},
    paths=["spec.template.spec.containers[name=mesh]"],
    reason='the "mesh" adds it: always',
    owner="platform",
    expires=date(2027, 3, 31),
    stacks=["dev"],
)


def read(folder: Path, text: str, stack: str = "dev") -> tuple[DeclaredIgnore, ...]:
    file = folder / "drift-ignore.yaml"
    file.write_text(text)
    return read_ignore_file(file, FILE, stack)


def test_a_rule_is_read_with_its_place(tmp_path: Path) -> None:
    (rule,) = read(tmp_path, RULE)
    assert rule.entry.target.name == "support-*"
    assert rule.entry.expires == date(2027, 1, 31)
    assert str(rule.origin.value_location) == f"{FILE}:3:5"


def test_a_rule_holds_for_its_stacks(tmp_path: Path) -> None:
    assert len(read(tmp_path, RULE, "acme/holdfast/dev")) == 1
    assert read(tmp_path, RULE, "prod") == ()
    assert len(read(tmp_path, RULE, "")) == 1


@pytest.mark.parametrize("text", ["", "# nothing yet\n", "ignore: []\n"])
def test_a_file_without_rules_is_fine(tmp_path: Path, text: str) -> None:
    assert read(tmp_path, text) == ()


@pytest.mark.parametrize(
    ("old", "new", "error"),
    [
        pytest.param(
            'expires: "2027-01-31"',
            "expires: soon",
            f"{FILE}:8:14: ignore[0].expires: expected a day such as \"2026-03-31\", got 'soon'; "
            "write year, month and day, as YYYY-MM-DD",
            id="no day",
        ),
        pytest.param(
            "    owner: cx\n",
            "",
            f"{FILE}:3:5: ignore[0].owner: this field is required; add owner",
            id="nobody answers for it",
        ),
        pytest.param(
            "{kind: Deployment, name: support-*}",
            '{group: "*"}',
            f"{FILE}:3:5: ignore[0].target: expected a kind, a name or a namespace; name "
            "the objects that the rule is for",
            id="everything",
        ),
        pytest.param(
            "    paths: [spec.replicas]\n",
            "",
            f"{FILE}:3:5: ignore[0]: expected either paths or managers, got neither; say "
            "which changes are meant",
            id="neither path nor manager",
        ),
        pytest.param(
            "ignore:",
            "ignored:",
            f"{FILE}:1:1: ignored: expected a known field, got 'ignored'; did you mean \"ignore\"?",
            id="unknown key",
        ),
        pytest.param(
            RULE,
            "- one\n",
            f"{FILE}:1:1: expected a mapping with ignore, got a list; begin with ignore: and a "
            "list of rules",
            id="no mapping",
        ),
    ],
)
def test_a_faulty_rule_is_named(tmp_path: Path, old: str, new: str, error: str) -> None:
    with pytest.raises(InvalidFilesError) as raised:
        read(tmp_path, RULE.replace(old, new))
    assert str(raised.value.errors[0]) == error


@pytest.mark.parametrize(
    "before",
    [
        pytest.param("", id="no file"),
        pytest.param("# ours\n", id="a comment alone"),
        pytest.param("# ours\nignore: []\n", id="an empty list"),
        pytest.param("# ours\nignore:\n", id="a list to come"),
        pytest.param(RULE, id="one rule"),
        pytest.param(RULE.rstrip(), id="no newline at the end"),
        pytest.param(RULE.replace("\n  ", "\n"), id="a list that is not indented"),
    ],
)
def test_a_rule_is_added_at_the_end_and_every_comment_stays(tmp_path: Path, before: str) -> None:
    after = with_rules(before, FILE, [NEW, NEW])
    old = before.count("- target")
    rules = read(tmp_path, after)
    assert len(rules) == old + 2
    assert rules[-1].entry.reason == NEW.reason
    assert rules[-1].entry.paths == tuple(NEW.paths)
    assert [line for line in before.splitlines() if "#" in line] == [
        line for line in after.splitlines() if "#" in line and "is expected" not in line
    ]


def test_a_list_in_brackets_is_left_to_its_author() -> None:
    with pytest.raises(InputError, match="a list in brackets cannot be added to"):
        with_rules("ignore: [{target: {kind: Job}}]\n", FILE, [NEW])
