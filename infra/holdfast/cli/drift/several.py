"""`holdfast drift -s A -s B`: several stacks in one report."""

from pathlib import Path

from holdfast.cli.drift.detect import request_of
from holdfast.cli.drift.options import DriftOptions
from holdfast.cli.options.progress import TERMINAL
from holdfast.cli.options.report import ReportRequest, write_all
from holdfast.drift.cause.stack_causes import StackDrift
from holdfast.errors import ExitCode, InputError
from holdfast.operations.scan.several_stacks import scan_stacks
from holdfast.report.documents.stacks import stacks_json
from holdfast.report.text.stacks_text import stacks_text


def scan_several(asked: DriftOptions) -> ExitCode:
    """Scan every stack, write one report; the exit code."""
    _refuse_options_of_one(asked)
    requests = [request_of(asked.compared, stack) for stack in asked.compared.stacks]
    scanned = scan_stacks(requests, asked.recording, TERMINAL)
    _write_stacks(scanned, asked.report)
    if not all(each.report.is_complete for each in scanned):
        return ExitCode.ERROR
    return ExitCode.DRIFT if any(each.report.drift for each in scanned) else ExitCode.OK


def _write_stacks(scanned: list[StackDrift], wanted: ReportRequest) -> None:
    def written(chosen: str, *, colour: bool) -> str:
        return stacks_json(scanned) if chosen == "json" else stacks_text(scanned, colour=colour)

    write_all(written, wanted)


def _refuse_options_of_one(asked: DriftOptions) -> None:
    """Refuse what has no meaning for several stacks, before anything is read."""
    compared = asked.compared
    twice = next((each for each in compared.stacks if compared.stacks.count(each) > 1), None)
    if twice is not None:
        raise InputError(f"stack {twice} is named twice", remedy="name each stack once")
    given: dict[str, Path | str | None] = {
        "--live": compared.live,
        "--baseline": compared.baseline,
        "--kubeconfig": compared.kubeconfig,
        "--context": compared.context,
        "--history": asked.recording.file,
    }
    for option, value in given.items():
        if value is not None:
            raise InputError(f"{option} is of one stack at a time: name one")
    formats = {asked.report.output, *(chosen for chosen, _ in asked.report.files)}
    for chosen in sorted(formats - {"text", "json"}):
        raise InputError(
            f"several stacks are told as text or json, not as {chosen}",
            remedy=f"run `holdfast drift -s {compared.stacks[0]} -o {chosen}` for each",
        )
