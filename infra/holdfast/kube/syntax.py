"""What the API server accepts as a name, label, annotation or schedule.

Every check returns the fault, to follow the name of the field; empty when there is none.

Source: Kubernetes documentation, "Object names and IDs", "Labels and selectors", "Annotations",
"CronJob"; robfig/cron v3, standard parser.
"""

import re
from dataclasses import dataclass

LABEL_MAX_CHARACTERS = 63
SUBDOMAIN_MAX_CHARACTERS = 253
ANNOTATIONS_MAX_BYTES = 256 * 1024

_LABEL = re.compile(r"[a-z0-9]([-a-z0-9]*[a-z0-9])?")
_LABEL_VALUE = re.compile(r"([A-Za-z0-9]([-A-Za-z0-9_.]*[A-Za-z0-9])?)?")


def fault_in_label_name(name: str, max_characters: int = LABEL_MAX_CHARACTERS) -> str:
    """Why a name is no RFC 1123 label, or an empty string when it is one."""
    if not name:
        return "must not be empty"
    if len(name) > max_characters:
        return f"must have at most {max_characters} characters, has {len(name)}"
    if _LABEL.fullmatch(name):
        return ""
    wrong = next((character for character in name if not re.match(r"[-a-z0-9]", character)), None)
    if wrong is not None:
        return f"must hold only a-z, 0-9 and '-' (RFC 1123 label), has {wrong!r}"
    return "must begin and end with a letter or digit (RFC 1123 label)"


def fault_in_subdomain_name(name: str) -> str:
    """Why a name is no RFC 1123 subdomain, or an empty string when it is one."""
    if not name:
        return "must not be empty"
    if len(name) > SUBDOMAIN_MAX_CHARACTERS:
        return f"must have at most {SUBDOMAIN_MAX_CHARACTERS} characters, has {len(name)}"
    for part in name.split("."):
        if fault := fault_in_label_name(part, SUBDOMAIN_MAX_CHARACTERS):
            return fault
    return ""


def fault_in_label_value(value: str) -> str:
    """Why a text cannot be a label's value, or an empty string when it can."""
    if len(value) > LABEL_MAX_CHARACTERS:
        return f"must have at most {LABEL_MAX_CHARACTERS} characters, has {len(value)}"
    if _LABEL_VALUE.fullmatch(value):
        return ""
    return (
        "must hold only letters, digits, '-', '_' and '.', and begin and end with a letter or digit"
    )


def fault_in_qualified_key(key: str) -> str:
    """Why a text cannot be a label's or annotation's key, or an empty string when it can."""
    prefix, separator, name = key.rpartition("/")
    if "/" in prefix:
        return "must hold at most one '/'"
    if separator and (fault := fault_in_subdomain_name(prefix)):
        return f"prefix {fault}"
    if not name:
        return "must have a name after the prefix"
    return fault_in_label_value(name)


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
