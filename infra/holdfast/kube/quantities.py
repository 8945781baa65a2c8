"""Kubernetes quantities (`250m`, `1Gi`, `1e3`) as exact numbers.

Source: k8s.io/apimachinery/pkg/api/resource, "Quantity".
"""

import re
from fractions import Fraction
from functools import lru_cache

_SUFFIXES = {
    "n": Fraction(1, 10**9),
    "u": Fraction(1, 10**6),
    "m": Fraction(1, 1000),
    "": Fraction(1),
    "k": Fraction(10**3),
    "M": Fraction(10**6),
    "G": Fraction(10**9),
    "T": Fraction(10**12),
    "P": Fraction(10**15),
    "E": Fraction(10**18),
    "Ki": Fraction(2**10),
    "Mi": Fraction(2**20),
    "Gi": Fraction(2**30),
    "Ti": Fraction(2**40),
    "Pi": Fraction(2**50),
    "Ei": Fraction(2**60),
}
_QUANTITY = re.compile(
    r"(?P<number>[+-]?([0-9]+(\.[0-9]*)?|\.[0-9]+))(?P<suffix>[eE][+-]?[0-9]{1,3}|[numkMGTPE]|[KMGTPE]i|)"
)


@lru_cache(maxsize=4096, typed=True)
def parse_quantity(text: str | float) -> Fraction:
    """Exact value of a quantity, in its base unit (cores, bytes, pieces).

    Law: equal quantities in different spelling give equal values (`1000m` and `1`).

    Raises:
        ValueError: the text is no quantity.
    """
    match = _QUANTITY.fullmatch(str(text))
    if match is None:
        message = f"not a Kubernetes quantity: {text!r}"
        raise ValueError(message)
    suffix = match["suffix"]
    if suffix not in _SUFFIXES:
        return Fraction(match["number"]) * Fraction(10) ** int(suffix[1:])
    return Fraction(match["number"]) * _SUFFIXES[suffix]
