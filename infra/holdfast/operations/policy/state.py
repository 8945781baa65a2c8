"""The resources of a stack's state, as `pulumi policy analyze` judges them. Wiring.

Rules about one object see what the program asked for, rules about the stack what the provider
answered. Secrets are encrypted there: what a rule cannot read, it cannot tell.
"""

from collections.abc import Iterator
from pathlib import Path

from holdfast_policies.decode.recorded import decode_recorded
from holdfast_policies.decode.resource import is_patch, kind_of_token, stack_of_urn
from holdfast_policies.subject import Options, Subject

from holdfast.adapters.engine.state.checkpoint import Deployment, RecordedResource, decode_export
from holdfast.errors import InputError
from holdfast.kube.objects import mapping_at
from holdfast.manifest.types.agent_label import AGENT_LABEL
from holdfast.operations.policy.evaluate import Judged
from holdfast.operations.policy.sources import Gathered
from holdfast.operations.stack.context import StackContext


def recorded_objects(project_root: Path, stack: str) -> Gathered:
    """What the newest state of a stack records.

    Raises:
        EngineError: it cannot be had.
    """
    return gathered(StackContext(project_root, stack).engine().export())


def read_export(file: Path) -> Deployment:
    """A file that `pulumi stack export` has written.

    Raises:
        InputError: it cannot be read.
        EngineError: it is no export, or newer than this reader.
    """
    try:
        data = file.read_bytes()
    except OSError as error:
        raise InputError(f"{file}: {error.strerror or error}") from error
    deployment = decode_export(data, place=str(file))
    if not deployment.resources:
        raise InputError(
            f"{file}: a state without resources", remedy="write one with `pulumi stack export`"
        )
    return deployment


def stack_in(deployment: Deployment) -> str:
    """Name of the stack that a state is of."""
    return stack_of_urn(deployment.resources[0].urn)


def gathered(deployment: Deployment) -> Gathered:
    """The Kubernetes objects among the resources of a state."""
    judged = tuple(_judged(deployment))
    others = sum(not each.delete for each in deployment.resources) - len(judged)
    left_out = f"{others} resources that are no Kubernetes objects, or parts of some, were left out"
    return Gathered(judged, remarks=(left_out,) if others else ())


def _judged(deployment: Deployment) -> Iterator[Judged]:
    for resource in deployment.resources:
        kind = kind_of_token(resource.type)
        if kind is not None and resource.custom and not resource.delete:
            yield from _one(resource)


def _one(resource: RecordedResource) -> Iterator[Judged]:
    kind = kind_of_token(resource.type)
    if kind is None or is_patch(resource.type):
        return
    asked, answered = resource.properties
    options = Options(resource.protect, tuple(resource.ignore_changes or ()))
    inputs = Subject(decode_recorded(asked), kind, resource.urn, options)
    outputs = Subject(decode_recorded(answered), kind, resource.urn, options)
    agent = mapping_at(asked, "metadata", "labels").get(AGENT_LABEL)
    yield Judged(inputs, agent if isinstance(agent, str) else "", in_stack=outputs)
