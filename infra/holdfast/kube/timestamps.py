"""Timestamps as the API server writes them: RFC 3339 in UTC. Pure: the caller passes the time in.

Source: Kubernetes API conventions, "Primitive types": Time and MicroTime.
"""

from datetime import UTC, datetime
from typing import Literal

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
