"""The engine's own refresh beside the scan: asked in full, about what drifted, or not. Wiring."""

from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

import click

from holdfast.drift.engine_view import PULUMI, EngineDifference, EngineView, with_engine_view
from holdfast.drift.finding import FIELD_CLASSES, DriftClass, DriftReport, Layer, NotChecked
from holdfast.errors import HoldfastError

if TYPE_CHECKING:
    from holdfast.adapters.engine.results import RunResult
    from holdfast.operations.scan.sources import DriftSources, Scan

SCOPE = "pulumi refresh --preview-only"
MOST_TARGETS = 50
"""More drifted objects than that: the engine is asked about the whole stack at once."""


@dataclass(frozen=True)
class _Answer:
    """What came of asking the engine.

    Attributes:
        view: None when it did not answer.
        detail: What it looked at, or why it did not answer.
    """

    view: EngineView | None
    detail: str


def scan_with_engine(sources: "DriftSources", *, wanted: bool | None) -> "Scan":
    """Scan, and ask Pulumi's refresh as far as it is wanted.

    Args:
        sources: Of the scan.
        wanted: True: side by side, about the whole stack, and no answer means incomplete. None:
            only about what the scan found, so that a stack in sync costs no run of the engine.
            False: not at all.
    """
    if not sources.request.stack:
        return sources.scan()
    if wanted:
        with ThreadPoolExecutor(1) as thread:
            scanning = thread.submit(sources.scan, keeps_all=True)
            # In this thread, so that a signal reaches the engine.
            answer = _ask(sources, ())
            scan = scanning.result()
        return _joined(scan, answer, is_demanded=True)
    scan = sources.scan()
    if wanted is False:
        return _joined(scan, _Answer(None, "--no-engine"))
    return _joined(scan, _second_opinion(sources, scan))


def _second_opinion(sources: "DriftSources", scan: "Scan") -> _Answer:
    urns = sources.desired.urns
    asked = FIELD_CLASSES | {DriftClass.MISSING}
    drifted = {each.ref.identity for each in scan.report.drift if each.drift_class in asked}
    targets = sorted(urns[identity] for identity in drifted if identity in urns)
    if not targets:
        why = "nothing to ask about" if scan.report.drift else "the scan found no drift"
        return _Answer(None, f"{why}; --engine asks about the whole stack")
    return _ask(sources, targets if len(targets) <= MOST_TARGETS else ())


def _ask(sources: "DriftSources", targets: Sequence[str]) -> _Answer:
    from holdfast.adapters.engine.stack import open_stack  # noqa: PLC0415  (as above)
    from holdfast.operations.stack.project import find_project_root  # noqa: PLC0415  (a scan alone needs none)

    request, desired = sources.request, sources.desired
    if request.context not in (None, desired.context):
        return _Answer(None, f"--context {request.context} is not the context of the stack")
    try:
        # Whoever may only read scans with the same credentials in both layers.
        kubeconfig = request.kubeconfig or desired.kubeconfig
        stack = open_stack(find_project_root(), request.stack, kubeconfig=kubeconfig)
        result = stack.refresh_preview(targets=targets)
    except HoldfastError as error:
        return _Answer(None, str(error))
    if missing := result.unread_events:
        return _Answer(None, f"events of the engine could not be read: {missing}; update Holdfast")
    for step in result.unhealthy:
        why = step.initialisation_errors[0].splitlines()[0]
        click.echo(f"note: {step}: as recorded, but not ready: {why}", err=True)
    looked_at = f"{len(targets)} drifted objects" if targets else "the whole stack"
    return _Answer(view_of(result), f"looked at {looked_at}")


def view_of(result: "RunResult") -> EngineView:
    """The outcome of a refresh in the words of the drift room."""
    objects = [(step, step.reference.identity) for step in result.drifted if step.reference]
    return EngineView(
        differences={
            identity: tuple(EngineDifference(each.path, each.kind) for each in step.differences)
            for step, identity in objects
            if step.operation != "delete"
        },
        gone=frozenset(identity for step, identity in objects if step.operation == "delete"),
    )


def _joined(scan: "Scan", answer: _Answer, *, is_demanded: bool = False) -> "Scan":
    report = scan.report
    if answer.view is not None:
        report = with_engine_view(report, answer.view, scan.desired, scan.live.objects, scan.around)
    elif is_demanded:
        report = replace(
            report, not_checked=(*report.not_checked, NotChecked(SCOPE, answer.detail))
        )
    return replace(scan, report=_with_layers(report, answer))


def _with_layers(report: DriftReport, answer: _Answer) -> DriftReport:
    scanned = Layer("holdfast", has_run=True, detail=f"compared {report.objects_checked} objects")
    engine = Layer(PULUMI, has_run=answer.view is not None, detail=answer.detail)
    return replace(report, layers=(scanned, engine))
