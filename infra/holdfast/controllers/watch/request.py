"""How `holdfast drift watch` is asked to watch."""

from dataclasses import dataclass


@dataclass(frozen=True)
class WatchRequest:
    """How to watch.

    Attributes:
        resync_seconds: Time within which every scope is listed once more.
        silence_seconds: Time without an event after which a stream is stale.
        webhook: URL that is sent a CloudEvent for each transition of a finding; empty for none.
        metrics: `HOST:PORT` to serve metrics at, or a file to write them to; empty for neither.
        verbose: Log the phases of every comparison.
    """

    resync_seconds: float = 600.0
    silence_seconds: float = 150.0
    webhook: str = ""
    metrics: str = ""
    verbose: bool = False
