"""What `holdfast policy check` evaluates, as the command line says it."""

from collections.abc import Callable
from dataclasses import replace
from functools import wraps
from pathlib import Path
from typing import Any

import click
from holdfast_policies.model.rule import PROFILES

from holdfast.cli.options.cluster import KUBECONFIG
from holdfast.cli.options.stack import stack_option
from holdfast.errors import InputError
from holdfast.operations.policy.check import CheckRequest
from holdfast.operations.stack.project import find_project_root

Command = Callable[..., int]

_OPTIONS: tuple[Callable[[Command], Command], ...] = (
    stack_option("Stack: its objects, profile, rules, waivers.", required=False),
    click.option(
        "--files",
        multiple=True,
        type=click.Path(path_type=Path),
        help="YAML or JSON file, or a folder of them; repeatable.",
    ),
    click.option(
        "--proposed",
        "change",
        type=click.Path(path_type=Path, file_okay=False, exists=True),
        help="Project folder of a change, as data; by the rules of this one.",
    ),
    click.option(
        "--state", "is_state", is_flag=True, help="Evaluate the objects in the stack's state."
    ),
    click.option(
        "--state-file",
        type=click.Path(path_type=Path),
        help="File that `pulumi stack export` wrote.",
    ),
    click.option(
        "--cluster", "is_live", is_flag=True, help="Evaluate live objects of the cluster."
    ),
    click.option(
        "-n",
        "--namespace",
        "namespaces",
        multiple=True,
        help="With --cluster: only this namespace; repeatable.",
    ),
    click.option(
        "-A",
        "--all-namespaces",
        "is_everywhere",
        is_flag=True,
        help="With --cluster: all namespaces.",
    ),
    KUBECONFIG,
    click.option("--context", help="Context of the kubeconfig; default its current."),
    click.option(
        "--profile",
        type=click.Choice(PROFILES),
        help="Profile; default the stack's, else prod.",
    ),
    click.option(
        "--config",
        type=click.Path(path_type=Path),
        help="JSON file of levels and parameters; overrides all others.",
    ),
)


def source_options(command: Command) -> Command:
    """Options that say what is evaluated; the command receives them as `request`."""

    @wraps(command)
    def with_request(*arguments: Any, **options: Any) -> int:  # noqa: ANN401  (the command's own)
        names = CheckRequest.__dataclass_fields__
        chosen = {name: options.pop(name) for name in names if name in options}
        request = CheckRequest(**chosen)
        _refuse_ambiguous(request)
        request = replace(request, root=_project_root(is_needed=bool(request.stack)))
        return command(*arguments, request=request, **options)

    decorated: Command = with_request
    for option in reversed(_OPTIONS):
        decorated = option(decorated)
    return decorated


def _project_root(*, is_needed: bool) -> Path | None:
    """The project around the working directory; None outside of any, where none is needed."""
    try:
        return find_project_root()
    except InputError:
        if is_needed:
            raise
        return None


def _refuse_ambiguous(request: CheckRequest) -> None:
    """See that it says one thing.

    Raises:
        InputError: it names no source, two, or what only another source knows.
    """
    sources = (
        bool(request.files),
        request.change is not None,
        request.is_state,
        request.state_file is not None,
        request.is_live,
    )
    if sum(sources) > 1:
        raise InputError(
            "--files, --proposed, --state, --state-file and --cluster exclude one another",
            remedy="choose one",
        )
    if not any(sources) and not request.stack:
        raise InputError(
            "no source is named",
            remedy="add -s STACK, --files PATH, --state-file FILE or --cluster",
        )
    if (request.is_state or request.change is not None) and not request.stack:
        option = "--state" if request.is_state else "--proposed"
        raise InputError(f"{option} needs a stack", remedy="add -s STACK")
    asks_place = (
        request.namespaces or request.is_everywhere or request.kubeconfig or request.context
    )
    if asks_place and not request.is_live:
        raise InputError(
            "-n, -A, --kubeconfig and --context require --cluster", remedy="add --cluster"
        )
    if request.namespaces and request.is_everywhere:
        raise InputError("-n excludes --all-namespaces", remedy="leave one of them out")
