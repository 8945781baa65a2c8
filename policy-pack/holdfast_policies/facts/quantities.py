"""Quantities as numbers, exactly.

Source: k8s.io/apimachinery/pkg/api/resource, "Quantity".
"""

import re
from fractions import Fraction
from functools import lru_cache

_SHAPE = re.compile(r"([+-]?\d+(?:\.\d*)?|[+-]?\.\d+)([eE][+-]?\d+|[numkMGTPE]|[KMGTPE]i)?")
_LONGEST = 64
_LARGEST_EXPONENT = 30
"""Beyond both nothing is meant, and numbers take time by their digits."""
_FACTORS = {"n": -3, "u": -2, "m": -1, "": 0, "k": 1, "M": 2, "G": 3, "T": 4, "P": 5, "E": 6}
_BINARY = {"Ki": 1, "Mi": 2, "Gi": 3, "Ti": 4, "Pi": 5, "Ei": 6}


def quantity(value: object) -> Fraction | None:
    """The number that a quantity stands for; None for what is no quantity."""
    if isinstance(value, bool) or not isinstance(value, int | float | str):
        return None
    return _number(value)


def exceeds(value: object, most: object) -> bool:
    """Whether a quantity is more than another one; what is no quantity exceeds nothing."""
    if quantity(value) is None or quantity(most) is None:
        return False
    return _exceeds(value, most)


@lru_cache(maxsize=1024, typed=True)  # as below; fractions are slow to compare
def _exceeds(value: float | str, most: float | str) -> bool:
    amount, ceiling = _number(value), _number(most)
    return amount is not None and ceiling is not None and amount > ceiling


@lru_cache(maxsize=1024, typed=True)  # a secret text equals its plain twin, and is not shown
def _number(value: float | str) -> Fraction | None:
    written = str(value)
    match = _SHAPE.fullmatch(written) if len(written) <= _LONGEST else None
    if match is None:
        return None
    number, suffix = Fraction(match.group(1)), match.group(2) or ""
    if suffix in _BINARY:
        return number * Fraction(1024) ** _BINARY[suffix]
    if suffix in _FACTORS:
        return number * Fraction(1000) ** _FACTORS[suffix]
    exponent = int(suffix[1:])
    return number * Fraction(10) ** exponent if abs(exponent) <= _LARGEST_EXPONENT else None
