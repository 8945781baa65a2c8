"""What the processes of all controllers share: their end, their address, their traces."""

import os
import signal
import threading
from collections.abc import Callable
from typing import Final

from holdfast import __version__
from holdfast.adapters.cluster.api_error import ApiError, UnreachableError
from holdfast.adapters.cluster.backoff import STARTS
from holdfast.adapters.tracing.opentelemetry import tracer_of
from holdfast.adapters.tracing.spans import Tracer
from holdfast.errors import ExitCode, InputError

LARGEST_PORT: Final = 65_535


def stop_on_signals(stop: Callable[[], None]) -> None:
    """Stop in order at the first SIGINT or SIGTERM; the second one ends the process at once."""

    def on_signal(number: int, _: object) -> None:
        signal.signal(number, signal.SIG_DFL)
        stop()

    for number in (signal.SIGINT, signal.SIGTERM):
        signal.signal(number, on_signal)


def end_within(seconds: float, end: Callable[[int], None] = os._exit) -> None:
    """End the process with exit code 1 unless it ends by itself before.

    Args:
        seconds: How long it may take to end in order.
        end: Ends the process at once, whatever its threads wait for.
    """
    timer = threading.Timer(seconds, end, [int(ExitCode.ERROR)])
    timer.daemon = True
    timer.start()


def host_and_port(option: str, address: str, example: str) -> tuple[str, int]:
    """The two parts of HOST:PORT; the host is empty for all addresses.

    Raises:
        InputError: it is something else.
    """
    host, separator, port = address.rpartition(":")
    if not separator or not port.isdecimal() or int(port) > LARGEST_PORT:
        raise InputError(f"{option} {address!r}: expected HOST:PORT", remedy=f"such as {example}")
    return host.strip("[]"), int(port)


def tracer_for(stack: str, log: Callable[..., None]) -> Tracer:
    """The tracer that the environment asks for; what it sends where goes to the log."""
    tracer, place = tracer_of(
        os.environ,
        stack.rpartition("/")[2],
        __version__,
        lambda problem: log("trace", level="warning", problem=problem),
    )
    if place:
        log("trace", to=place)
    return tracer


def wait_for_api_server(
    begin: Callable[[], None], rest: Callable[[float], bool], report: Callable[[str], None]
) -> bool:
    """Begin as soon as the server answers.

    Args:
        begin: Begins, or raises.
        rest: Rests for so many seconds; whether to go on.
        report: Takes why it waits.

    Returns:
        Whether it has begun; False when it was stopped before.

    Raises:
        ClusterError: the server has refused: waiting does not help.
    """
    failures = 0
    while True:
        try:
            begin()
        except (UnreachableError, ApiError) as error:
            if isinstance(error, ApiError) and not error.may_pass:
                raise
            failures += 1
            report(str(error))
            if not rest(STARTS.seconds(failures)):
                return False
        else:
            return True
