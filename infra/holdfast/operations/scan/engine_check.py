"""The engine's own refresh beside the scan: asked in full, about what drifted, or not."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from holdfast.adapters.engine.results import RunResult
from holdfast.drift.finding import FIELD_CLASSES, DriftClass, DriftReport, Layer, NotChecked
from holdfast.drift.refresh_preview import PULUMI, RefreshDifference, RefreshPreview
from holdfast.errors import HoldfastError
from holdfast.kube.objects import Identity
from holdfast.operations.progress import Progress
from holdfast.operations.stack.declared_stack import DeclaredStack

SCOPE = "pulumi refresh --preview-only"
MOST_TARGETS = 50
"""More drifted objects than that: the engine is asked about the whole stack at once."""
_ASKED = FIELD_CLASSES | {DriftClass.MISSING}


@dataclass(frozen=True)
class EngineAnswer:
    """What came of asking the engine.

    Attributes:
        view: None when it did not answer.
        detail: What it looked at, or why it did not answer.
    """

    view: RefreshPreview | None = None
    detail: str = ""


def targets_of(report: DriftReport, urns: Mapping[Identity, str]) -> list[str]:
    """Resources of the drifted objects that the engine knows."""
    drifted = {each.ref.identity for each in report.drift if each.drift_class in _ASKED}
    return sorted(urns[identity] for identity in drifted if identity in urns)


def nothing_to_ask(report: DriftReport) -> EngineAnswer:
    """Why the engine is not asked about what drifted."""
    why = "nothing to ask about" if report.drift else "the scan found no drift"
    return EngineAnswer(detail=f"{why}; --engine asks about the whole stack")


def ask_refresh(
    stack: DeclaredStack,
    kubeconfig: Path | None,
    targets: Sequence[str],
    progress: Progress,
    timeout_seconds: float | None = None,
) -> EngineAnswer:
    """Ask Pulumi's refresh, which changes nothing.

    Args:
        stack: That is scanned.
        kubeconfig: Credentials; None for the usual ones.
        targets: Resources; none, or more than `MOST_TARGETS`, for the whole stack.
        progress: Takes notes on what is not ready.
        timeout_seconds: Of the refresh; None for the default.
    """
    chosen = targets if len(targets) <= MOST_TARGETS else ()
    try:
        engine = stack.engine(kubeconfig)
        if timeout_seconds is not None:
            engine = replace(engine, timeout_seconds=timeout_seconds)
        result = engine.refresh_preview(targets=chosen)
    except HoldfastError as error:
        return EngineAnswer(detail=str(error))
    if missing := result.unread_events:
        why = f"events of the engine could not be read: {missing}; update Holdfast"
        return EngineAnswer(detail=why)
    for step in result.unhealthy:
        why = step.initialisation_errors[0].splitlines()[0]
        progress.note(f"note: {step}: as recorded, but not ready: {why}")
    scope = f"{len(chosen)} drifted objects" if chosen else "the whole stack"
    return EngineAnswer(view_of(result), f"compared {scope}")


def view_of(result: RunResult) -> RefreshPreview:
    """The outcome of a refresh in the words of the drift room."""
    objects = [(step, step.reference.identity) for step in result.drifted if step.reference]
    return RefreshPreview(
        differences={
            identity: tuple(RefreshDifference(each.path, each.kind) for each in step.differences)
            for step, identity in objects
            if step.operation != "delete"
        },
        gone=frozenset(identity for step, identity in objects if step.operation == "delete"),
    )


def with_answer(report: DriftReport, answer: EngineAnswer, *, is_required: bool) -> DriftReport:
    """A report that says which layers have looked, and what the engine did not answer."""
    not_checked = report.not_checked
    if answer.view is None and is_required:
        not_checked = (*not_checked, NotChecked(SCOPE, answer.detail))
    scanned = Layer("holdfast", has_run=True, detail=f"compared {report.objects_checked} objects")
    engine = Layer(PULUMI, has_run=answer.view is not None, detail=answer.detail)
    return replace(report, not_checked=not_checked, layers=(scanned, engine))
