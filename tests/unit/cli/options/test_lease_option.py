"""Which lease lets a writer write: as the option says, else the environment."""

import pytest
from holdfast.cli.options.lease import lease_place
from holdfast.errors import InputError


def test_the_option_goes_before_what_the_environment_of_an_agent_says(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.delenv("LEASE_NAME", raising=False)
    assert lease_place(None) is None
    monkeypatch.setenv("LEASE_NAME", "one")
    assert lease_place(None) == ("default", "one")
    monkeypatch.setenv("LEASE_NAMESPACE", "ops")
    assert lease_place(None) == ("ops", "one")
    assert lease_place("hs/two") == ("hs", "two")


@pytest.mark.parametrize("text", ["", "name", "/name", "ops/", "a/b/c"])
def test_anything_but_a_namespace_and_a_name_is_refused(text: str) -> None:
    with pytest.raises(InputError) as refused:
        lease_place(text)
    assert str(refused.value) == (
        f"--lease {text!r}: expected NAMESPACE/NAME; such as ops/holdfast-prod"
    )


@pytest.mark.parametrize("namespace", ["", "ops"])
def test_an_empty_variable_is_none(monkeypatch: pytest.MonkeyPatch, namespace: str) -> None:
    monkeypatch.setenv("LEASE_NAMESPACE", namespace)
    monkeypatch.setenv("LEASE_NAME", "")
    assert lease_place(None) is None
    monkeypatch.setenv("LEASE_NAME", "one")
    assert lease_place(None) == (namespace or "default", "one")


def test_a_bad_name_in_the_environment_is_not_blamed_on_the_option(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setenv("LEASE_NAMESPACE", "ops")
    monkeypatch.setenv("LEASE_NAME", "a/b")
    with pytest.raises(InputError, match="LEASE_NAMESPACE/LEASE_NAME 'ops/a/b': expected"):
        lease_place(None)
