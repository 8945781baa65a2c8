"""`holdfast drift -s A -s B`: several stacks in one report."""

from holdfast.cli.drift.options import ComparisonOptions
from holdfast.cli.options.output import TERMINAL
from holdfast.cli.options.report import write_all
from holdfast.errors import ExitCode, InputError
from holdfast.operations.scan.request import RecordingRequest
from holdfast.operations.scan.several_stacks import scan_stacks
from holdfast.report.documents.stacks import stacks_json
from holdfast.report.exchange.files import ReportRequest
from holdfast.report.text.stacks_text import stacks_text


def detect_several(
    compared: ComparisonOptions, recording: RecordingRequest, wanted: ReportRequest
) -> ExitCode:
    """Scan every stack, write one report; the exit code."""
    formats = {wanted.output, *(chosen for chosen, _ in wanted.files)}
    for chosen in sorted(formats - {"text", "json"}):
        raise InputError(
            f"several stacks are reported as text or json, not as {chosen}",
            remedy=f"run `holdfast drift -s {compared.stacks[0]} -o {chosen}` for each",
        )
    requests = [compared.request(stack) for stack in compared.stacks]
    scanned = scan_stacks(requests, recording, TERMINAL)

    def written(chosen: str, *, colour: bool) -> str:
        return stacks_json(scanned) if chosen == "json" else stacks_text(scanned, colour=colour)

    write_all(written, wanted)
    if not all(each.report.is_complete for each in scanned):
        return ExitCode.ERROR
    return ExitCode.DRIFT if any(each.report.drift for each in scanned) else ExitCode.OK
