"""The options of `holdfast drift`, each group as one typed value."""

from collections.abc import Sequence
from dataclasses import dataclass, fields
from datetime import datetime
from pathlib import Path
from typing import Any, Final

import click

from holdfast.cli.options.groups import Group
from holdfast.cli.options.report import ReportRequest
from holdfast.controllers.watch.request import WatchRequest
from holdfast.errors import InputError
from holdfast.operations.scan.probing.request import ProbeRequest
from holdfast.operations.scan.request import RecordingRequest

_FILE = click.Path(path_type=Path)
_SECONDS = click.FloatRange(min=1.0)


@dataclass(frozen=True)
class Compared:
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
            raise InputError("--no-cache needs --stack", remedy="of plain files nothing is kept")


COMPARED: Final[Group] = (
    Compared,
    (
        click.option(
            "-s",
            "--stack",
            "stacks",
            multiple=True,
            help="Stack whose rendered objects are wanted; several for one report of all of them.",
        ),
        click.option("--desired", type=_FILE, help="File or folder of plain objects."),
        click.option("--live", type=_FILE, help="Live objects from a file instead of a cluster."),
        click.option(
            "--baseline", type=_FILE, help="Live objects right after the last good update."
        ),
        click.option(
            "--kubeconfig", type=_FILE, help="Default: KUBECONFIG, ~/.kube/config, in-cluster."
        ),
        click.option("--context", help="Context of the kubeconfig; default its current one."),
        click.option("--audit-log", type=_FILE, help="The API server's audit log: adds users."),
        click.option(
            "--request-timeout",
            type=click.FloatRange(min=0.5),
            metavar="SECONDS",
            default=60.0,
            show_default=True,
            help="Timeout per API request, retries included; what is late is not checked.",
        ),
        click.option(
            "--ignore-file",
            type=_FILE,
            envvar="HOLDFAST_DRIFT_IGNORE",
            help="Rules on expected drift. Default with --stack: stacks/drift-ignore.yaml.",
        ),
        click.option(
            "--no-cache",
            is_flag=True,
            help="Render again, even where no file has changed since an earlier scan.",
        ),
    ),
)


def _itself(*, engine: bool | None) -> bool | None:
    return engine


ENGINE: Final[Group] = (
    _itself,
    (
        click.option(
            "--engine/--no-engine",
            default=None,
            help="Ask Pulumi's own refresh too: about the whole stack, or never. "
            "Default: about what drifted.",
        ),
    ),
)


@dataclass(frozen=True)
class RemediationOptions:
    """What is to be done about what is found; each part as its option says."""

    plan: bool = False
    revert: bool = False
    act: bool = False
    allow_replace: bool = False
    yes: bool = False
    adopt: bool = False
    write: bool = False
    branch: str | None = None
    only: Sequence[str] = ()
    ignore: Sequence[str] = ()
    reason: str | None = None
    owner: str | None = None
    expires: datetime | None = None

    @property
    def are_wanted(self) -> bool:
        """Whether something else than a report is asked for."""
        return self.plan or self.revert or self.act or self.adopt or bool(self.ignore)

    def check(self, compared: Compared) -> None:
        """Refuse what cannot be done, before anything is read.

        Raises:
            InputError: the options do not go together.
        """
        if (self.revert or self.act) and compared.live is not None:
            raise InputError(
                "a file cannot be put right", remedy="leave --live out to use a cluster"
            )
        if sum((self.plan, self.revert, self.act, self.adopt, bool(self.ignore))) > 1:
            raise InputError(
                "--plan, --revert, --act, --adopt and --ignore exclude each other",
                remedy="choose one",
            )
        self._check_companions()
        if (self.adopt or self.act) and compared.desired is not None:
            raise InputError("plain objects cannot adopt", remedy="edit the files; or use --stack")

    def _check_companions(self) -> None:
        ways = {
            "--plan": self.plan,
            "--revert": self.revert,
            "--adopt": self.adopt,
            "--act": self.act,
            "--ignore": self.ignore,
        }
        companions = (
            (self.allow_replace, "--allow-replace", ("--plan", "--revert", "--act")),
            (self.yes, "--yes", ("--revert", "--act")),
            (self.write, "--write", ("--adopt",)),
            (self.branch, "--branch", ("--adopt", "--act")),
            (self.only, "--only", ("--plan", "--revert", "--adopt", "--act")),
            (self.reason, "--reason", ("--ignore",)),
            (self.owner, "--owner", ("--ignore",)),
            (self.expires, "--expires", ("--ignore",)),
        )
        for is_given, name, others in companions:
            if is_given and not any(ways[other] for other in others):
                raise InputError(f"{name} requires {' or '.join(others)}", remedy="add it")


