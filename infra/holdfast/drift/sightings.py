"""When a finding was seen: first, last, how often. Pure; times come from whoever scans."""

from dataclasses import dataclass

from holdfast.drift.finding import Finding
from holdfast.kube.paths import format_path


def finding_key(finding: Finding) -> str:
    """What stays equal over time for one field of one object, whatever its value."""
    return "/".join((*finding.ref.identity, format_path(finding.path)))


@dataclass(frozen=True)
class Sighting:
    """The history of one field of one object.

    Attributes:
        first_seen: RFC 3339 time of the first scan that ever reported it.
        since: Of the scan that began the present spell; equal to `first_seen` in the first one.
        last_seen: Of the last scan that reported it.
        count: How many scans have reported it.
        age_seconds: From `since` to the scan that asks; never negative.
    """

    first_seen: str
    since: str
    last_seen: str
    count: int
    age_seconds: int

    @property
    def age(self) -> str:
        """The age in its two largest units, such as `2d3h`."""
        return short_duration(self.age_seconds)

    def __str__(self) -> str:
        again = f" (first ever {self.first_seen})" if self.since != self.first_seen else ""
        times = "once" if self.count == 1 else f"{self.count} times"
        return f"since {self.since}, {self.age}, {times}{again}"


def short_duration(seconds: int) -> str:
    """A duration in its two largest units: `0s`, `45s`, `5m10s`, `2d3h`."""
    units = (("d", 86_400), ("h", 3_600), ("m", 60), ("s", 1))
    parts: list[str] = []
    for unit, length in units:
        count, seconds = divmod(seconds, length)
        if count or parts:
            parts.append(f"{count}{unit}" if count else "")
        if len(parts) == 2:  # noqa: PLR2004  (two units are enough)
            break
    return "".join(parts) or "0s"
