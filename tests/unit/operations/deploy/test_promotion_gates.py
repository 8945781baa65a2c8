"""Gates of a promotion that need no cluster."""

from pathlib import Path

import pytest
from holdfast.adapters.git.source import Commit
from holdfast.operations.deploy.promotion import GateFailedError, check_approval, is_same_person

COMMIT = Commit("0123456789abcdef0123456789abcdef01234567", "Ann <ann@example.test>", "", "x")
LINES = {"Commit": COMMIT.name, "Stack": "prod", "Approved-By": "Bob"}


def written(tmp_path: Path, lines: dict[str, str]) -> Path:
    file = tmp_path / "approval.txt"
    file.write_text("".join(f"{name}: {value}\n" for name, value in lines.items()))
    return file


def test_somebody_else_approves_this_commit_for_this_stack(tmp_path: Path) -> None:
    assert check_approval(written(tmp_path, LINES), COMMIT, "prod") == "by Bob"
    assert (
        check_approval(written(tmp_path, LINES | {"Commit": "0123456"}), COMMIT, "prod") == "by Bob"
    )


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
        check_approval(written(tmp_path, LINES | changed), COMMIT, "prod")
    assert why in caught.value.message


def test_without_a_file_the_remedy_says_what_to_write() -> None:
    with pytest.raises(GateFailedError) as caught:
        check_approval(None, COMMIT, "prod")
    assert f"`Commit: {COMMIT.name}`" in caught.value.remedy


@pytest.mark.parametrize(
    ("approver", "author", "is_same"),
    [
        pytest.param("Ann", "Hannah Smith <hannah@x.test>", False, id="part of a word"),
        pytest.param("A. Example", "Ann Example <ann@x.test>", True, id="an initial"),
        pytest.param("Ann", "Ann Example <ann@x.test>", True, id="the first name alone"),
        pytest.param("Example, Ann", "Ann Example <ann@x.test>", True, id="another order"),
        pytest.param("Bo Example", "Ann Example <ann@x.test>", False, id="a relative"),
        pytest.param("ann@x.test", "A. N. Other <ANN@x.test>", True, id="the address alone"),
        pytest.param("Boss <ann@x.test>", "Ann <ann@x.test>", True, id="the address"),
        pytest.param("Ann <ann@home.test>", "Ann <ann@x.test>", True, id="two addresses"),
        pytest.param("Bob <bob@x.test>", "Ann <ann@x.test>", False, id="another person"),
        pytest.param("ann", "Example <ann@x.test>", True, id="a login"),
        pytest.param("x.test", "Ann <ann@x.test>", False, id="the domain"),
    ],
)
def test_an_approver_is_compared_with_the_author_as_a_person(
    approver: str, author: str, is_same: bool
) -> None:
    assert is_same_person(approver, author) is is_same
