"""What `holdfast validate` found, as text for people and JSON for programs."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Final

import click

from holdfast.errors import ExitCode, ManifestError, SourceLocation
from holdfast.kube.safe_text import safe_text
from holdfast.operations.policy.model import PolicyFinding, Verdict
from holdfast.report.documents.json_text import json_text

SCHEMA_VERSION: Final = "holdfast.dev/validation/v1"
_LONGEST_LINE_CHARACTERS: Final = 2000


@dataclass(frozen=True, slots=True)
class Exemption:
    """Something that a person has granted for a time, told although nothing is wrong.

    Attributes:
        location: Where it is declared.
        kind: PolicyException or DriftIgnore.
        name: Its name.
        about: What is exempt, in words.
        owner: Who answers for it.
        expires: Its last day, `2026-03-31`.
    """

    location: SourceLocation
    kind: str
    name: str
    about: str
    owner: str
    expires: str


@dataclass(frozen=True, slots=True)
class Deprecation:
    """A file in an older version of the schema, which is still valid.

    Attributes:
        location: Where its apiVersion is written.
        api_version: That version.
        replaced_by: The version to write.
        last_day: Last day on which it is valid, `2026-03-31`.
        remedy: What to do.
    """

    location: SourceLocation
    api_version: str
    replaced_by: str
    last_day: str
    remedy: str


@dataclass(frozen=True, slots=True)
class OnStacks:
    """A fault, and the stacks on which it shows; no stack when the manifests alone were read."""

    fault: ManifestError | PolicyFinding
    stacks: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class ValidationReport:
    """Everything that was found.

    Attributes:
        faults: Errors and breaches, each once, in order of place.
        stacks: Stacks against which the manifests were read.
        exemptions: What has been granted for a time, in order of place.
        deprecations: Files in an older version of the schema, in order of place.
    """

    faults: tuple[OnStacks, ...]
    stacks: tuple[str, ...]
    exemptions: tuple[Exemption, ...] = ()
    deprecations: tuple[Deprecation, ...] = ()

    @property
    def errors(self) -> list[ManifestError]:
        """What is wrong with the files."""
        return [each.fault for each in self.faults if isinstance(each.fault, ManifestError)]

    @property
    def breaches(self) -> list[PolicyFinding]:
        """What valid files stand for and the policy pack objects to."""
        return [each.fault for each in self.faults if isinstance(each.fault, PolicyFinding)]

    @property
    def exit_code(self) -> ExitCode:
        """2 for errors in files, 5 for mandatory rules broken, else 0."""
        if self.errors:
            return ExitCode.BAD_INPUT
        is_refused = any(breach.refuses for breach in self.breaches)
        return ExitCode.POLICY if is_refused else ExitCode.OK


def validation_text(report: ValidationReport, *, colour: bool = False) -> str:
    """One line a fault or warning, `file:line:column: …`; empty when there is none."""
    lines = [_line(each, report, colour=colour) for each in report.faults]
    lines += [
        _shown(
            each.location,
            "warning",
            f"apiVersion: {each.api_version} is valid until {each.last_day}, "
            f"{each.replaced_by} has replaced it; {each.remedy}",
            colour=colour,
        )
        for each in report.deprecations
    ]
    return "".join(f"{line}\n" for line in lines)


def validation_summary(report: ValidationReport) -> str:
    """What was granted for a time, a line each; then what was read, and what was found."""
    read = f"{_counted(len(report.stacks), 'stack')}: {', '.join(report.stacks)}"
    read = read if report.stacks else "without a stack"
    mandatory = sum(breach.refuses for breach in report.breaches)
    waived = sum(breach.verdict is Verdict.WAIVED for breach in report.breaches)
    counts = [
        _counted(len(report.errors), "error"),
        _counted(mandatory, "mandatory rule violation"),
        _counted(len(report.breaches) - mandatory - waived, "advisory remark"),
        _counted(waived, "waived violation"),
        _counted(len(report.deprecations), "warning"),
    ]
    found = [count for count in counts if not count.startswith("0 ")]
    granted = [
        f"{each.location}: {each.kind} {each.name}: {each.about}, until {each.expires} "
        f"(owner {each.owner})"
        for each in report.exemptions
    ]
    lines = [*granted, f"{', '.join(found) or 'valid'} ({read})"]
    return "\n".join(safe_text(line, _LONGEST_LINE_CHARACTERS) for line in lines)


def validation_json(report: ValidationReport) -> str:
    """The whole report, one document, ending in a line end."""
    document = {
        "schemaVersion": SCHEMA_VERSION,
        "stacks": report.stacks,
        "errors": [_document(each) for each in report.faults if _is_error(each)],
        "violations": [_document(each) for each in report.faults if not _is_error(each)],
        "exemptions": [_exemption(each) for each in report.exemptions],
        "deprecations": [_deprecation(each) for each in report.deprecations],
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
    }


def _deprecation(each: Deprecation) -> dict[str, Any]:
    return {
        "file": each.location.file,
        "line": each.location.line,
        "column": each.location.column,
        "apiVersion": each.api_version,
        "replacedBy": each.replaced_by,
        "lastDay": each.last_day,
        "remedy": each.remedy,
    }


def _is_error(each: OnStacks) -> bool:
    return isinstance(each.fault, ManifestError)


def _line(each: OnStacks, report: ValidationReport, *, colour: bool) -> str:
    fault = each.fault
    stacks = "" if each.stacks == report.stacks else f" (stack {', '.join(each.stacks)})"
    if isinstance(fault, ManifestError):
        mark, text = "error", str(fault).removeprefix(f"{fault.location}: ")
    else:
        mark = fault.level if fault.verdict is Verdict.VIOLATED else fault.verdict.value
        text = f"{fault.subject}: {fault.headline} [{fault.rule}]; {fault.remedy}"
        text += f" [{fault.note}]" if fault.note else ""
    return _shown(_place_of(fault), mark, text, colour=colour) + stacks


def _shown(location: SourceLocation, mark: str, text: str, *, colour: bool) -> str:
    place = safe_text(str(location), _LONGEST_LINE_CHARACTERS)
    shown = safe_text(text, _LONGEST_LINE_CHARACTERS)
    if colour:
        place = click.style(place, bold=True)
        mark = click.style(
            mark, fg="red" if mark in {"error", "mandatory"} else "yellow", bold=True
        )
    return f"{place}: {mark}: {shown}"


def _document(each: OnStacks) -> dict[str, Any]:
    fault, place = each.fault, _place_of(each.fault)
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


def _counted(count: int, noun: str) -> str:
    return f"{count} {noun}{'' if count == 1 else 's'}"


def sorted_faults(
    found: Sequence[tuple[ManifestError | PolicyFinding, str]],
) -> tuple[OnStacks, ...]:
    """Each fault once, with the stacks on which it was found; in order of place."""
    stacks_of: dict[str, tuple[ManifestError | PolicyFinding, list[str]]] = {}
    for fault, stack in found:
        key = str(fault) if isinstance(fault, ManifestError) else repr(fault)
        stacks_of.setdefault(key, (fault, []))[1].extend([stack] if stack else [])
    faults = [OnStacks(fault, tuple(stacks)) for fault, stacks in stacks_of.values()]
    return tuple(sorted(faults, key=lambda each: (_place_of(each.fault), each.fault.path)))


def _place_of(fault: ManifestError | PolicyFinding) -> SourceLocation:
    """Where a fault is shown; what no file declares has none."""
    return fault.location or SourceLocation("")
