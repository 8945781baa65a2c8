"""The commit that a live object is rendered from, among those a stack was updated to."""

from collections.abc import Iterator
from dataclasses import dataclass

import msgspec

from holdfast.adapters.engine.update_record import UpdateRecord
from holdfast.adapters.git.source import commit_named
from holdfast.errors import HoldfastError, InputError
from holdfast.kube.objects import KubeObject, ObjectRef, reference_of
from holdfast.manifest.types.marks import REVISION
from holdfast.operations.scan.live import ClusterSource
from holdfast.operations.stack.commit_project import project_at
from holdfast.operations.stack.context import StackContext
from holdfast.operations.stack.update_history import update_records
from holdfast.render.plan.metadata import revision_of

MOST_COMMITS = 20


@dataclass(frozen=True)
class ObjectProvenance:
    """Where a live object comes from.

    Attributes:
        ref: The object.
        revision: The one that it carries.
        update: The update that first brought a commit which renders it so; None where none of the
            newest recorded ones does.
    """

    ref: ObjectRef
    revision: str
    update: UpdateRecord | None


def commit_of_object(context: StackContext, named: str) -> ObjectProvenance:
    """Find the recorded commit that renders a live object.

    Args:
        context: The stack.
        named: `Kind/name` or `Kind/namespace/name`.

    Raises:
        InputError: the stack declares no such object, or more than one; or Holdfast did not
            render it.
        HoldfastError: it does not exist, or cannot be read.
    """
    live = _live_object(context, named)
    ref, revision = reference_of(live), revision_of(live)
    if not revision:
        raise InputError(
            f"{ref} has no annotation {REVISION}: Holdfast did not render it",
            remedy=f"see `holdfast drift -s {context.name}`",
        )
    found = (each for each in _updates(context) if _renders(context, each, ref, revision))
    return ObjectProvenance(ref, revision, next(found, None))


def _updates(context: StackContext) -> Iterator[UpdateRecord]:
    """Successful updates, the newest first; of one commit that which brought it first."""
    first: dict[str, UpdateRecord] = {}
    for record in update_records(context.root, context.name):
        if record.has_succeeded and record.commit and not record.is_dirty:
            first[record.commit] = first.pop(record.commit, record)
    yield from list(reversed(first.values()))[:MOST_COMMITS]


class _Rendered(msgspec.Struct):
    items: list[KubeObject]


def _renders(context: StackContext, update: UpdateRecord, ref: ObjectRef, revision: str) -> bool:
    """Whether a commit renders an object at a revision; not, where it cannot be rendered."""
    try:
        commit = commit_named(context.root, update.commit).name
        with project_at(context.root, commit) as project:
            done = project.holdfast("render", "-s", context.name, "-o", "json")
        items = msgspec.json.decode(done.stdout, type=_Rendered).items
    except (HoldfastError, msgspec.DecodeError):
        return False
    return done.returncode == 0 and any(
        reference_of(item).identity == ref.identity and revision_of(item) == revision
        for item in items
    )


def _live_object(context: StackContext, named: str) -> KubeObject:
    kind, _, rest = named.partition("/")
    namespace, _, name = rest.rpartition("/")
    references = [reference_of(one) for one in context.objects]
    wanted = [
        ref
        for ref in references
        if ref.kind.lower() == kind.lower() and ref.name == name
        if not namespace or ref.namespace == namespace
    ]
    if len(wanted) != 1:
        close = [f"{r.kind}/{r.namespace}/{r.name}" for r in references if r.name == name]
        raise InputError(
            f"{named!r} names {'no' if not wanted else 'more than one'} object of stack "
            f"{context.name}",
            remedy=f"there are: {', '.join(close)}" if close else "write Kind/namespace/name",
        )
    ref = wanted[0]
    found = ClusterSource.of_stack(context).live(ref)
    if found is None:
        raise HoldfastError(
            f"{ref} does not exist", remedy=f"see `holdfast drift -s {context.name}`"
        )
    return found
