"""From a stack's name to the engine: the kubeconfig it needs, and the stack ready to run."""

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from holdfast.adapters.engine.backend.stack_lock import stack_lock
from holdfast.adapters.engine.stack import Stack, open_stack
from holdfast.adapters.engine.state.baseline import state_files
from holdfast.adapters.engine.state.interrupted import interrupted
from holdfast.errors import ClusterError
from holdfast.manifest.fleet.project_files import STACKS_FOLDER
from holdfast.manifest.stack.stack_files import read_environment, read_stack_file
from holdfast.sandbox.place import CONTEXT_PREFIX, sandbox_kubeconfig


def stack_kubeconfig(project_root: Path, stack: str) -> Path | None:
    """Kubeconfig of the sandbox that a stack lives in; None when its cluster is somebody else's.

    Raises:
        InputError: there is no such stack; exit code 6.
        InvalidFilesError: its file is not valid.
    """
    context = read_environment(project_root, stack).cluster.context
    return sandbox_kubeconfig(context) if context else None


def refuse_absent_sandbox(project_root: Path, stack: str) -> None:
    """End before anything is begun for a stack whose sandbox is not there.

    Raises:
        ClusterError: it is not; it may come, so that nobody takes it for a fault of the files.
    """
    environment = read_stack_file(project_root, stack).environment
    context = environment.cluster.context if environment else None
    if not context or not context.startswith(CONTEXT_PREFIX) or sandbox_kubeconfig(context):
        return
    name = context.removeprefix(CONTEXT_PREFIX)
    raise ClusterError(
        f"stack {stack} lives in sandbox {name!r}, which is not there",
        remedy=f"run `holdfast sandbox up --name {name}`",
    )


def make_if_absent(stack: Stack, project_root: Path) -> Iterator[str]:
    """Make the stack in its backend if need be, and tell what was made and what is to be committed.

    Raises:
        EngineError: the backend cannot be read or written.
    """
    file = f"{STACKS_FOLDER}/Pulumi.{stack.name.rpartition('/')[2]}.yaml"
    before = (project_root / file).read_bytes()
    if not stack.init_if_absent():
        return
    yield f"made stack {stack.name}"
    if (project_root / file).read_bytes() != before:
        yield f"its salt is in its file now: git commit {file} -m 'Salt of stack {stack.name}'"


def ready_stack(project_root: Path, stack: str) -> Stack:
    """The stack, ready to be previewed, updated or refreshed.

    Raises:
        InputError: there is no such stack; exit code 6.
        ToolchainError: there is no usable `pulumi`.
    """
    return open_stack(project_root, stack, kubeconfig=stack_kubeconfig(project_root, stack))


@contextmanager
def held_stack(project_root: Path, name: str) -> Iterator[None]:
    """Keep updates of a stack away while we write to its cluster.

    Where its backend is no folder of this machine the lock cannot be held: an update that is seen
    in the state, or that a service tells of, is not disturbed; one that begins meanwhile is not
    kept away.

    Raises:
        EngineError: an update is under way or half done, or the backend cannot be asked.
    """
    files = state_files(project_root, name)
    if files is None:
        left = interrupted(ready_stack(project_root, name))
        if error := left.refusal(name):
            raise error
    with stack_lock(files):
        yield
