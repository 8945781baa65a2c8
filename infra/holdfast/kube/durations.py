"""Go durations (`1h30m`, `90m0s`) as exact numbers of seconds.

Source: Go standard library, `time.ParseDuration`; the OpenAPI format `duration`.
"""

import re
from fractions import Fraction

_UNITS_SECONDS = {
    "ns": Fraction(1, 10**9),
    "us": Fraction(1, 10**6),
    "µs": Fraction(1, 10**6),
    "ms": Fraction(1, 1000),
    "s": Fraction(1),
    "m": Fraction(60),
    "h": Fraction(3600),
}
_PART = r"(\d+(?:\.\d*)?|\.\d+)(ns|us|µs|ms|s|m|h)"


def parse_duration(text: str) -> Fraction:
    """Seconds of a duration.

    Law: equal durations in different spelling give equal values (`90m` and `1h30m0s`).

    Raises:
        ValueError: the text is no duration.
    """
    sign, digits = (-1, text[1:]) if text.startswith("-") else (1, text.removeprefix("+"))
    if digits == "0":
        return Fraction(0)
    if not re.fullmatch(f"({_PART})+", digits):
        message = f"not a duration: {text!r}"
        raise ValueError(message)
    parts = re.findall(_PART, digits)
    return sign * sum(
        (Fraction(number) * _UNITS_SECONDS[unit] for number, unit in parts), Fraction()
    )
