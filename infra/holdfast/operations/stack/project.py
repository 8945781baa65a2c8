"""Where the project is, and the cluster of a stack of it."""

from pathlib import Path
from typing import Final

from holdfast.adapters.engine.project import PROJECT_FILE
from holdfast.errors import InputError
from holdfast.sandbox.paths import CONTEXT_PREFIX, sandbox_kubeconfig

PACK_FOLDER: Final = "policy-pack"
"""Where a project keeps its policy pack."""


def find_project_root(start: Path | None = None) -> Path:
    """Nearest folder upward that holds a Pulumi.yaml.

    Raises:
        InputError: there is none.
    """
    here = (start or Path.cwd()).resolve()
    for folder in (here, *here.parents):
        if (folder / PROJECT_FILE).is_file():
            return folder
    raise InputError(
        f"no {PROJECT_FILE} here or above {here}", remedy="run this inside the project"
    )


def kubeconfig_of_stack(stack: str, context: str | None) -> Path | None:
    """Kubeconfig of the sandbox that a stack lives in; None when it lives elsewhere.

    Args:
        stack: Name of the stack, for the message.
        context: Context of its cluster; None for the current one.

    Raises:
        InputError: there is no such sandbox.
    """
    if context is None:
        return None
    found = sandbox_kubeconfig(context)
    if found is None and context.startswith(CONTEXT_PREFIX):
        name = context.removeprefix(CONTEXT_PREFIX)
        raise InputError(
            f"stack {stack} lives in sandbox {name!r}, which does not exist",
            remedy=f"run `holdfast sandbox up --name {name}` and `holdfast up -s {stack}`",
        )
    return found


def audit_log_beside(kubeconfig: Path | None) -> Path | None:
    """Audit log of the sandbox that a kubeconfig is of; None where there is none."""
    log = kubeconfig.with_name("audit.log") if kubeconfig else None
    return log if log and log.is_file() else None
