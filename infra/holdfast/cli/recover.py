"""`holdfast recover`: a lost state made anew from the files and the cluster. Wiring only."""

from typing import Any, NamedTuple

import click
import msgspec

from holdfast.adapters.engine.results import RunResult
from holdfast.adapters.engine.stack import Stack, open_stack
from holdfast.adapters.engine.state.checkpoint import Deployment
from holdfast.adapters.engine.state.interrupted import (
    Interrupted,
    interrupted,
    mend,
    updates_of_service,
)
from holdfast.adapters.engine.state.rebuilding import rebuild
from holdfast.adapters.engine.state.set_aside import emptied, restore, set_aside
from holdfast.drift.finding import DriftReport
from holdfast.errors import EngineError, ExitCode, InputError
from holdfast.kube.paths import format_path
from holdfast.operations.deploy.facts import day_two_record, journal_of
from holdfast.operations.deploy.request import tell_terminal
from holdfast.operations.deploy.state_copies import offer_copy
from holdfast.operations.scan.sources import DriftRequest, DriftSources
from holdfast.operations.stack.context import StackContext
from holdfast.operations.stack.project import find_project_root
from holdfast.report.documents.json_text import json_text

_MOST_TOLD = 10
SCHEMA_VERSION = "holdfast.dev/recovery/v1"


@click.command()
@click.option("-s", "--stack", "name", required=True, help="Stack whose state is lost.")
@click.option(
    "--replace",
    "replaces",
    is_flag=True,
    help="Make the state anew from the cluster though there is one; the old file is kept.",
)
@click.option("--reason", default="the state was lost", show_default=True, help="For the history.")
@click.option(
    "-o", "--output", type=click.Choice(["text", "json"]), default="text", show_default=True
)
def command(name: str, reason: str, output: str, *, replaces: bool) -> ExitCode:
    """Make the lost state of a stack anew, from the files here and what the cluster has.

    A state that is there and cannot be read is put aside, and the newest copy taken that can. Where
    there is none, or with --replace, the engine plans the program as if nothing were there; every
    object of the plan that the cluster has becomes part of the new state, as it runs; what is not
    there is left for the next update to create. A preview and a drift scan then say what differs.
    Nothing is written to the cluster.

    Check out the commit that was deployed last (`holdfast history STACK`): objects that the files
    do not declare any more are no part of the new state, and the scan names them as not managed.

    A state that is only locked or half done needs no new one: see `holdfast up --recover`.

    \b
    Examples:
      holdfast recover -s dev
      holdfast recover -s prod --replace --reason "the state file was cut off"

    \b
    Exit codes: 0 recovered, and as declared   7 recovered, and drift is left
      1 failed: the state is as before   2 bad input
    """
    root = find_project_root()
    # A trial at the cluster ends in a conflict where somebody else has changed a field.
    stack = open_stack(
        root,
        name,
        kubeconfig=StackContext(root, name).sandbox_kubeconfig,
        variables={"PULUMI_DISABLE_PROVIDER_PREVIEW": "true"},
    )
    recovered = _recovered(stack, replaces=replaces)
    planned = stack.preview()
    report = DriftSources(DriftRequest(stack=name)).scan().report
    done = _document(recovered, _objects_in(stack.export()), planned, report)
    journal_of(root, name).add(
        msgspec.structs.replace(day_two_record("recover", name, reason), detail=_in_words(done))
    )
    if output == "json":
        click.echo(json_text({"schemaVersion": SCHEMA_VERSION, "stack": name, **done}), nl=False)
    else:
        _tell(name, done)
    if not report.is_complete:
        return ExitCode.ERROR
    return ExitCode.DRIFT if report.drift or planned.has_changes else ExitCode.OK


class _Recovered(NamedTuple):
    """A state that was recovered.

    Attributes:
        source: What it was made from: `cluster`, or the copy.
        found: What a refresh said of the draft; None for a copy.
    """

    source: str
    left_out: tuple[str, ...] = ()
    found: RunResult | None = None