REMEDIATION: Final[Group] = (
    RemediationOptions,
    (
        click.option("--plan", is_flag=True, help="Print what --revert would do, and do nothing."),
        click.option("--revert", is_flag=True, help="Put back what is reported; asks first."),
        click.option(
            "--act",
            is_flag=True,
            help="Revert, adopt or only report, as spec.drift.mode of each agent says.",
        ),
        click.option(
            "--allow-replace",
            is_flag=True,
            help="With --plan, --revert, --act: replace what cannot be changed in place.",
        ),
        click.option("--yes", is_flag=True, help="With --revert, --act: agree to all of it."),
        click.option(
            "--adopt",
            is_flag=True,
            help="Print the change of manifests that declares what is live; see --write, --branch.",
        ),
        click.option("--write", is_flag=True, help="With --adopt: change the files."),
        click.option(
            "--branch", metavar="NAME", help="With --adopt, --act: commit on a new git branch."
        ),
        click.option(
            "--only",
            multiple=True,
            metavar="FINDING",
            help="With --plan, --revert, --adopt, --act: this finding; may be repeated.",
        ),
        click.option(
            "--ignore",
            multiple=True,
            metavar="FINDING",
            help="Expect a finding from now on: writes a rule. Needs --reason, --owner, --expires.",
        ),
        click.option("--reason", help="With --ignore: why it is expected."),
        click.option("--owner", help="With --ignore: the team that answers for it."),
        click.option(
            "--expires",
            type=click.DateTime(["%Y-%m-%d"]),
            metavar="YYYY-MM-DD",
            help="With --ignore: the rule's last day.",
        ),
    ),
)


def _watching(*, watch: bool, **options: Any) -> WatchRequest | None:  # noqa: ANN401  (as below)
    chosen = {each.name: value for each in fields(WatchRequest) if (value := options[each.name])}
    if chosen and not watch:
        raise InputError(f"--{next(iter(chosen))} is an option of --watch", remedy="add --watch")
    return WatchRequest(**chosen) if watch else None


WATCH: Final[Group] = (
    _watching,
    (
        click.option(
            "--watch", is_flag=True, help="Run until stopped: a line when drift comes or goes."
        ),
        click.option(
            "--interval",
            type=_SECONDS,
            metavar="SECONDS",
            help="With --watch: full resync interval.  [default: 600]",
        ),
        click.option(
            "--silence",
            type=_SECONDS,
            metavar="SECONDS",
            help="With --watch: a stream without events for so long is stale.  [default: 150]",
        ),
        click.option("--webhook", metavar="URL", help="With --watch: send CloudEvents there."),
        click.option(
            "--metrics",
            metavar=":PORT|FILE",
            help="With --watch: serve Prometheus metrics, or write them to a file.",
        ),
        click.option("-v", "--verbose", is_flag=True, help="With --watch: log every comparison."),
    ),
)


@dataclass(frozen=True)
class DriftOptions:
    """Everything that `holdfast drift` is asked for.

    Attributes:
        engine: Ask Pulumi's refresh, too: about everything, never, or (None) about what drifted.
    """

    compared: Compared
    report: ReportRequest
    recording: RecordingRequest
    probing: ProbeRequest
    engine: bool | None
    remediation: RemediationOptions
    watching: WatchRequest | None

    @property
    def reports_one_scan(self) -> bool:
        """Whether neither probes, engine, remediation nor a watch is asked for."""
        return not (
            self.engine or self.watching or self.remediation.are_wanted or self.probing.is_on
        )

    def check(self) -> None:
        """Refuse what has no meaning for what is compared.

        Raises:
            InputError: the options do not go together.
        """
        self.compared.check()
        if len(self.compared.stacks) > 1 and not self.reports_one_scan:
            raise InputError(
                "several stacks are only compared",
                remedy="leave out --watch, --probes, --engine, --revert and its like, or name one",
            )
        self.remediation.check(self.compared)
        if self.engine:
            self._check_engine()
        if self.watching is not None:
            self._check_watch()
        if self.probing.is_on and (self.remediation.are_wanted or not self.compared.stacks):
            raise InputError(
                "--probes needs --stack, and only looks",
                remedy="revert without it, then probe again",
            )

    def _check_engine(self) -> None:
        if not self.compared.stacks:
            raise InputError("--engine needs --stack", remedy="the engine knows stacks, not files")
        if self.watching is not None or self.remediation.are_wanted:
            raise InputError(
                "--engine goes with a report only",
                remedy="leave out --watch, --plan, --revert and its like, or leave out --engine",
            )

    def _check_watch(self) -> None:
        is_recorded = self.recording != RecordingRequest()
        if (
            self.remediation.are_wanted
            or self.report.written_files
            or is_recorded
            or self.probing.is_on
        ):
            raise InputError(
                "--watch only reports",
                remedy="leave out --revert and its like, --probes, --report, --output-file and the "
                "history",
            )
        if self.report.output not in {"text", "json"}:
            raise InputError("--watch writes text or JSON lines", remedy="choose -o text or json")
