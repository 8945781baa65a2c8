"""Spans sent by OpenTelemetry's own SDK and exporters, which are set up by `OTEL_*` variables.

Source: OpenTelemetry specification, "Environment Variable Specification" and "OTLP exporter".
Law: a collector that is down or slow costs spans, never time: they are sent from a thread of the
SDK, and what does not fit into its queue is dropped.
"""

import logging
import os
import threading
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from typing import TYPE_CHECKING, Final
from urllib.parse import SplitResult, urlsplit

from holdfast.adapters.tracing.spans import UNTRACED, Fact, Span, Tracer
from holdfast.errors import HoldfastError, InputError

if TYPE_CHECKING:
    from opentelemetry.sdk.trace import TracerProvider
    from opentelemetry.sdk.trace.export import SpanExporter
    from opentelemetry.trace import Span as Recorded

SERVICE_NAME: Final = "holdfast"
CLOSING_SECONDS: Final = 3.0
QUIET_SECONDS: Final = 60.0
_ENDPOINTS: Final = ("OTEL_EXPORTER_OTLP_TRACES_ENDPOINT", "OTEL_EXPORTER_OTLP_ENDPOINT")
_PROTOCOLS: Final = ("OTEL_EXPORTER_OTLP_TRACES_PROTOCOL", "OTEL_EXPORTER_OTLP_PROTOCOL")
_EXPORTER: Final = "OTEL_TRACES_EXPORTER"

Report = Callable[[str], None]
"""Takes what went wrong with the sending."""


def tracer_of(
    variables: Mapping[str, str], stack: str, version: str, report: Report
) -> tuple[Tracer, str]:
    """The tracer that the environment asks for; one that records nothing when it asks for none.

    Traces are sent when an OTLP endpoint is named, or `OTEL_TRACES_EXPORTER=otlp`.

    Args:
        variables: The environment of this process, of which the SDK reads the rest by itself.
        stack: Whose work is traced.
        version: Of this program.
        report: Called with why spans cannot be sent; each reason once a minute at most.

    Returns:
        The tracer, and where it sends to: empty for nowhere.

    Raises:
        InputError: a variable says what is not offered.
    """
    endpoint = _first(variables, _ENDPOINTS)
    exporter = variables.get(_EXPORTER) or ("otlp" if endpoint else "none")
    if exporter not in ("otlp", "none"):
        raise InputError(
            f"{_EXPORTER}={exporter!r}: expected otlp or none", remedy="correct the variable"
        )
    if exporter == "none" or variables.get("OTEL_SDK_DISABLED", "").lower() == "true":
        return UNTRACED, ""
    protocol = _first(variables, _PROTOCOLS) or "http/protobuf"
    if protocol not in ("http/protobuf", "grpc"):
        raise InputError(
            f"{_PROTOCOLS[1]}={protocol!r}: expected http/protobuf or grpc",
            remedy="correct the variable",
        )
    place = urlsplit(endpoint or "http://localhost")
    if not place.hostname:
        raise InputError(
            f"{_ENDPOINTS[1]}: expected an address such as http://collector:4318, "
            f"got one without a host"
        )
    _report_trouble(place, report)
    return SdkTracer(_provider(stack, version, protocol)), f"{place.hostname} ({protocol})"


class SdkTracer(Tracer):
    """Records by the SDK."""

    def __init__(self, provider: "TracerProvider") -> None:
        self._provider = provider
        self._tracer = provider.get_tracer(SERVICE_NAME)

    @contextmanager
    def span(self, name: str, **facts: Fact) -> Iterator[Span]:
        """One step, as long as the block."""
        with self._tracer.start_as_current_span(
            name, attributes=_named(facts), record_exception=False, set_status_on_exception=False
        ) as recorded:
            span = SdkSpan(recorded)
            try:
                yield span
            except HoldfastError as error:
                span.fail(str(error))
                raise
            except BaseException as error:
                span.fail(type(error).__name__)
                raise

    def close(self) -> None:
        """Send what is left; a collector that does not answer is not waited for."""
        closing = threading.Thread(target=self._provider.shutdown, name="traces", daemon=True)
        closing.start()
        closing.join(CLOSING_SECONDS)


class SdkSpan(Span):
    """One step, recorded by the SDK."""

    def __init__(self, recorded: "Recorded") -> None:
        from opentelemetry.trace import format_trace_id  # noqa: PLC0415  (only where one traces)

        self._recorded = recorded
        self.trace_id = format_trace_id(recorded.get_span_context().trace_id)

    def note(self, **facts: Fact) -> None:
        """Note what is known now."""
        self._recorded.set_attributes(_named(facts))

    def fail(self, problem: str) -> None:
        """Note that the step failed."""
        from opentelemetry.trace import StatusCode  # noqa: PLC0415  (only where one traces)

        self._recorded.set_status(StatusCode.ERROR, problem)


def _named(facts: Mapping[str, Fact]) -> dict[str, Fact]:
    return {f"holdfast.{name}": fact for name, fact in facts.items() if fact not in ("", (), [])}


def _first(variables: Mapping[str, str], names: tuple[str, ...]) -> str:
    return next((variables[name] for name in names if variables.get(name)), "")


def _provider(stack: str, version: str, protocol: str) -> "TracerProvider":
    """The SDK, with what it reads from the environment by itself: sampler, queue, headers."""
    from opentelemetry.sdk.resources import Resource  # noqa: PLC0415  (only where one traces)
    from opentelemetry.sdk.trace import TracerProvider  # noqa: PLC0415  (as above)
    from opentelemetry.sdk.trace.export import BatchSpanProcessor  # noqa: PLC0415  (as above)

    ours = {"service.version": version, "holdfast.stack": stack}
    if not os.environ.get("OTEL_SERVICE_NAME"):
        ours["service.name"] = SERVICE_NAME
    # At the end of the process nothing waits for a collector: `close` does, for a moment.
    provider = TracerProvider(resource=Resource.create(ours), shutdown_on_exit=False)
    provider.add_span_processor(BatchSpanProcessor(_exporter(protocol)))
    return provider


def _exporter(protocol: str) -> "SpanExporter":
    if protocol == "grpc":
        from opentelemetry.exporter.otlp.proto.grpc import trace_exporter as by_grpc  # noqa: PLC0415  (slow to load)

        return by_grpc.OTLPSpanExporter()
    from opentelemetry.exporter.otlp.proto.http import trace_exporter as by_http  # noqa: PLC0415  (only where one traces)

    return by_http.OTLPSpanExporter()


def _report_trouble(place: SplitResult, report: Report) -> None:
    """What the SDK complains of goes into our log."""
    logger = logging.getLogger("opentelemetry")
    logger.handlers = [_Trouble(place, report)]
    logger.propagate = False


class _Trouble(logging.Handler):
    """Tells each complaint once a minute, without what in the collector's address is a secret."""

    def __init__(self, place: SplitResult, report: Report) -> None:
        super().__init__(logging.WARNING)
        parts = (place.username, place.password, place.query)
        self._secrets = [part for part in parts if part]
        self._report = report
        self._told: dict[str, float] = {}

    def emit(self, record: logging.LogRecord) -> None:
        """Report one complaint."""
        now = time.monotonic()
        if now - self._told.get(record.msg, float("-inf")) < QUIET_SECONDS:
            return
        self._told[record.msg] = now
        text = record.getMessage()
        for secret in self._secrets:
            text = text.replace(secret, "...")
        self._report(text)
