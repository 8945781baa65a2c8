"""Gates of a promotion that need no cluster."""

from pathlib import Path

import pytest
from holdfast.adapters.git.source import Commit
from holdfast.errors import ClusterError, LoginError
from holdfast.operations.deploy.promotion import Gate, GateFailedError, approval, check

COMMIT = Commit("0123456789abcdef0123456789abcdef01234567", "Ann <ann@example.test>", "", "x")
LINES = {"Commit": COMMIT.name, "Stack": "prod", "Approved-By": "Bob"}


def written(tmp_path: Path, lines: dict[str, str]) -> Path:
    file = tmp_path / "approval.txt"
    file.write_text("".join(f"{name}: {value}\n" for name, value in lines.items()))
    return file


def test_somebody_else_approves_this_commit_for_this_stack(tmp_path: Path) -> None:
    assert approval(written(tmp_path, LINES), COMMIT, "prod") == "by Bob"
    assert approval(written(tmp_path, LINES | {"Commit": "0123456"}), COMMIT, "prod") == "by Bob"


@pytest.mark.parametrize(
    ("changed", "why"),
    [
        pytest.param({"Commit": "fedcba9"}, "expected `Commit: 0123456789", id="another commit"),
        pytest.param({"Commit": "01"}, "got 01", id="a commit of two digits"),
        pytest.param({"Stack": "staging"}, "expected `Stack: prod`, got staging", id="stack"),
        pytest.param({"Approved-By": ""}, "expected a line `Approved-By: NAME`", id="nobody"),
        pytest.param({"Approved-By": "ann"}, "ann is the author of 0123456789ab", id="author"),
    ],
)
def test_any_other_file_is_refused(tmp_path: Path, changed: dict[str, str], why: str) -> None:
    with pytest.raises(GateFailedError, match="gate approval failed: ") as caught:
        approval(written(tmp_path, LINES | changed), COMMIT, "prod")
    assert why in caught.value.message


def test_without_a_file_the_remedy_says_what_to_write() -> None:
    with pytest.raises(GateFailedError) as caught:
        approval(None, COMMIT, "prod")
    assert f"`Commit: {COMMIT.name}`" in caught.value.remedy


def test_the_first_gate_that_fails_ends_it_by_its_name() -> None:
    seen: list[str] = []

    def passes() -> str:
        seen.append("first")
        return "fine"

    def fails() -> str:
        raise LoginError("who are you", remedy="log in")

    def never() -> str:
        seen.append("never")
        return ""

    with pytest.raises(GateFailedError, match="gate health failed: who are you") as caught:
        check([Gate("source", passes), Gate("health", fails), Gate("drift", never)])
    assert seen == ["first"]
    assert (caught.value.gate, caught.value.exit_code) == ("health", LoginError.exit_code)
    assert isinstance(caught.value.__cause__, ClusterError)
