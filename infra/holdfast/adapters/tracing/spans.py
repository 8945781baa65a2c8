"""Steps of a piece of work as spans: recorded or not.

Pure but for who records. Without a tracer nothing of OpenTelemetry is loaded.
"""

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import Final

Fact = str | bool | int | float | Sequence[str]


class Span:
    """One step of a piece of work; this one is not recorded.

    Attributes:
        trace_id: 32 hexadecimal digits that all steps of one piece of work share; empty where
            they are not recorded.
    """

    trace_id: str = ""

    def note(self, **facts: Fact) -> None:
        """Note what is known now; a name stands for the attribute `holdfast.<name>`."""

    def fail(self, problem: str) -> None:
        """Note that the step failed, in words that hold no secret."""


class Tracer:
    """Records steps; this one records nothing."""

    @contextmanager
    def span(self, name: str, **facts: Fact) -> Iterator[Span]:
        """One step, as long as the block; those begun within it belong to it.

        An error that leaves the block is noted: Holdfast's own with its words, any other with its
        name alone, because its text may hold secrets.
        """
        del name, facts
        yield _UNRECORDED

    def close(self) -> None:
        """Send what is left, for a moment at most."""


_UNRECORDED: Final = Span()
UNTRACED: Final = Tracer()
