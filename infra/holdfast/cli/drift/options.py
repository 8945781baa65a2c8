"""What the verbs of `holdfast drift` compare: the options, and the request that they make."""

from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

import click

from holdfast.cli.options.cluster import KUBECONFIG
from holdfast.cli.options.groups import Group, Option
from holdfast.cli.options.stack import stack_option
from holdfast.cli.options.words import STACK
from holdfast.errors import InputError
from holdfast.operations.scan.request import ScanRequest
from holdfast.operations.stack.project import find_project_root

_FILE = click.Path(path_type=Path)


@dataclass(frozen=True)
class ComparisonOptions:
    """What is compared; see `ScanRequest`."""

    stacks: tuple[str, ...] = ()
    desired: Path | None = None
    live: Path | None = None
    baseline: Path | None = None
    kubeconfig: Path | None = None
    context: str | None = None
    audit_log: Path | None = None
    request_timeout: float = 60.0
    ignore_file: Path | None = None
    no_cache: bool = False

    def check(self) -> None:
        """Refuse what cannot be compared.

        Raises:
            InputError: the options do not go together.
        """
        if bool(self.stacks) == bool(self.desired):
            raise InputError("one of --stack and --desired is needed", remedy="see --help")
        if self.no_cache and not self.stacks:
            raise InputError("--no-cache requires --stack", remedy="plain files are not cached")

    def request(self, stack: str = "") -> ScanRequest:
        """The request: a stack of the project around the working directory, or plain objects.

        Args:
            stack: One of several; default the only one.
        """
        name = stack or "".join(self.stacks)
        return ScanRequest(
            root=find_project_root() if name else None,
            stack=name,
            desired=self.desired,
            live=self.live,
            baseline=self.baseline,
            kubeconfig=self.kubeconfig,
            context=self.context,
            audit_log=self.audit_log,
            request_timeout_seconds=self.request_timeout,
            ignore_file=self.ignore_file,
            use_cache=not self.no_cache,
        )


_OPTIONS: Final[dict[str, Option]] = {
    "stacks": click.option(
        "-s",
        "--stack",
        "stacks",
        type=STACK,
        multiple=True,
        help="Stack to compare; several for one report of all of them.",
    ),
    "stack": stack_option("Stack to compare.", required=False),
    "desired": click.option("--desired", type=_FILE, help="File or folder of plain objects."),
    "live": click.option("--live", type=_FILE, help="Live objects from a file, not a cluster."),
    "baseline": click.option(
        "--baseline", type=_FILE, help="Live objects right after the last good update."
    ),
    "kubeconfig": KUBECONFIG,
    "context": click.option("--context", help="Context of the kubeconfig; default its current."),
    "audit_log": click.option(
        "--audit-log", type=_FILE, help="Audit log of the API server; it names the users."
    ),
    "request_timeout": click.option(
        "--request-timeout",
        type=click.FloatRange(min=0.5),
        metavar="SECONDS",
        default=60.0,
        show_default=True,
        help="Timeout per API request, including retries; late objects are not checked.",
    ),
    "ignore_file": click.option(
        "--ignore-file",
        type=_FILE,
        envvar="HOLDFAST_DRIFT_IGNORE",
        help="Ignore rules. Default with --stack: stacks/drift-ignore.yaml.",
    ),
    "no_cache": click.option(
        "--no-cache", is_flag=True, help="Render again, even if no file has changed."
    ),
}


def compared(*left_out: str) -> Group:
    """Options on what one stack, or plain objects, are compared with; all but a few."""
    names = [each for each in _OPTIONS if each not in {"stacks", "no_cache", *left_out}]
    return _of_one, tuple(_OPTIONS[each] for each in names)


def _of_one(stack: str, **options: Any) -> ComparisonOptions:  # noqa: ANN401  (by name)
    chosen = ComparisonOptions((stack,) if stack else (), **options)
    chosen.check()
    return chosen


def _of_several(**options: Any) -> ComparisonOptions:  # noqa: ANN401  (by name)
    chosen = ComparisonOptions(**options)
    chosen.check()
    return chosen


COMPARED: Final[Group] = (
    _of_several,
    tuple(option for name, option in _OPTIONS.items() if name != "stack"),
)
"""The same of several stacks."""

ONLY: Final = click.option(
    "--only", multiple=True, metavar="FINDING", help="Only this finding; repeatable."
)
ALLOW_REPLACE: Final = click.option(
    "--allow-replace", is_flag=True, help="Replace objects that cannot be changed in place."
)
