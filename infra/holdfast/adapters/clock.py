"""The clock of this machine, in the form in which records and reports keep a time."""

from datetime import UTC, datetime

from holdfast.kube.scalars import Precision, format_utc


def utc_now(precision: Precision = "seconds") -> str:
    """The current time, RFC 3339 in UTC."""
    return format_utc(datetime.now(UTC), precision)
