"""The clocks of this machine: the time that records and reports keep, and one that only goes on."""

import time
from datetime import UTC, datetime

from holdfast.kube.scalars import Precision, format_utc


def utc_now(precision: Precision = "seconds") -> str:
    """The current time, RFC 3339 in UTC."""
    return format_utc(datetime.now(UTC), precision)


def elapsed_seconds() -> float:
    """Seconds of a clock that nobody sets and that goes on while the machine is suspended.

    `time.monotonic` stands still then, on Linux: after it, a holder of a lease would count on
    time that others have seen pass.
    """
    if hasattr(time, "CLOCK_BOOTTIME"):
        return time.clock_gettime(time.CLOCK_BOOTTIME)
    return time.monotonic()
