"""The commit that a live object is rendered from, among those a stack was updated to. Wiring."""

import json
from collections.abc import Iterator
from pathlib import Path

import click

from holdfast.adapters.cluster.writing import read_object
from holdfast.adapters.engine.update_record import UpdateRecord
from holdfast.adapters.git.source import commit_named
from holdfast.errors import ExitCode, HoldfastError, InputError
from holdfast.kube.objects import KubeObject, mapping_at, reference_of
from holdfast.operations.deploy.facts import update_records
from holdfast.operations.scan.live import ClusterSource
from holdfast.operations.stack.commit_project import project_at
from holdfast.operations.stack.context import StackContext
from holdfast.render.plan.marks import REVISION
from holdfast.report.documents.json_text import json_text

MOST_COMMITS = 20
_REQUEST_TIMEOUT_SECONDS = 60.0


def tell_commit(root: Path, stack: str, named: str, output: str) -> ExitCode:
    """Print which recorded commit renders a live object; says so when none of them does."""
    live = _live_object(root, stack, named)
    revision = _revision(live)
    if not revision:
        raise InputError(
            f"{reference_of(live)} has no annotation {REVISION}: Holdfast did not render it",
            remedy=f"see `holdfast drift -s {stack}`",
        )
    found = next(
        (each for each in _updates(root, stack) if _renders(root, stack, each, live)), None
    )
    if output == "json":
        document = {
            "object": named,
            "revision": revision,
            "commit": found.commit if found else None,
            "author": found.author if found else None,
            "updatedAt": found.started_at if found else None,
        }
        click.echo(json_text(document), nl=False)
    elif found is not None:
        click.echo(f"{reference_of(live)} is revision {revision}: commit {found.commit}")
        click.echo(f"  by {found.author}, first brought there at {found.started_at}")
    if found is None:
        click.echo(
            f"error: none of the last {MOST_COMMITS} recorded commits renders revision {revision} "
            f"of {reference_of(live)}",
            err=True,
        )
        return ExitCode.ERROR
    return ExitCode.OK


def _updates(root: Path, stack: str) -> Iterator[UpdateRecord]:
    """Successful updates, the newest first; of one commit that which brought it first."""
    first: dict[str, UpdateRecord] = {}
    for record in update_records(root, stack):
        if record.has_succeeded and record.commit and not record.is_dirty:
            first[record.commit] = first.pop(record.commit, record)
    yield from list(reversed(first.values()))[:MOST_COMMITS]


def _renders(root: Path, stack: str, update: UpdateRecord, live: KubeObject) -> bool:
    """Whether a commit renders the object at its revision; not, where it cannot be rendered."""
    try:
        commit = commit_named(root, update.commit).name
    except HoldfastError:
        return False
    with project_at(root, commit) as project:
        done = project.holdfast("render", "-s", stack, "-o", "json")
    if done.returncode:
        return False
    identity = reference_of(live).identity
    items = json.loads(done.stdout)["items"]
    return any(
        reference_of(item).identity == identity and _revision(item) == _revision(live)
        for item in items
    )


def _live_object(root: Path, stack: str, named: str) -> KubeObject:
    state = StackContext(root, stack)
    kind, _, rest = named.partition("/")
    namespace, _, name = rest.rpartition("/")
    references = [reference_of(one) for one in state.objects]
    wanted = [
        ref
        for ref in references
        if ref.kind.lower() == kind.lower() and ref.name == name
        if not namespace or ref.namespace == namespace
    ]
    if len(wanted) != 1:
        close = [f"{r.kind}/{r.namespace}/{r.name}" for r in references if r.name == name]
        raise InputError(
            f"{named!r} names {'no' if not wanted else 'more than one'} object of stack {stack}",
            remedy=f"there are: {', '.join(close)}" if close else "write Kind/namespace/name",
        )
    cluster = ClusterSource.connect(state.kubeconfig, state.kube_context, _REQUEST_TIMEOUT_SECONDS)
    cluster.placed([one for one in state.objects if reference_of(one) == wanted[0]])
    ref = wanted[0]
    found = read_object(cluster.client, ref, cluster.kinds[ref.api_version, ref.kind])
    if found is None:
        raise HoldfastError(f"{ref} does not exist", remedy=f"see `holdfast drift -s {stack}`")
    return found


def _revision(one: KubeObject) -> str:
    return str(mapping_at(one, "metadata", "annotations").get(REVISION) or "")
