"""Findings by name, as the report writes them: `Deployment cx/support-rag spec.replicas`."""

import re
from collections.abc import Sequence
from dataclasses import replace

from holdfast.drift.exemption.ignore import covers
from holdfast.drift.finding import Finding
from holdfast.errors import InputError
from holdfast.kube.paths import format_path, parse_path
from holdfast.operations.scan.scanner import Scan

_FINDING = re.compile(r"(?P<kind>\w+)[ /](?P<place>[^\s:]+)(?:(?::| +)(?P<path>\S.*))?")
_SHAPE = "write it as in the report: 'Deployment cx/support-rag spec.replicas'"


def path_named(text: str) -> str:
    """The path in a finding's name; empty for a whole object."""
    match = _FINDING.fullmatch(text.strip())
    return (match["path"] or "") if match else ""


def with_only(scan: Scan, names: Sequence[str]) -> Scan:
    """The scan with those findings alone that are named, in `--only`; all of them without a name.

    Raises:
        InputError: a name means none.
    """
    if not names:
        return scan
    findings = scan.report.findings
    named = {
        id(one)
        for text in names
        for one in named_findings(text, findings, "--only", with_fields=True)
    }
    kept = tuple(one for one in findings if id(one) in named)
    return replace(scan, report=replace(scan.report, findings=kept))


def named_findings(
    text: str, findings: Sequence[Finding], option: str, *, with_fields: bool = False
) -> list[Finding]:
    """Findings that a name means: at the path or below it, or about the whole object.

    Args:
        text: Kind, namespace/name (or the name alone) and path.
        findings: To choose from.
        option: That it was given to.
        with_fields: An object's name means its fields, too.

    Raises:
        InputError: it means none.
    """
    match = _FINDING.fullmatch(text.strip())
    if match is None:
        raise InputError(f"{option} {text!r} names no finding", remedy=_SHAPE)
    path = match["path"] or ""
    try:
        parsed = parse_path(path)
    except ValueError as error:
        raise InputError(f"{option}: {error}", remedy=_SHAPE) from error
    of_object = [
        each
        for each in findings
        if each.ref.kind == match["kind"]
        and match["place"] in (f"{each.ref.namespace}/{each.ref.name}".lstrip("/"), each.ref.name)
    ]
    chosen = [
        each
        for each in of_object
        if (covers(parsed, each.path) if path else with_fields or not each.path)
    ]
    if chosen:
        return chosen
    known = ", ".join(f"'{_name(each)}'" for each in of_object or findings)
    raise InputError(
        f"{option} {text!r}: the scan has no such finding",
        remedy=f"the scan found {known}" if known else "the scan found none",
    )


def _name(finding: Finding) -> str:
    return f"{finding.ref} {format_path(finding.path)}".rstrip()
