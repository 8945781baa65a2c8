"""Cron schedules as the CronJob controller reads them.

Source: Kubernetes documentation, "CronJob", schedule syntax; robfig/cron v3, standard parser.
"""

import re
from dataclasses import dataclass

_MONTHS = ("jan", "feb", "mar", "apr", "may", "jun", "jul", "aug", "sep", "oct", "nov", "dec")
_DAYS = ("sun", "mon", "tue", "wed", "thu", "fri", "sat")
_LONGEST_MONTH_DAYS = (31, 29, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31)
_PART = re.compile(r"(?P<first>\*|\?|\w+)(-(?P<last>\w+))?(/(?P<step>\w+))?")


@dataclass(frozen=True, slots=True)
class _Field:
    """One of the five fields: its name, its bounds, and the words that stand for numbers."""

    name: str
    least: int
    most: int
    words: tuple[str, ...] = ()

    def number(self, text: str) -> int | None:
        """The number that a text stands for; None when it is out of bounds or no number."""
        if text.lower() in self.words:
            return self.words.index(text.lower()) + self.least
        value = int(text) if text.isascii() and text.isdigit() else None
        return value if value is not None and self.least <= value <= self.most else None


_FIELDS = (
    _Field("minute", 0, 59),
    _Field("hour", 0, 23),
    _Field("day of the month", 1, 31),
    _Field("month", 1, 12, _MONTHS),
    _Field("day of the week", 0, 6, _DAYS),
)


def fault_in_cron(text: str) -> str:
    """Why a text is no schedule of five fields that ever comes; empty when it is one."""
    fields = text.split()
    if len(fields) != len(_FIELDS):
        return f"must have five fields (minute hour day month weekday), has {len(fields)}"
    values = []
    for field, written in zip(_FIELDS, fields, strict=True):
        found = _values(field, written)
        if isinstance(found, str):
            return found
        values.append(found)
    days, months = values[2], values[3]
    # A restricted weekday is an alternative to the day of the month, not a further condition.
    is_by_date = fields[4][0] in "*?"
    if is_by_date and not any(min(days) <= _LONGEST_MONTH_DAYS[month - 1] for month in months):
        return "never comes: no such month has that day"
    return ""


def _values(field: _Field, written: str) -> set[int] | str:
    """Every value that a field stands for, or why it stands for none."""
    values: set[int] = set()
    for part in written.split(","):
        match = _PART.fullmatch(part)
        found = _range(field, match) if match else None
        if found is None:
            bounds = f"{field.least} to {field.most}"
            return f"has {part!r} as {field.name}, where {bounds} may stand"
        values |= set(found)
    return values


def _range(field: _Field, match: "re.Match[str]") -> range | None:
    first, last, step = match["first"], match["last"], match["step"]
    if first in "*?":
        start, end = field.least, field.most
        if last is not None:
            return None
    else:
        number = field.number(first)
        limit = field.number(last) if last is not None else number
        if number is None or limit is None or limit < number:
            return None
        # `5/10` means from 5 on, every ten.
        start, end = number, field.most if step and last is None else limit
    if step is not None and not (step.isascii() and step.isdigit() and int(step) > 0):
        return None
    return range(start, end + 1, int(step or 1))
