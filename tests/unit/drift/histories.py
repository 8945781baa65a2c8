"""The history of findings over several scans."""

from collections.abc import Iterable, Mapping

from holdfast.drift.record.finding_history import FindingHistories, FindingHistory, Observation


def finding_histories(observations: Iterable[Observation]) -> Mapping[str, FindingHistory]:
    """The history of every finding ever reported, by its key."""
    book = FindingHistories()
    for observation in observations:
        book.see(observation)
    return book.by_key()
