"""What a stack declares, kept: a wrong hit would be a false "clean", so none may be one."""

import multiprocessing
import os
import subprocess
import sys
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Any

import pytest
from holdfast.operations.stack import declaration_cache
from holdfast.operations.stack.context import StackContext
from holdfast.operations.stack.declaration import declaration_of
from holdfast.operations.stack.declaration_cache import (
    DeclarationCache,
    StackDeclaration,
    code_digest,
)
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.unit.manifest.projects import MANIFEST, STACK, agent, spec, write

ROOT = Path(__file__).resolve().parents[4]
RULES = """\
ignore:
  - target: {kind: ConfigMap, namespace: cx}
    paths: ['data["a.b"]', "spec.containers[name=agent].env[*]", "rules[1]"]
    reason: raised while the incident lasts
    owner: cx
    expires: "2999-01-01"
"""


@pytest.fixture(autouse=True)
def cache_folder(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Path:
    monkeypatch.setenv("HOLDFAST_CACHE", str(tmp_path / "cache"))
    return tmp_path / "cache"


def project(root: Path) -> Path:
    write(root, MANIFEST, spec("owner: cx\nprompt: {systemMessageFrom: {file: p/triage.md}}"))
    write(root, "agents/p/triage.md", "be brief\n")
    write(root, STACK, "config: {}")
    write(root, "stacks/Pulumi.prod.yaml", "config: {}")
    return root


class Maker:
    """Makes the declaration of a stack from its files, and counts how often."""

    def __init__(self, root: Path, stack: str = "dev", ignore_file: Path | None = None) -> None:
        self.cache = DeclarationCache(root, stack, ignore_file)
        self.calls = 0

    def __call__(self) -> StackDeclaration:
        self.calls += 1
        state = StackContext(self.cache.project_root, self.cache.stack)
        return declaration_of(state, self.cache.ignore_file)

    def declaration(self) -> StackDeclaration:
        return self.cache.declaration(self)

    def made_again(self) -> bool:
        """Whether the next one is made, not taken from what is kept; equal it is in any case."""
        before = self.calls
        declared = self.declaration()
        is_made = self.calls > before
        assert declared == self()
        return is_made


@pytest.mark.parametrize("stack", ["dev", "staging", "prod"])
def test_what_is_kept_is_what_would_be_made(stack: str) -> None:
    maker = Maker(ROOT, stack)
    assert maker.made_again()
    assert not maker.made_again()
    assert not Maker(ROOT, stack).made_again(), "another process would find it, too"


def test_rules_on_expected_drift_keep_their_paths_and_days(tmp_path: Path) -> None:
    root = project(tmp_path / "project")
    write(root, "stacks/drift-ignore.yaml", RULES)
    maker = Maker(root)
    assert maker.made_again()
    (rule,) = maker.declaration().ignore
    assert maker.calls == 2
    assert (len(rule.paths), str(rule.expires)) == (3, "2999-01-01")
    assert str(rule.location) == "stacks/drift-ignore.yaml:2:5"


CHANGES = [
    pytest.param(lambda root: write(root, MANIFEST, agent()), id="manifest changed"),
    pytest.param(lambda root: write(root, "agents/b.yaml", agent("b")), id="manifest added"),
    pytest.param(
        lambda root: (root / MANIFEST).rename(root / "agents/other.yaml"), id="manifest renamed"
    ),
    pytest.param(lambda root: write(root, "agents/p/triage.md", "be long\n"), id="prompt changed"),
    pytest.param(
        lambda root: write(root, "agents/tools.lock", '{"version": 1, "servers": {}}'),
        id="lock added",
    ),
    pytest.param(
        lambda root: write(root, STACK, "config: {holdfast:namespace: other}"), id="stack changed"
    ),
    pytest.param(lambda root: write(root, "stacks/drift-ignore.yaml", RULES), id="rules added"),
]


@pytest.mark.parametrize("change", CHANGES)
def test_a_change_of_any_file_is_seen(tmp_path: Path, change: Any) -> None:
    root = project(tmp_path / "project")
    maker = Maker(root)
    maker.declaration()
    assert not maker.made_again()
    change(root)
    assert maker.made_again()
    assert not maker.made_again()


def test_bytes_count_and_times_do_not(tmp_path: Path) -> None:
    """A checkout gives every file a new time, and an editor may leave the old one."""
    root = project(tmp_path / "project")
    maker = Maker(root)
    maker.declaration()
    manifest = root / MANIFEST
    status = manifest.stat()
    os.utime(manifest, ns=(1, 1))
    assert not maker.made_again()
    manifest.write_text(manifest.read_text().replace("owner: cx", "owner: xc"))
    os.utime(manifest, ns=(status.st_atime_ns, status.st_mtime_ns))
    assert maker.made_again()


def test_stacks_and_projects_and_rule_files_do_not_share(tmp_path: Path) -> None:
    one, other = project(tmp_path / "one"), project(tmp_path / "other")
    rules = write(tmp_path, "rules.yaml", RULES)
    assert Maker(one).made_again()
    assert Maker(one, "prod").made_again()
    assert Maker(other).made_again()
    assert Maker(one, ignore_file=rules).made_again()
    assert not Maker(one, ignore_file=rules).made_again()
    rules.write_text(RULES.replace("raised", "lowered"))
    assert Maker(one, ignore_file=rules).made_again()


def test_other_code_finds_nothing(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    maker = Maker(project(tmp_path / "project"))
    assert maker.made_again()
    monkeypatch.setattr(declaration_cache, "code_digest", lambda: "newer")
    assert maker.made_again()
    monkeypatch.setattr(declaration_cache, "code_digest", lambda: "")
    assert maker.made_again()
    assert maker.made_again(), "code that cannot be told apart keeps nothing"


def test_code_is_distinguished_by_each_of_its_files(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    package = tmp_path / "site" / "holdfast_told_apart"
    write(package, "__init__.py", "")
    module = write(package, "deep/module.py", "a = 1\n")
    monkeypatch.syspath_prepend(str(package.parent))
    monkeypatch.setattr(declaration_cache, "_PACKAGES", ("holdfast_told_apart",))
    digests = [code_digest()]
    module.write_text("a = 10\n")
    digests.append(code_digest())
    os.utime(module, ns=(1, 1))
    digests.append(code_digest())
    write(package, "data.json", "{}")
    digests.append(code_digest())
    installed = tmp_path / "lib" / "site-packages"
    installed.mkdir(parents=True)
    monkeypatch.syspath_prepend(str(installed))
    digests.append(code_digest())
    os.utime(installed, ns=(1, 1))
    digests.append(code_digest())
    assert all(digests)
    assert len(set(digests)) == len(digests)
    assert code_digest() == digests[-1]
    write(package, "__pycache__/module.pyc", "compiled")
    os.utime(package / "deep", ns=(5, 5))
    assert code_digest() == digests[-1]


@pytest.mark.parametrize(
    "spoil",
    [
        pytest.param(
            lambda root: write(root, "way/x.md", "x") and (root / "agents/l").symlink_to("p"),
            id="a link among the manifests",
        ),
        pytest.param(
            lambda root: [
                write(root, "prompts/p.md", "be brief\n"),
                write(root, MANIFEST, spec("prompt: {systemMessageFrom: {file: ../prompts/p.md}}")),
            ],
            id="a prompt elsewhere",
        ),
    ],
)
def test_what_cannot_be_watched_is_never_kept(
    tmp_path: Path, cache_folder: Path, spoil: Any
) -> None:
    root = project(tmp_path / "project")
    spoil(root)
    maker = Maker(root)
    assert maker.made_again()
    assert maker.made_again()
    assert not cache_folder.exists()


def test_a_file_that_changes_while_it_is_read_is_not_kept(tmp_path: Path) -> None:
    root = project(tmp_path / "project")
    maker = Maker(root)

    def make_and_change() -> StackDeclaration:
        made = maker()
        write(root, "agents/b.yaml", agent("b"))
        return made

    def change_and_make() -> StackDeclaration:
        first = (root / MANIFEST).read_text()
        write(root, MANIFEST, agent())
        made = maker()
        write(root, MANIFEST, first)
        return made

    maker.cache.declaration(make_and_change)
    assert maker.made_again()
    maker.cache.file.unlink()
    maker.cache.declaration(change_and_make)
    assert maker.made_again()


def test_secrets_and_what_does_not_read_back_are_not_kept(tmp_path: Path) -> None:
    maker = Maker(project(tmp_path / "project"))
    made = maker()
    secret = {
        "apiVersion": "v1",
        "kind": "Secret",
        "metadata": {"name": "s"},
        "data": {"a": "Yg=="},
    }
    maker.cache.declaration(lambda: replace(made, objects=(*made.objects, secret)))
    assert not maker.cache.file.exists()
    unlike = {**made.objects[0], "spec": {"ports": (1, 2)}}
    maker.cache.declaration(lambda: replace(made, objects=(unlike,)))
    assert not maker.cache.file.exists()


def test_only_its_owner_reads_it_and_nobody_else_may_have_written_it(tmp_path: Path) -> None:
    maker = Maker(project(tmp_path / "project"))
    maker.declaration()
    file = maker.cache.file
    assert (file.stat().st_mode & 0o777, file.parent.stat().st_mode & 0o777) == (0o600, 0o700)
    for mode in (0o620, 0o602):
        file.chmod(mode)
        assert maker.made_again()
    assert not maker.made_again(), "it was written anew, with its own rights"


@settings(max_examples=20)
@given(data=st.data())
def test_damage_is_passed_over(tmp_path_factory: pytest.TempPathFactory, data: Any) -> None:
    folder = tmp_path_factory.mktemp("damage")
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("HOLDFAST_CACHE", str(folder / "cache"))
        maker = Maker(project(folder / "project"))
        maker.declaration()
        whole = maker.cache.file.read_bytes()
        place = data.draw(st.integers(0, len(whole) - 1), label="place")
        damaged = data.draw(
            st.sampled_from(
                [
                    whole[:place],
                    whole[:place] + bytes([whole[place] ^ 0x20]) + whole[place + 1 :],
                    whole + b"x",
                    b"\n" + whole,
                ]
            ),
            label="damaged",
        )
        maker.cache.file.write_bytes(damaged)
        assert maker.made_again()
        assert maker.cache.file.read_bytes() == whole


def test_a_folder_that_cannot_be_written_costs_nothing_but_time(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("HOLDFAST_CACHE", str(write(tmp_path, "file", "no folder")))
    maker = Maker(project(tmp_path / "project"))
    assert maker.made_again()
    assert maker.made_again()


def test_a_user_without_a_home_has_no_cache(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def nowhere() -> Path:
        raise RuntimeError("Could not determine home directory.")

    for name in ("HOLDFAST_CACHE", "XDG_CACHE_HOME"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setattr(Path, "home", nowhere)
    maker = Maker(project(tmp_path / "project"))
    assert maker.made_again()
    assert maker.made_again()


def test_the_oldest_make_room(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(declaration_cache, "MOST_KEPT", 2)
    makers = [Maker(project(tmp_path / str(number))) for number in range(3)]
    for age, maker in enumerate(makers):
        maker.declaration()
        if maker.cache.file.exists():
            os.utime(maker.cache.file, ns=(age, age))
    assert [maker.cache.file.exists() for maker in makers] == [False, True, True]


def _write_many(cache: DeclarationCache, made: StackDeclaration) -> None:
    for _ in range(50):
        cache._write("key", made)


def test_of_several_writers_each_leaves_a_whole_file(tmp_path: Path) -> None:
    maker = Maker(project(tmp_path / "project"))
    plain = maker()
    versions = [
        replace(plain, objects=plain.objects * count, context=str(count)) for count in (1, 5, 9)
    ]
    forked = multiprocessing.get_context("fork")
    writers = [forked.Process(target=partial(_write_many, maker.cache, each)) for each in versions]
    for each in writers:
        each.start()
    read = []
    while any(each.is_alive() for each in writers):
        read.append(maker.cache._read("key"))
    for each in writers:
        each.join()
        assert each.exitcode == 0
    # Before the first file there is none; after it there is always a whole one.
    found = [each for each in read if each is not None]
    assert maker.cache._read("key") in versions
    assert all(each in versions for each in found)
    assert None not in read[read.index(found[0]) :] if found else True
    assert [each.name for each in maker.cache.file.parent.iterdir()] == [maker.cache.file.name]


OPENED = """
import sys
opened = set()
sys.addaudithook(lambda event, args: opened.add(str(args[0])) if event == "open" else None)
from pathlib import Path
from holdfast.operations.stack.declaration import declaration_of
from holdfast.operations.stack.context import StackContext
from holdfast.manifest.fleet.project_files import project_digests
import hashlib
root = Path(sys.argv[1])
made = declaration_of(StackContext(root, "dev"), None)
read = {name[len(f"{root}/"):] for name in opened if name.startswith(f"{root}/")}
code = {name for name in read if name.split("/")[0] in ("infra", "policy-pack", ".venv")}
print(sorted(read - code - project_digests(root).keys()))
print(hashlib.sha256(repr(made).encode()).hexdigest())
"""
"""Which files of the project are opened that nobody looks at; and a digest of all that is said."""


def test_nothing_else_decides_what_is_declared(tmp_path: Path) -> None:
    """Neither another file of the project, nor the environment, nor where one stands."""

    def run(**variables: str) -> list[str]:
        done = subprocess.run(
            [sys.executable, "-c", OPENED, str(ROOT)],
            env={"PATH": os.environ["PATH"], **variables},
            cwd=variables.get("HOME", "/"),
            capture_output=True,
            text=True,
            check=True,
        )
        return done.stdout.splitlines()

    strange = {
        "HOME": str(tmp_path),
        "TZ": "Asia/Tokyo",
        "LC_ALL": "C",
        "PYTHONHASHSEED": "7",
        "HOLDFAST_STATE": str(tmp_path / "state"),
        "KUBECONFIG": str(tmp_path / "kubeconfig"),
        "PULUMI_HOME": str(tmp_path / "pulumi"),
        "PULUMI_CONFIG": '{"holdfast:namespace": "elsewhere"}',
        "USER": "nobody",
    }
    plain = run()
    assert plain[0] == "[]"
    assert run(**strange) == plain
