"""What a scan does besides comparing: probing before its report, recording after it. Wiring."""

from collections.abc import Callable
from dataclasses import dataclass
from functools import wraps
from typing import Any

from holdfast.cli.options.history import history_options
from holdfast.cli.options.probes import ProbeRequest, probe_options
from holdfast.operations.scan.recording import HistoryRequest

Command = Callable[..., int]


@dataclass(frozen=True)
class ScanExtras:
    """What is asked for besides the comparison."""

    history: HistoryRequest
    probing: ProbeRequest

    @property
    def are_default(self) -> bool:
        """Whether nothing was asked for."""
        return self == ScanExtras(HistoryRequest(), ProbeRequest())


def extra_options(command: Command) -> Command:
    """Options of history and probes; the command receives them as `extras`."""

    @history_options
    @probe_options
    @wraps(command)
    def with_request(
        *arguments: Any,  # noqa: ANN401  (the command's own)
        history: HistoryRequest,
        probing: ProbeRequest,
        **others: Any,  # noqa: ANN401  (as above)
    ) -> int:
        return command(*arguments, extras=ScanExtras(history, probing), **others)

    return with_request