def _recovered(stack: Stack, *, replaces: bool) -> _Recovered:
    files = stack.files
    if files is None:
        return _recovered_elsewhere(stack, replaces=replaces)
    if error := Interrupted(files.holders()).refusal(stack.name):
        raise error
    damage = "it was to be made anew" if replaces else _refuse_present(stack)
    copy = None if replaces or not damage else next(files.copies(), None)
    with set_aside(files) as kept:
        for path in kept:
            tell_terminal(f"{damage or 'it was empty'}: the old state is kept as {path}")
        if copy is None:
            return _from_cluster(stack)
        restore(files, copy)
        tell_terminal(f"took the newest copy that can be read: {copy}")
        for _ in mend(stack, interrupted(stack)):
            pass
        return _Recovered(str(copy))


def _recovered_elsewhere(stack: Stack, *, replaces: bool) -> _Recovered:
    """The same where the backend is no folder here: by what it gives out and takes in."""
    if error := Interrupted(updates_of_service(stack)).refusal(stack.name):
        raise error
    if not replaces:
        _refuse_present(stack)
        return _from_cluster(stack)
    with emptied(stack) as kept:
        if kept is not None:
            tell_terminal(f"it was to be made anew: the old state is kept as {kept}")
        return _from_cluster(stack)


def _from_cluster(stack: Stack) -> _Recovered:
    stack.init_if_absent()
    tell_terminal("planning the program, then reading what the cluster has of it")
    draft, found = rebuild(stack)
    return _Recovered("cluster", draft.left_out, found)


def _refuse_present(stack: Stack) -> str:
    """Refuse a stack that has a state; says what is wrong with one that cannot be used."""
    try:
        if stack.files is not None:
            stack.files.pending()
        there = _objects_in(stack.export())
    except EngineError as error:
        if error.exit_code is ExitCode.NO_STACK:
            return ""
        if stack.files is None:
            offer_copy(error, stack)
        if error.exit_code is not ExitCode.ERROR or stack.files is None:
            raise
        return error.message
    if not there:
        return ""
    name = stack.name
    raise InputError(
        f"stack {name} has a state, of {there} objects",
        remedy=f"a lock or a half done update is mended by 'holdfast up -s {name} --recover'; to "
        "make the state anew all the same, add --replace",
    )


def _objects_in(deployment: Deployment) -> int:
    return sum(1 for each in deployment.resources if each.kubernetes_object() is not None)


def _document(
    recovered: _Recovered, objects: int, planned: RunResult, report: DriftReport
) -> dict[str, Any]:
    drifted = recovered.found.drifted if recovered.found else ()
    return {
        "source": recovered.source,
        "recovered": objects,
        "missing": sorted(str(step) for step in drifted if step.operation == "delete"),
        "leftOut": list(recovered.left_out),
        "wouldChange": sorted(f"{step.operation} {step}" for step in planned.steps),
        "drift": sorted(f"{each.ref} {format_path(each.path)}".strip() for each in report.drift),
        "notChecked": sorted(f"{each.scope}: {each.reason}" for each in report.not_checked),
    }


def _in_words(done: dict[str, Any]) -> str:
    return f"{done['recovered']} objects recovered, {len(done['missing'])} not in the cluster"


def _tell(name: str, done: dict[str, Any]) -> None:
    words = {
        "missing": "not in the cluster: {}; the next update creates it",
        "leftOut": "left out: {}; the next update takes it in",
        "wouldChange": "a preview would {}",
        "drift": "drift: {}",
        "notChecked": "not checked: {}",
    }
    created = {f"create {each}" for each in done["missing"]}
    for key, text in words.items():
        # What is not there is told once, not as a plan and as drift as well.
        known = created if key == "wouldChange" else done["missing"] if key == "drift" else ()
        told = [text.format(each) for each in done[key] if each not in known]
        click.echo("".join(f"{line}\n" for line in told[:_MOST_TOLD]), nl=False)
        if len(told) > _MOST_TOLD:
            click.echo(f"... and {len(told) - _MOST_TOLD} more, which -o json names")
    proof = "a preview changes nothing, no drift"
    is_equal = not (done["wouldChange"] or done["drift"] or done["notChecked"])
    click.echo(f"{name}: {_in_words(done)}{f'; {proof}' if is_equal else ''}")
