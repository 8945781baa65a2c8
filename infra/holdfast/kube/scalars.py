"""Quantities, durations, bytes and timestamps as Kubernetes writes them. Pure.

Law: equal values in different spelling are equal when they are parsed (`1000m` and `1`, `90m` and
`1h30m0s`).

Source: k8s.io/apimachinery/pkg/api/resource, "Quantity"; Go standard library,
`time.ParseDuration` and encoding/base64, StdEncoding; Kubernetes API conventions, "Primitive
types": Time and MicroTime.
"""

import re
from base64 import b64decode
from datetime import UTC, datetime
from fractions import Fraction
from functools import lru_cache
from typing import Literal

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


_UNITS_SECONDS = {
    "ns": Fraction(1, 10**9),
    "us": Fraction(1, 10**6),
    "µs": Fraction(1, 10**6),
    "ms": Fraction(1, 1000),
    "s": Fraction(1),
    "m": Fraction(60),
    "h": Fraction(3600),
}
_DURATION_PART = r"(\d+(?:\.\d*)?|\.\d+)(ns|us|µs|ms|s|m|h)"


def parse_duration(text: str) -> Fraction:
    """Seconds of a duration.

    Law: equal durations in different spelling give equal values (`90m` and `1h30m0s`).

    Raises:
        ValueError: the text is no duration.
    """
    sign, digits = (-1, text[1:]) if text.startswith("-") else (1, text.removeprefix("+"))
    if digits == "0":
        return Fraction(0)
    if not re.fullmatch(f"({_DURATION_PART})+", digits):
        message = f"not a duration: {text!r}"
        raise ValueError(message)
    parts = re.findall(_DURATION_PART, digits)
    return sign * sum(
        (Fraction(number) * _UNITS_SECONDS[unit] for number, unit in parts), Fraction()
    )


_LINE_BREAKS = str.maketrans("", "", "\r\n")


def parse_bytes(text: str) -> bytes:
    """Bytes of a base64 text, as the server decodes it: line breaks and loose last bits count not.

    Raises:
        ValueError: the text is not base64.
    """
    return b64decode(text.translate(_LINE_BREAKS), validate=True)


Precision = Literal["seconds", "milliseconds", "microseconds"]


def format_utc(moment: datetime, precision: Precision = "seconds") -> str:
    """RFC 3339 text of a moment, in UTC; what is finer than the precision is cut off.

    Args:
        moment: With its time zone.
        precision: Seconds for `Time`, microseconds for `MicroTime`.
    """
    return moment.astimezone(UTC).isoformat(timespec=precision).replace("+00:00", "Z")


def parse_timestamp(text: str) -> datetime:
    """Moment of an RFC 3339 text.

    Raises:
        ValueError: the text is no timestamp, or names no time zone.
    """
    moment = datetime.fromisoformat(text)
    if moment.tzinfo is None:
        message = f"{text!r} names no time zone"
        raise ValueError(message)
    return moment
