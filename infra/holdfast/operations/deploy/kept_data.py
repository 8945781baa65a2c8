"""What an update leaves in the cluster when it leaves the stack, and takes in when it returns."""

from concurrent.futures import ThreadPoolExecutor

from holdfast.adapters.cluster.client import CONNECTIONS
from holdfast.adapters.engine.results import RunResult
from holdfast.adapters.engine.run.events import ResourceStep
from holdfast.adapters.engine.stack import Stack
from holdfast.adapters.engine.state.kept_objects import KeptObject, current_state, kept_by_update
from holdfast.errors import HoldfastError
from holdfast.operations.scan.live import ClusterSource
from holdfast.operations.stack.context import StackContext


def kept_objects(context: StackContext, stack: Stack) -> tuple[KeptObject, ...]:
    """Objects that an update strikes out of the state and does not delete.

    None where the files of an old commit can be read by its code alone: the engine then refuses to
    delete what is protected.

    Raises:
        EngineError: the state cannot be read.
        InputError: an object with data is declared in another place.
    """
    try:
        rendered = context.rendered
    except HoldfastError:
        return ()
    declared = {each.identity for each in rendered}
    resources = {(each.manifest["kind"], each.resource_name) for each in rendered}
    return kept_by_update(current_state(stack), declared, resources)


def adoptions(context: StackContext, preview: RunResult) -> tuple[ResourceStep, ...]:
    """Steps of a preview that create what is in the cluster already, among what updates keep.

    None where the cluster cannot be asked: they are then called creations.
    """
    try:
        retained = {each.identity for each in context.rendered if each.is_retained}
        cluster = ClusterSource.of_stack(context)
        steps = [
            each
            for each in preview.steps
            if each.operation == "create" and each.reference and each.reference.identity in retained
        ]
        with ThreadPoolExecutor(CONNECTIONS) as pool:
            found = pool.map(lambda each: each.reference and cluster.live(each.reference), steps)
            return tuple(step for step, live in zip(steps, found, strict=True) if live is not None)
    except HoldfastError:
        return ()
