"""What a validation found, as text for people and JSON for programs."""

from typing import Any, Final

from holdfast.errors import ManifestError, SourceLocation
from holdfast.kube.text import counted, safe_text
from holdfast.operations.policy.model import PolicyFinding
from holdfast.operations.stack.context import NOTHING_DECLARED
from holdfast.operations.validate.report import (
    Exemption,
    OnStacks,
    ValidationReport,
)
from holdfast.report.documents.json_text import json_text
from holdfast.report.text.table import styled

SCHEMA_VERSION: Final = "holdfast.dev/validation/v1"
_LONGEST_LINE_CHARACTERS: Final = 2000


def validation_text(report: ValidationReport, *, colour: bool = False) -> str:
    """One line a fault, `file:line:column: …`; empty when there is none."""
    lines = [_line(each, report, colour=colour) for each in report.faults]
    return "".join(f"{line}\n" for line in lines)


def validation_summary(report: ValidationReport) -> str:
    """What was granted for a time, a line each; then what was read, and what was found.

    The last line has no end.
    """
    count = len(report.stacks)
    read = f"{counted(count, 'stack')}: {', '.join(report.stacks)}"
    read = read if report.stacks else "without a stack"
    granted = [
        f"{each.location}: {each.kind} {each.name}: {each.about}, until {each.expires} "
        f"(owner {each.owner}{f', {each.approval}' if each.approval else ''})"
        for each in report.exemptions
    ]
    notes = [f"note: {NOTHING_DECLARED}"] if report.declares_nothing else []
    if report.errors_elsewhere:
        errors = counted(report.errors_elsewhere, "error")
        notes.append(
            f"note: {errors} in other files: no policy was evaluated on the stacks they concern; "
            "`holdfast validate` lists every error"
        )
    lines = [*granted, f"{report.headline} ({read})", *notes]
    return "\n".join(safe_text(line, _LONGEST_LINE_CHARACTERS) for line in lines)


def validation_json(report: ValidationReport) -> str:
    """The whole report, one document, ending in a line end."""
    document = {
        "schemaVersion": SCHEMA_VERSION,
        "stacks": report.stacks,
        "errors": [_document(each) for each in report.faults if _is_error(each)],
        "violations": [_document(each) for each in report.faults if not _is_error(each)],
        "exemptions": [_exemption(each) for each in report.exemptions],
    }
    return json_text(document)


def _exemption(each: Exemption) -> dict[str, Any]:
    return {
        "file": each.location.file,
        "line": each.location.line,
        "kind": each.kind,
        "name": each.name,
        "about": each.about,
        "owner": each.owner,
        "expires": each.expires,
        **({"approval": each.approval} if each.approval else {}),
    }


def _is_error(each: OnStacks) -> bool:
    return isinstance(each.fault, ManifestError)


def _line(each: OnStacks, report: ValidationReport, *, colour: bool) -> str:
    is_of_some = any(each.stacks) and each.stacks != report.stacks
    stacks = f" (stack {', '.join(each.stacks)})" if is_of_some else ""
    return _shown(each.place, each.mark, each.sentence, colour=colour) + stacks


def _shown(location: SourceLocation, mark: str, text: str, *, colour: bool) -> str:
    place = safe_text(str(location), _LONGEST_LINE_CHARACTERS)
    shown = safe_text(text, _LONGEST_LINE_CHARACTERS)
    colour_name = "red" if mark in {"error", "mandatory"} else "yellow"
    mark = styled(mark, colour_name, colour=colour)
    return f"{styled(place, colour=colour)}: {mark}: {shown}"


def _document(each: OnStacks) -> dict[str, Any]:
    fault, place = each.fault, each.place
    document: dict[str, Any] = {
        "file": place.file,
        "line": place.line,
        "column": place.column,
        "path": fault.path,
        "expected": fault.expected,
        "found": fault.found,
        "remedy": fault.remedy,
        "rule": fault.rule,
        "stacks": each.stacks,
    }
    if isinstance(fault, PolicyFinding):
        document |= {"object": fault.subject, "level": fault.level}
        document |= {"verdict": fault.verdict.value, "waiver": fault.note}
    return document
