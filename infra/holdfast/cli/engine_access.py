"""From a stack's name to the engine: the kubeconfig it needs, and the stack ready to run."""

from pathlib import Path

from holdfast.engine.stack import Stack, open_stack
from holdfast.errors import InvalidFilesError
from holdfast.manifest.stack_files import read_stack_file
from holdfast.sandbox.place import sandbox_kubeconfig


def stack_kubeconfig(project_root: Path, stack: str) -> Path | None:
    """Kubeconfig of the sandbox that a stack lives in; None when its cluster is somebody else's.

    Raises:
        InputError: there is no such stack; exit code 6.
        InvalidFilesError: its file is not valid.
    """
    settings = read_stack_file(project_root, stack)
    if settings.environment is None:
        raise InvalidFilesError(settings.errors)
    context = settings.environment.cluster.context
    return sandbox_kubeconfig(context) if context else None


def ready_stack(project_root: Path, stack: str) -> Stack:
    """The stack, ready to be previewed, updated or refreshed.

    Raises:
        InputError: there is no such stack; exit code 6.
        ToolchainError: there is no usable `pulumi`.
    """
    return open_stack(project_root, stack, kubeconfig=stack_kubeconfig(project_root, stack))
