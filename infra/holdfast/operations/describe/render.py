"""The objects that stacks stand for, as files for other tools."""

from collections.abc import Sequence
from typing import Final

from holdfast.convert.files.delivery import argocd_files, flux_files, pko_files
from holdfast.convert.files.files import ExportedFile, GitSource, RenderedStack, object_file
from holdfast.convert.files.packages import helm_files, kustomize_files
from holdfast.operations.stack.context import StackContext
from holdfast.operations.stack.lookup import no_such_agent
from holdfast.render.fleet import render_delivered
from holdfast.render.plan.declared import plan_fleet

PRINTED: Final = ("yaml", "json")
ONE_STACK: Final = (*PRINTED, "dir")
FROM_GIT: Final = ("argocd", "flux")
FORMS: Final = (*ONE_STACK, "kustomize", "helm", *FROM_GIT, "pko")
"""Every form in which objects are written."""


def rendered_stack(context: StackContext, form: str, agent: str | None = None) -> RenderedStack:
    """What a stack stands for: all of it for forms of one stack, else what is to be delivered.

    Args:
        context: The stack.
        form: One of `FORMS`.
        agent: Only the objects of this agent.

    Raises:
        InputError: the stack has no such agent.
        InvalidFilesError: the manifests are not valid.
    """
    fleet = context.fleet
    if form in ONE_STACK:
        objects = context.rendered
    else:
        objects = render_delivered(plan_fleet(fleet, context.name))
    if agent is not None:
        objects = tuple(item for item in objects if item.agent == agent)
        if not objects:
            raise no_such_agent(agent, [each.name for each in fleet.workloads], context.name)
    identifier = fleet.environment.cluster.identifier or context.name
    return RenderedStack(context.name, identifier, objects)


def exported_files(
    stacks: Sequence[RenderedStack], form: str, source: GitSource | None = None
) -> Sequence[ExportedFile]:
    """The files of a form that is not printed.

    Args:
        stacks: What they stand for.
        form: One of `FORMS`, but for `PRINTED`.
        source: Where the tool will find the files; for `FROM_GIT`.
    """
    if form == "dir":
        return [ExportedFile(object_file(item), (item.manifest,)) for item in stacks[0].objects]
    if source is not None:
        return (argocd_files if form == "argocd" else flux_files)(stacks, source)
    return {"kustomize": kustomize_files, "helm": helm_files, "pko": pko_files}[form](stacks)
