"""How `holdfast drift watch` is asked to watch."""

from dataclasses import dataclass


@dataclass(frozen=True)
class WatchRequest:
    """How to watch.

    Attributes:
        interval: Seconds within which every scope is listed once more.
        silence: Seconds without an event after which a stream counts as dead.
        webhook: URL that is sent a CloudEvent for each transition of a finding; empty for none.
        metrics: `HOST:PORT` to serve metrics at, or a file to write them to; empty for neither.
        verbose: The phases of every look are logged, not only of those that found something.
    """

    interval: float = 600.0
    silence: float = 150.0
    webhook: str = ""
    metrics: str = ""
    verbose: bool = False
