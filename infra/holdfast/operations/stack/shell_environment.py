"""The variables with which a plain `pulumi` works on a stack, outside of Holdfast."""

from pathlib import Path

from holdfast.adapters.engine.project import read_project
from holdfast.adapters.engine.run.environment import (
    EngineEnvironment,
    engine_environment,
    prepare_engine,
)
from holdfast.adapters.engine.run.executable import find_pulumi
from holdfast.operations.stack.context import StackContext
from holdfast.sandbox.paths import sandbox_paths


def shell_environment(root: Path, stack: str = "") -> EngineEnvironment:
    """The environment of a stack's engine; the folders that it names are there afterwards.

    Args:
        root: Folder of Pulumi.yaml.
        stack: Stack whose sandbox gives KUBECONFIG; empty for the default sandbox.

    Raises:
        InputError: there is no such stack; exit code 6.
        ToolchainError: there is no usable `pulumi`.
    """
    kubeconfig = (
        StackContext(root, stack).sandbox_kubeconfig if stack else sandbox_paths().kubeconfig()
    )
    project = read_project(root)
    environment = engine_environment(
        find_pulumi(),
        project_backend=project.backend_url,
        kubeconfig=kubeconfig if kubeconfig and kubeconfig.is_file() else None,
        python=project.python,
    )
    prepare_engine(environment)
    return environment
