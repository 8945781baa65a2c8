"""What is to be done about one agent: a pure function of what is known of it."""

from collections.abc import Iterator
from dataclasses import dataclass, field, replace
from enum import StrEnum
from typing import Literal

from holdfast.controllers.operator.agent_view import AgentView
from holdfast.controllers.operator.failover import FailoverState
from holdfast.drift.cause.owners import left_to
from holdfast.drift.finding import Finding, Severity
from holdfast.kube.objects import Identity, KubeObject, reference_of
from holdfast.manifest.types.marks import agent_of
from holdfast.render.objects.agent_resources import FINALIZER
from holdfast.render.objects.failover import is_movable, keeping_side, other_target, with_serving
from holdfast.render.plan.metadata import RenderedObject, revision_of

_NEVER_PRUNED = frozenset({"PersistentVolumeClaim"})


class Action(StrEnum):
    """Kinds of action."""

    NOTHING = "nothing"
    APPLY = "apply"
    REVERT = "revert"
    FAIL_OVER = "fail-over"
    DELETE = "delete"
    RELEASE = "release"


@dataclass(frozen=True)
class Decision:
    """What is to be done.

    Attributes:
        reason: Why, for the log.
        apply: Objects to apply, in order.
        create_only: None of them may exist.
        remove: Live objects to delete.
        revert: Findings to revert.
        refusal: Why nothing is written although something should be; empty when nothing hinders.
    """

    action: Action = Action.NOTHING
    reason: str = ""
    apply: tuple[RenderedObject, ...] = ()
    create_only: bool = False
    remove: tuple[KubeObject, ...] = ()
    revert: tuple[Finding, ...] = field(default=())
    refusal: str = ""


def decide(view: AgentView, drift_mode: Literal["report", "revert", "adopt"]) -> Decision:
    """Decide about one agent.

    Laws: nothing is written while something cannot be seen; while it is paused, and of what is in
    conflict, only critical findings are reverted; what a GitOps engine delivers is left to it; a
    Service is moved only from where no pod is ready to where one is; while the deployer says that
    an update is under way, no object of another revision is reverted; claims that are retained
    outlive their agent, and no claim goes because its volume is declared no more; an agent that
    another client than the deployer deletes keeps its objects.

    Args:
        view: What is known of the agent.
        drift_mode: spec.drift.mode of the agent.
    """
    if view.is_going:
        return _plan_deletion(view)
    if view.invalid or view.unresolved or view.blind:
        return Decision(reason="not known well enough")
    if view.is_paused:
        return _while_paused(view, drift_mode)
    if view.failover is not None and view.failover.must_move:
        return _fail_over(view, view.failover)
    if view.mode == "expand" and not view.was_programmed:
        return _deployment(view)
    reason = _reason_to_report_only(view, drift_mode)
    return Decision(reason=reason) if reason else _putting_back(view)


def _putting_back(view: AgentView) -> Decision:
    # An update takes such an object away for a moment before it creates it again.
    taken_away = view.missing if view.is_updating else ()
    replaced = {reference_of(each.manifest).identity for each in taken_away if each.replaced_on}
    declared = {reference_of(each.manifest).identity for each in view.rendered} - replaced
    meant = tuple(
        each
        for each in view.drift
        if each.ref.identity in declared
        and view.may_be_reverted(each)
        and (each.severity is Severity.CRITICAL or not view.is_paused)
    )
    if not meant and view.is_paused:
        return Decision(reason="paused")
    if not meant:
        return Decision(reason="in conflict" if view.conflicts else "nothing that can be reverted")
    engines = [view.engine_of(each) for each in meant]
    ours = tuple(each for each, engine in zip(meant, engines, strict=True) if not engine)
    if not ours:
        return Decision(reason=left_to(engines[0]))
    return Decision(Action.REVERT, "drift.mode is revert", revert=ours)


def _while_paused(view: AgentView, drift_mode: str) -> Decision:
    """Others than the deployer may write that annotation: critical findings are reverted."""
    if _reason_to_report_only(view, drift_mode):
        return Decision(reason="paused")
    return _putting_back(view)


def _reason_to_report_only(view: AgentView, drift_mode: str) -> str:
    reasons = (
        (not view.drift, "in sync"),
        (drift_mode != "revert", f"drift.mode is {drift_mode}"),
        (
            view.is_updating and (not view.was_programmed or bool(view.outdated)),
            "an update is under way",
        ),
    )
    return next((reason for applies, reason in reasons if applies), "")


def _deployment(view: AgentView) -> Decision:
    if view.broken:
        rules = ", ".join(view.broken)
        return Decision(reason="refused", refusal=f"breaks mandatory rules: {rules}")
    foreign = [each for each in view.rendered if not _is_ours(view, each)]
    if foreign:
        refs = ", ".join(str(reference_of(each.manifest)) for each in foreign)
        return Decision(reason="refused", refusal=f"exists already and is not the agent's: {refs}")
    return Decision(
        Action.APPLY,
        "a new revision",
        apply=tuple(_keeping_side(view, each) for each in view.rendered),
        create_only=view.is_new,
        remove=tuple(_pruned(view)),
    )


def _keeping_side(view: AgentView, item: RenderedObject) -> RenderedObject:
    """A new version does not undo a fail-over."""
    live = view.live.get(reference_of(item.manifest).identity)
    return replace(item, manifest=keeping_side(item.manifest, live))


def _fail_over(view: AgentView, state: FailoverState) -> Decision:
    other = other_target(state.serving)
    moved = tuple(with_serving(each, other) for each in view.rendered if is_movable(each.manifest))
    reason = f"no pod of the {state.serving} is ready: the {other} takes over"
    return Decision(Action.FAIL_OVER, reason, apply=moved)


def _is_ours(view: AgentView, item: RenderedObject) -> bool:
    live = view.live.get(reference_of(item.manifest).identity)
    if live is None:
        return True
    return bool(agent_of(live) == view.resource["metadata"]["name"])


def _pruned(view: AgentView) -> Iterator[KubeObject]:
    """Live objects that were rendered once, and are declared no more."""
    declared = {reference_of(each.manifest).identity for each in view.rendered}
    for identity, live in view.live.items():
        if identity not in declared and _is_removable(live) and identity.kind not in _NEVER_PRUNED:
            yield live


def _is_removable(live: KubeObject) -> bool:
    metadata = live["metadata"]
    is_rendered = bool(revision_of(live))
    return (
        is_rendered
        and not metadata.get("deletionTimestamp")
        and not metadata.get("ownerReferences")
    )


def _plan_deletion(view: AgentView) -> Decision:
    if FINALIZER not in (view.resource["metadata"].get("finalizers") or ()):
        return Decision(reason="going")
    if view.stays:
        return Decision(Action.RELEASE, "another client deleted it: it stays declared")
    if view.blind:
        return Decision(reason="not known well enough")
    retained = {reference_of(each.manifest).identity for each in view.rendered if each.is_retained}
    leaving = {
        identity: one for identity, one in view.live.items() if _leaves(view, identity, retained)
    }
    if not leaving:
        return Decision(Action.RELEASE, "its objects are gone")
    removed = tuple(one for one in leaving.values() if _is_removable(one))
    return Decision(Action.DELETE, "it was deleted", remove=removed)


def _leaves(view: AgentView, identity: Identity, retained: set[Identity]) -> bool:
    """Whether an object goes with its agent; a claim only when its volume is declared to go."""
    if identity in retained or not revision_of(view.live[identity]):
        return False
    declared = {reference_of(each.manifest).identity for each in view.rendered}
    return identity.kind not in _NEVER_PRUNED or identity in declared
