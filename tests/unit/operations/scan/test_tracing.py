"""A scan is a trace, where the environment asks for traces."""

import pytest
from holdfast.operations.progress import SILENT
from holdfast.operations.scan.tracing import traced_scan

from tests.trace_collector import collecting


def test_a_scan_is_a_trace_that_says_what_came_of_it(monkeypatch: pytest.MonkeyPatch) -> None:
    with collecting() as collector:
        for name, value in collector.variables.items():
            monkeypatch.setenv(name, value)
        with traced_scan("org/dev", SILENT) as span:
            span.note(findings=2, complete=True)
    (whole,) = collector.spans
    assert (whole.name, whole.resource["holdfast.stack"]) == ("drift", "dev")
    assert whole.attributes == {"holdfast.findings": 2, "holdfast.complete": True}
