"""What is done about drift, as the command line asks: nothing, expected, put back. Wiring."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from functools import wraps
from typing import Any

import click

from holdfast.errors import InputError
from holdfast.operations.scan.sources import DriftSources, Scan

_OPTIONS = (
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
        help="With --revert: delete and make again what cannot be changed in place.",
    ),
    click.option("--yes", is_flag=True, help="Agree to all that is shown."),
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
        help="With --plan, --revert or --adopt: this finding; may be repeated.",
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
)


@dataclass(frozen=True)
class WaysOut:
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

    def check(self, *, is_of_files: bool, is_plain: bool) -> None:
        """Refuse what cannot be done, before anything is read.

        Args:
            is_of_files: Live objects come from a file.
            is_plain: Declared objects come from files, not from a stack.

        Raises:
            InputError: the options do not go together.
        """
        if (self.revert or self.act) and is_of_files:
            raise InputError(
                "a file cannot be put right", remedy="leave --live out to use a cluster"
            )
        if sum((self.plan, self.revert, self.act, self.adopt, bool(self.ignore))) > 1:
            raise InputError(
                "--plan, --revert, --act, --adopt and --ignore exclude each other",
                remedy="choose one",
            )
        self._check_companions()
        if (self.adopt or self.act) and is_plain:
            raise InputError("plain objects cannot adopt", remedy="edit the files; or use --stack")
        if not self.ignore and (self.reason or self.owner or self.expires):
            raise InputError(
                "--reason, --owner and --expires are said of --ignore",
                remedy="name the finding with --ignore",
            )

    def text(self, sources: DriftSources, scan: Scan, *, as_json: bool) -> str | None:
        """What is printed in place of the report; None for the report."""
        if self.plan:
            from holdfast.operations.remediate.revert import plan_text  # noqa: PLC0415  (start-up)

            chosen = self._chosen(scan)
            return plan_text(chosen, as_json=as_json, may_replace=self.allow_replace)
        if self.adopt:
            from holdfast.operations.remediate.adopt import adopt_as_asked  # noqa: PLC0415  (start-up)

            return adopt_as_asked(
                sources, self._chosen(scan), is_written=self.write, branch=self.branch
            )
        return None

    def _chosen(self, scan: Scan) -> Scan:
        """The scan with those findings alone that are named."""
        if not self.only:
            return scan
        from holdfast.operations.remediate.selection import named_findings  # noqa: PLC0415  (start-up)

        findings = scan.report.findings
        named = {
            id(one)
            for text in self.only
            for one in named_findings(text, findings, "--only", with_fields=True)
        }
        kept = tuple(one for one in findings if id(one) in named)
        return replace(scan, report=replace(scan.report, findings=kept))

    def _check_companions(self) -> None:
        ways = {
            "--plan": self.plan,
            "--revert": self.revert,
            "--adopt": self.adopt,
            "--act": self.act,
        }
        companions = (
            (self.allow_replace, "--allow-replace", ("--plan", "--revert", "--act")),
            (self.write, "--write", ("--adopt",)),
            (self.branch, "--branch", ("--adopt", "--act")),
            (self.only, "--only", tuple(ways)),
        )
        for is_said, name, others in companions:
            if is_said and not any(ways[other] for other in others):
                raise InputError(f"{name} is said of {' or '.join(others)}", remedy="add it")

    def take(self, sources: DriftSources, scan: Scan) -> tuple[Scan, int]:
        """Do it; the scan that shows the outcome, and how many objects could not be put back."""
        if self.ignore:
            from holdfast.operations.remediate.ignore import Expectation, expect  # noqa: PLC0415  (start-up)

            said = Expectation(self.ignore, self.reason, self.owner, self.expires)
            return expect(sources, scan, said), 0
        if self.act:
            from holdfast.operations.remediate.by_mode import Agreement, act  # noqa: PLC0415  (start-up)

            return act(
                sources,
                self._chosen(scan),
                Agreement(self.yes, self.allow_replace, self.branch),
            )
        if self.revert:
            from holdfast.operations.remediate.revert import revert  # noqa: PLC0415  (start-up)

            outcome = revert(
                sources, self._chosen(scan), is_agreed=self.yes, may_replace=self.allow_replace
            )
            return outcome.scan, outcome.failures
        return scan, 0


def ways_out_options(command: Callable[..., Any]) -> Callable[..., Any]:
    """Add the options; the command is given `ways_out`."""
    names = WaysOut.__dataclass_fields__

    @wraps(command)
    def with_ways_out(*arguments: Any, **asked: Any) -> Any:  # noqa: ANN401  (of the command)
        said = {name: asked.pop(name) for name in names}
        return command(*arguments, ways_out=WaysOut(**said), **asked)

    wrapped: Callable[..., Any] = with_ways_out
    for option in reversed(_OPTIONS):
        wrapped = option(wrapped)
    return wrapped
