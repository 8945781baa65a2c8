"""A saved JSON report, read again: what one job has found, another one can show.

The document says less than the scan knew: how many objects were compared, and whose expectation a
finding breaks, are not in the contract.
"""

from typing import Any, Final

import msgspec

from holdfast.drift.finding import (
    Actor,
    DriftClass,
    DriftReport,
    EvidenceSource,
    ExpectedBy,
    Finding,
    Layer,
    NextUpdate,
    NotChecked,
    Severity,
)
from holdfast.errors import InputError
from holdfast.kube.objects import ObjectRef
from holdfast.kube.paths import parse_path
from holdfast.report.documents.drift_json import SCHEMA_VERSION

_REMEDY: Final = "write it with `holdfast drift -o json`"


class _Object(msgspec.Struct, rename="camel"):
    api_version: str
    kind: str
    namespace: str
    name: str


class _Actor(msgspec.Struct):
    manager: str
    operation: str
    subresource: str
    time: str
    user: str
    source: EvidenceSource


class _Finding(msgspec.Struct, rename="camel"):
    object: _Object
    agent: str
    class_: DriftClass = msgspec.field(name="class")
    path: str
    desired: Any
    live: Any
    severity: Severity
    policies: list[str]
    actors: list[_Actor]
    seen_by: list[str]
    about: str = ""
    next_update: NextUpdate | None = None


class _Layer(msgspec.Struct):
    name: str
    ran: bool
    detail: str


class _NotChecked(msgspec.Struct):
    scope: str
    reason: str


class _Document(msgspec.Struct, rename="camel"):
    schema_version: str
    complete: bool
    not_checked: list[_NotChecked]
    findings: list[_Finding]
    layers: list[_Layer] = []


class _Agents(msgspec.Struct):
    counts: dict[str, int] = {}


class _Counted(msgspec.Struct):
    agents: _Agents | None = None


def agents_counted(text: bytes) -> int | None:
    """How many agents a document says were looked at; None where it does not say.

    Args:
        text: A document that `read_drift_json` reads.
    """
    counted = msgspec.json.decode(text, type=_Counted)
    return sum(counted.agents.counts.values()) if counted.agents else None


def read_drift_json(text: bytes, source: str) -> DriftReport:
    """The report that a document holds.

    Args:
        text: The document.
        source: Its file, for errors.

    Raises:
        InputError: it is no drift report, or one of another version.
    """
    try:
        plain = msgspec.json.decode(text)
    except (msgspec.DecodeError, UnicodeDecodeError) as error:
        raise InputError(f"{source}: no drift report: {error}", remedy=_REMEDY) from error
    return report_of(plain, source)


def report_of(
    plain: Any,  # noqa: ANN401  (any JSON value)
    source: str,
    objects_checked: int | None = None,
) -> DriftReport:
    """The report that plain data holds.

    Args:
        plain: What `drift_document` gives.
        source: Where it is from, for errors.
        objects_checked: How many objects were compared, where that is known.

    Raises:
        InputError: it is no drift report, or one of another version.
    """
    try:
        document = msgspec.convert(plain, type=_Document)
        findings = tuple(_finding(each) for each in document.findings)
    except (msgspec.ValidationError, ValueError) as error:
        raise InputError(f"{source}: no drift report: {error}", remedy=_REMEDY) from error
    if document.schema_version != SCHEMA_VERSION:
        raise InputError(
            f"{source}: expected schemaVersion {SCHEMA_VERSION}, got {document.schema_version!r}",
            remedy=_REMEDY,
        )
    not_checked = tuple(NotChecked(each.scope, each.reason) for each in document.not_checked)
    if document.complete is bool(not_checked):
        raise InputError(
            f"{source}: complete is {str(document.complete).lower()}, "
            f"but notChecked holds {len(not_checked)} entries",
            remedy=_REMEDY,
        )
    layers = tuple(Layer(each.name, each.ran, each.detail) for each in document.layers)
    return DriftReport(findings, not_checked, objects_checked, layers=layers)


def _finding(each: _Finding) -> Finding:
    ref = each.object
    return Finding(
        ref=ObjectRef(ref.namespace, ref.kind, ref.name, ref.api_version),
        agent=each.agent,
        drift_class=each.class_,
        path=parse_path(each.path),
        desired=each.desired,
        live=each.live,
        severity=each.severity,
        policies=tuple(each.policies),
        actors=tuple(
            Actor(one.manager, one.operation, one.subresource, one.time, one.user, one.source)
            for one in each.actors
        ),
        expected_by=ExpectedBy.RECORD if each.about == "record" else ExpectedBy.DECLARATION,
        seen_by=tuple(each.seen_by),
        next_update=each.next_update,
    )
