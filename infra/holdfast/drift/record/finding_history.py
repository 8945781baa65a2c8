"""When findings were seen: first, last, how often, how many at once. Pure.

Order is the order of the scans, never that of their clocks: a scan whose clock says less than the
one before it counts as made at the same time.
"""

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from datetime import datetime

from holdfast.drift.finding import PROBES, DriftReport, Finding, Severity
from holdfast.kube.paths import format_path
from holdfast.kube.scalars import parse_timestamp


def finding_key(finding: Finding) -> str:
    """What stays equal over time for one field of one object, whatever its value."""
    return "/".join((*finding.ref.identity, format_path(finding.path)))


@dataclass(frozen=True)
class Observation:
    """One scan: its time (RFC 3339, UTC), what it said, and the digest of what was declared."""

    observed_at: str
    report: DriftReport
    configuration: str = ""


@dataclass(frozen=True)
class FindingHistory:
    """The history of one field of one object.

    Attributes:
        finding: As it was reported last.
        first_seen: RFC 3339 time of the first scan that ever reported it.
        since: Of the scan that began the present spell; equal to `first_seen` in the first one.
        last_seen: Of the last scan that reported it.
        count: How many scans have reported it.
        is_open: No complete scan has come since that did not report it.
        age_seconds: From `since` to the last scan, or to `last_seen` when it is closed.
    """

    finding: Finding
    first_seen: str
    since: str
    last_seen: str
    count: int = 1
    is_open: bool = True
    age_seconds: int = 0

    @property
    def age(self) -> str:
        """The age in its two largest units, such as `2d3h`."""
        return short_duration(self.age_seconds)

    def __str__(self) -> str:
        again = f" (first ever {self.first_seen})" if self.since != self.first_seen else ""
        times = "once" if self.count == 1 else f"{self.count} times"
        return f"since {self.since}, {self.age}, {times}{again}"


@dataclass(frozen=True)
class DriftAlert:
    """Many small findings that add up.

    Attributes:
        raised_at: Time of the scan with which they became too many.
        findings: The low findings that were open then.
    """

    raised_at: str
    findings: tuple[Finding, ...]


def in_order(observations: Iterable[Observation]) -> Iterator[Observation]:
    """The same observations with times that never go back.

    Law: order and reports stay; each time is the largest so far.
    """
    latest = ""
    for each in observations:
        if not latest or parse_timestamp(each.observed_at) > parse_timestamp(latest):
            latest = each.observed_at
        yield replace(each, observed_at=latest)


def is_probed(finding: Finding) -> bool:
    """Whether only a scan with probes can say that the finding is gone."""
    return finding.path[:1] == (PROBES,)


@dataclass
class Track:
    """A history in the making; the attributes are those of `FindingHistory`."""

    finding: Finding
    first_seen: str
    since: str
    last_seen: str
    count: int = 0
    is_open: bool = True

    def history(self, now: str) -> FindingHistory:
        """The history as of a scan."""
        end = now if self.is_open else self.last_seen
        age = int((parse_timestamp(end) - parse_timestamp(self.since)).total_seconds())
        return FindingHistory(
            self.finding, self.first_seen, self.since, self.last_seen, self.count, self.is_open, age
        )


@dataclass
class FindingHistories:
    """What all scans so far have seen: what the next scan adds to, without reading them again.

    Attributes:
        scans: How many there were.
        latest: Largest time so far, RFC 3339; empty before the first scan.
        tracks: Every finding that is remembered, by its key.
        low: Keys of the low findings that are open.
    """

    scans: int = 0
    latest: str = ""
    tracks: dict[str, Track] = field(default_factory=dict)
    low: set[str] = field(default_factory=set)

    def see(self, observation: Observation) -> None:
        """Add the next scan.

        What an incomplete scan does not report stays open: unknown is not gone. Neither is what a
        probe has found, until probes are asked again.

        Raises:
            ValueError: its time is none.
        """
        observed = parse_timestamp(observation.observed_at)
        if not self.latest or observed > parse_timestamp(self.latest):
            self.latest = observation.observed_at
        self.scans += 1
        report = observation.report
        reported = {finding_key(each): each for each in report.findings}
        if report.is_complete:
            probed = any(each.name == PROBES and each.has_run for each in report.layers)
            for key, track in self.tracks.items():
                if key not in reported and (probed or not is_probed(track.finding)):
                    track.is_open = False
        for key, finding in reported.items():
            self._note(key, finding)
        low = {key for key, each in reported.items() if each.severity is Severity.LOW}
        self.low = low if report.is_complete else self.low | low

    def _note(self, key: str, finding: Finding) -> None:
        now = self.latest
        track = self.tracks.get(key)
        if track is None:
            track = self.tracks[key] = Track(finding, now, now, now)
        elif not track.is_open:
            track.is_open, track.since = True, now
        track.finding, track.last_seen = finding, now
        track.count += 1

    def forget_closed(self, before: datetime) -> None:
        """Forget what is closed and was last seen before a moment; what is open stays."""
        self.tracks = {
            key: track
            for key, track in self.tracks.items()
            if track.is_open or parse_timestamp(track.last_seen) >= before
        }

    def by_key(self) -> Mapping[str, FindingHistory]:
        """Every finding that is remembered, by its key."""
        return {key: track.history(self.latest) for key, track in self.tracks.items()}


def alerts(observations: Iterable[Observation], threshold: int) -> list[DriftAlert]:
    """One alert each time that low findings, none of which is one alone, become `threshold`.

    Law: between two alerts there is a complete scan with fewer.
    """
    raised: list[DriftAlert] = []
    is_raised = False
    open_low: dict[str, Finding] = {}
    for observation in in_order(observations):
        low = {
            finding_key(each): each
            for each in observation.report.findings
            if each.severity is Severity.LOW
        }
        open_low = low if observation.report.is_complete else {**open_low, **low}
        if len(open_low) >= threshold and not is_raised:
            raised.append(DriftAlert(observation.observed_at, tuple(open_low.values())))
        is_raised = len(open_low) >= threshold
    return raised


def short_duration(seconds: int) -> str:
    """A duration in its two largest units: `0s`, `45s`, `5m10s`, `2d3h`."""
    units = (("d", 86_400), ("h", 3_600), ("m", 60), ("s", 1))
    largest = next((at for at, (_, length) in enumerate(units) if seconds >= length), 3)
    parts: list[str] = []
    for unit, length in units[largest : largest + 2]:
        count, seconds = divmod(seconds, length)
        parts += [f"{count}{unit}"] if count or not parts else []
    return "".join(parts)
