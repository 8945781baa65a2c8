"""Where the project is, its policy pack, and the cluster of a stack of it."""

from pathlib import Path
from typing import Final

from holdfast.adapters.shipped import TEMPLATE, shipped
from holdfast.errors import InputError
from holdfast.manifest.stack.names import PROJECT_FILE, project_above
from holdfast.sandbox.paths import CONTEXT_PREFIX, sandbox_kubeconfig

PACK_FOLDER: Final = "policy-pack"
"""Where a project keeps its policy pack."""


def policy_pack(root: Path, named: Path | None = None) -> Path:
    """The policy pack that judges a project: its own, else the one that goes with our code.

    Args:
        root: Folder of Pulumi.yaml.
        named: A pack that is to be used instead.
    """
    own = root / PACK_FOLDER
    return named or (own if own.is_dir() else _pack_template())


def write_pack(root: Path) -> tuple[str, ...]:
    """Write what the engine needs to start a project's own pack; nothing that exists is changed.

    Returns:
        The files that were not there, relative to the project.
    """
    pack = root / PACK_FOLDER
    pack.mkdir(exist_ok=True)
    missing = [each for each in sorted(_pack_template().iterdir()) if each.is_file()]
    missing = [each for each in missing if not (pack / each.name).exists()]
    for each in missing:
        with (pack / each.name).open("x", encoding="utf-8") as stream:
            stream.write(each.read_text(encoding="utf-8"))
    return tuple(f"{PACK_FOLDER}/{each.name}" for each in missing)


def _pack_template() -> Path:
    return shipped(TEMPLATE) / PACK_FOLDER


def find_project_root(start: Path | None = None) -> Path:
    """Nearest folder upward that holds a Pulumi.yaml.

    Raises:
        InputError: there is none.
    """
    here = (start or Path.cwd()).resolve()
    found = project_above(here)
    if found is not None:
        return found
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
