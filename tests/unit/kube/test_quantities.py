from fractions import Fraction

import pytest
from holdfast.kube.quantities import parse_quantity


@pytest.mark.parametrize(
    ("text", "value"),
    [
        pytest.param("1", Fraction(1), id="integer"),
        pytest.param("250m", Fraction(1, 4), id="milli"),
        pytest.param("1000m", Fraction(1), id="milli-equal-to-one"),
        pytest.param("1Gi", Fraction(1073741824), id="binary"),
        pytest.param("1.5G", Fraction(1500000000), id="decimal"),
        pytest.param("1e3", Fraction(1000), id="exponent"),
        pytest.param("1E", Fraction(10**18), id="exa-is-no-exponent"),
        pytest.param(".5", Fraction(1, 2), id="no-leading-digit"),
        pytest.param(2, Fraction(2), id="number"),
        pytest.param("-1Ki", Fraction(-1024), id="negative"),
    ],
)
def test_reads_every_spelling_of_a_quantity(text: str, value: Fraction) -> None:
    assert parse_quantity(text) == value


@pytest.mark.parametrize("text", ["", "1 core", "512MB", "Gi", "1e", "1GiB", "0x10", "1,5"])
def test_refuses_what_is_no_quantity(text: str) -> None:
    with pytest.raises(ValueError, match="not a Kubernetes quantity"):
        parse_quantity(text)
