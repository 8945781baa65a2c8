import pytest
from holdfast.kube.names import (
    fault_in_label_name,
    fault_in_label_value,
    fault_in_qualified_key,
    fault_in_subdomain_name,
)


@pytest.mark.parametrize("name", ["a", "support-rag", "0", "a" * 63])
def test_accepts_label_names(name: str) -> None:
    assert fault_in_label_name(name) == ""


@pytest.mark.parametrize(
    ("name", "says"),
    [
        pytest.param("", "empty", id="empty"),
        pytest.param("../x", "'.'", id="path"),
        pytest.param("a/b", "'/'", id="slash"),
        pytest.param("Agent_1", "'A'", id="upper-case"),
        pytest.param("-a", "begin and end", id="leading-dash"),
        pytest.param("a" * 64, "at most 63", id="too-long"),
    ],
)
def test_says_what_is_wrong_with_a_label_name(name: str, says: str) -> None:
    assert says in fault_in_label_name(name)


def test_accepts_a_subdomain_and_names_its_faulty_part() -> None:
    assert fault_in_subdomain_name("agents.holdfast.dev") == ""
    assert "'_'" in fault_in_subdomain_name("agents.hold_fast.dev")
    assert "at most 253" in fault_in_subdomain_name("a" * 254)


def test_limits_label_values_to_63_characters() -> None:
    assert fault_in_label_value("") == ""
    assert fault_in_label_value("A.b_c-1") == ""
    assert "has 64" in fault_in_label_value("a" * 64)
    assert "letters, digits" in fault_in_label_value("a b")


@pytest.mark.parametrize(
    ("key", "says"),
    [
        pytest.param("holdfast.dev/agent", "", id="prefixed"),
        pytest.param("tier", "", id="plain"),
        pytest.param("a/b/c", "at most one '/'", id="two-slashes"),
        pytest.param("Bad_/x", "prefix", id="bad-prefix"),
        pytest.param("example.dev/", "name after", id="no-name"),
    ],
)
def test_judges_qualified_keys(key: str, says: str) -> None:
    fault = fault_in_qualified_key(key)
    assert (says in fault) if says else fault == ""
