"""What may be read of a project: a change of any of it shows, and what cannot be seen is said."""

import os
from pathlib import Path

import pytest
from holdfast.manifest.fleet.loader import load_fleet
from holdfast.manifest.fleet.project_files import FilesRead, noted_reads, project_digests
from hypothesis import given
from hypothesis import strategies as st

from tests.unit.manifest.projects import MANIFEST, STACK, agent, spec, write

NAMES = st.sampled_from(
    ["a.yaml", "b.json", "tools.lock", "prompts/p.md", "deep/er/x", ".hidden", "no suffix"]
)
TREES = st.dictionaries(
    st.tuples(st.sampled_from(["agents", "stacks"]), NAMES).map("/".join), st.binary(max_size=8)
)


def project(root: Path) -> Path:
    write(root, MANIFEST, agent())
    write(root, STACK, "config: {}")
    return root


@given(one=TREES, other=TREES)
def test_two_projects_look_alike_only_if_every_file_is_the_same(
    tmp_path_factory: pytest.TempPathFactory, one: dict[str, bytes], other: dict[str, bytes]
) -> None:
    def digests(tree: dict[str, bytes]) -> dict[str, str] | None:
        root = project(tmp_path_factory.mktemp("project"))
        for file, content in tree.items():
            write(root, file, content)
        return project_digests(root)

    assert digests(one) is not None
    assert (digests(one) == digests(other)) is (one == other)


def test_one_more_file_counts_wherever_it_is(tmp_path: Path) -> None:
    root, rules = project(tmp_path / "project"), write(tmp_path, "rules.yaml", "ignore: []\n")
    before = project_digests(root, rules)
    assert before is not None
    assert before.keys() - (project_digests(root) or {}).keys() == {str(rules)}
    rules.write_text("ignore: []\n# changed\n")
    assert project_digests(root, rules) != before


@pytest.mark.parametrize(
    "spoil",
    [
        pytest.param(lambda root: (root / "agents/l.md").symlink_to("triage.yaml"), id="link"),
        pytest.param(lambda root: (root / "agents/l").symlink_to(root), id="linked folder"),
        pytest.param(lambda root: os.mkfifo(root / "agents/pipe"), id="pipe"),
        pytest.param(
            lambda root: [
                (root / "agents").rename(root / "elsewhere"),
                (root / "agents").symlink_to("elsewhere"),
            ],
            id="agents/ is a link",
        ),
        pytest.param(lambda root: (root / "agents").rename(root / "gone"), id="no agents/"),
        pytest.param(lambda root: (root / "stacks").rename(root / "gone"), id="no stacks/"),
    ],
)
def test_what_does_not_settle_what_is_read_has_no_digests(tmp_path: Path, spoil: object) -> None:
    root = project(tmp_path)
    assert project_digests(root) is not None
    assert callable(spoil)
    spoil(root)
    assert project_digests(root) is None


def test_a_further_file_that_is_a_link_or_absent_has_no_digests(tmp_path: Path) -> None:
    root = project(tmp_path / "project")
    rules = write(tmp_path, "rules.yaml", "ignore: []\n")
    (tmp_path / "link.yaml").symlink_to(rules)
    assert project_digests(root, tmp_path / "link.yaml") is None
    assert project_digests(root, tmp_path / "absent.yaml") is None


def reads_of(root: Path) -> FilesRead:
    with noted_reads() as read:
        load_fleet(root, "dev")
    return read


def test_what_loading_reads_is_what_was_seen(tmp_path: Path) -> None:
    root = project(tmp_path)
    write(root, "agents/b.yaml", spec("prompt: {systemMessageFrom: {file: p/b.md}}").replace(
        "triage", "other"
    ))  # fmt: skip
    write(root, "agents/p/b.md", "be brief\n")
    seen, read = project_digests(root), reads_of(root)
    assert seen is not None
    assert {path.name for path in read.digests} == {
        "triage.yaml",
        "b.yaml",
        "b.md",
        "Pulumi.dev.yaml",
    }
    assert read.are_within(seen, root)
    assert not read.are_within({**seen, "agents/p/b.md": seen[MANIFEST]}, root), "other bytes"
    assert not read.are_within({k: v for k, v in seen.items() if k != MANIFEST}, root), "not seen"


def test_a_prompt_outside_the_folders_was_not_seen(tmp_path: Path) -> None:
    root = project(tmp_path)
    write(root, MANIFEST, spec("prompt: {systemMessageFrom: {file: ../prompts/p.md}}"))
    write(root, "prompts/p.md", "be brief\n")
    seen, read = project_digests(root), reads_of(root)
    assert seen is not None
    assert read.is_repeatable
    assert not read.are_within(seen, root)


def test_a_prompt_found_by_a_link_may_be_another_one_tomorrow(tmp_path: Path) -> None:
    root = project(tmp_path)
    write(root, MANIFEST, spec("prompt: {systemMessageFrom: {file: ../way/p.md}}"))
    write(root, "agents/p.md", "be brief\n")
    (root / "way").symlink_to("agents")
    seen, read = project_digests(root), reads_of(root)
    assert seen is not None
    assert not read.are_within(seen, root)


def test_nothing_is_noted_after_the_end(tmp_path: Path) -> None:
    root = project(tmp_path)
    read = reads_of(root)
    before = dict(read.digests)
    write(root, MANIFEST, agent(spec="owner: cx"))
    load_fleet(root, "dev")
    assert read.digests == before
