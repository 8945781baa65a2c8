"""Progress of an operation: what it says while it works, wherever that is shown."""

from typing import Final, Protocol


class Progress(Protocol):
    """Takes lines for people; the command line writes them to standard error, a loop to its log."""

    def note(self, text: str) -> None:
        """Say what a person should know: a remark, a warning, what could not be done."""

    def step(self, text: str) -> None:
        """Say that a step has been done or begins."""


class _Silent:
    def note(self, text: str) -> None:
        pass

    def step(self, text: str) -> None:
        pass


SILENT: Final[Progress] = _Silent()
"""For callers that show nothing."""
