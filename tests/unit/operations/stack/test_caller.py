"""Who runs this: as the environment says, else the user, else its number."""

import os
import socket

import pytest
from holdfast.operations.stack.update_history import caller

VARIABLES = ("HOLDFAST_OPERATOR", "GITHUB_ACTOR", "GITLAB_USER_LOGIN")
USER_VARIABLES = ("LOGNAME", "USER", "LNAME", "USERNAME")


@pytest.fixture(autouse=True)
def nothing_set(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in (*VARIABLES, *USER_VARIABLES):
        monkeypatch.delenv(name, raising=False)


@pytest.mark.parametrize("variable", VARIABLES)
def test_the_environment_has_the_first_word(monkeypatch: pytest.MonkeyPatch, variable: str) -> None:
    monkeypatch.setenv(variable, "ann")
    assert caller() == "ann"


def test_a_container_under_a_number_without_a_user_has_a_name(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(os, "getuid", lambda: 4_000_000_123)
    assert caller() == f"uid-4000000123@{socket.gethostname()}"
