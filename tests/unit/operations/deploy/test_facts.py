"""Who is said to have done it."""

import getpass
import os
import socket

import pytest
from holdfast.operations.deploy.facts import operator


def test_the_environment_says_who_operates(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HOLDFAST_OPERATOR", "release-bot")

    assert operator() == "release-bot"


def test_a_user_without_an_account_is_named_by_number(monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse() -> str:
        raise KeyError("getpwuid(): uid not found: 12345")

    for name in ("HOLDFAST_OPERATOR", "GITHUB_ACTOR", "GITLAB_USER_LOGIN"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setattr(getpass, "getuser", refuse)

    assert operator() == f"uid-{os.getuid()}@{socket.gethostname()}"
