"""What `holdfast init` wrote, for which cluster, and what comes next."""

from collections.abc import Iterator
from typing import Any, Final

from holdfast.kube.text import counted, safe_text
from holdfast.operations.project.cluster_fleet import ClusterFleet, Unsaid
from holdfast.operations.project.first_findings import FirstFindings
from holdfast.operations.project.start import StartedProject
from holdfast.report.documents.json_text import json_text

SCHEMA_VERSION: Final = "holdfast.dev/init/v1"
_MOST_RULES: Final = 8


def project_text(started: StartedProject) -> str:
    """What was written, file by file, the cluster, and the next commands."""
    return "".join(f"{line}\n" for line in _lines(started))


def project_json(started: StartedProject) -> str:
    """The same for programs."""
    return json_text(project_document(started))


def project_document(started: StartedProject) -> dict[str, Any]:
    """What `-o json` says."""
    project, survey = started.project, started.survey
    return {
        "schemaVersion": SCHEMA_VERSION,
        "folder": str(project.folder),
        "project": project.name,
        "stack": project.stack,
        "cluster": {
            "context": survey.context if survey else "",
            "source": _source(started),
            "controllers": list(survey.controllers) if survey else [],
            "notes": list(survey.notes) if survey else [started.why_no_cluster],
        },
        "written": list(project.files),
        "git": started.git,
        "next": list(started.next_commands),
    }


def import_document(
    started: StartedProject, fleet: ClusterFleet, findings: FirstFindings
) -> dict[str, Any]:
    """What `--from-cluster -o json` says."""
    return {
        **project_document(started),
        "agents": list(fleet.files),
        "pending": list(fleet.pending),
        "notDeclared": [_unsaid(each) for each in fleet.unsaid],
        "changed": [_unsaid(each) for each in fleet.changed],
        "notRead": list(fleet.unread),
        "findings": {
            "complete": findings.is_complete,
            "notChecked": list(_unchecked(findings)),
            "violations": dict(findings.violated),
            "drift": dict(findings.drifted),
        },
    }


def import_json(started: StartedProject, fleet: ClusterFleet, findings: FirstFindings) -> str:
    """The same as JSON."""
    return json_text(import_document(started, fleet, findings))


def import_text(started: StartedProject, fleet: ClusterFleet, findings: FirstFindings) -> str:
    """What became of what runs, the first findings, and the next commands."""
    return "".join(f"{line}\n" for line in _import_lines(started, fleet, findings))


def _import_lines(
    started: StartedProject, fleet: ClusterFleet, findings: FirstFindings
) -> Iterator[str]:
    project = started.project
    yield f"project {project.name}, stack {project.stack}: {_cluster(started)}"
    yield f"wrote {counted(len(project.files), 'file')} to {safe_text(str(project.folder))}"
    where = counted(len(fleet.namespaces), "namespace")
    yield f"  agents/    {counted(len(fleet.files), 'manifest')} of {where}"
    if fleet.pending:
        yield f"  pending/   {counted(len(fleet.pending), 'manifest')} that lack something"
    yield f"  IMPORT.md  {counted(len(fleet.unsaid), 'field')} that no manifest declares"
    yield from (f"not read: {safe_text(each)}" for each in fleet.unread)
    yield "first findings:"
    rules = findings.violated
    total = counted(sum(count for _, count in rules), "violation")
    yield f"  policy  {total} of {counted(len(rules), 'rule')}, of what runs"
    yield from (f"    {count:>5} {rule}" for rule, count in rules[:_MOST_RULES])
    found = ", ".join(f"{count} {severity}" for severity, count in findings.drifted) or "none"
    yield f"  drift   differences between the manifests and what runs: {found}"
    yield from (f"  not checked: {safe_text(each)}" for each in _unchecked(findings))
    if started.git:
        yield started.git
    yield "next:"
    yield from (f"  {command}" for command in started.next_commands)


def _unchecked(findings: FirstFindings) -> Iterator[str]:
    yield from findings.not_checked
    for report in (findings.policy, findings.drift):
        for each in report.not_checked if report else ():
            yield f"{each.scope}: {each.reason}"


def _unsaid(one: Unsaid) -> dict[str, str]:
    return {"object": one.subject, "path": one.path, "reason": one.reason}


def _source(started: StartedProject) -> str:
    if started.survey is None:
        return "sandbox"
    return "named" if started.is_named else "current"


def _lines(started: StartedProject) -> Iterator[str]:
    project = started.project
    yield from (f"wrote {safe_text(str(project.folder / name))}" for name in project.files)
    yield f"project {project.name}, stack {project.stack}: {_cluster(started)}"
    if started.survey is not None:
        yield from (f"note: {safe_text(note)}" for note in started.survey.notes)
    if started.git:
        yield started.git
    yield "next:"
    yield from (f"  {command}" for command in started.next_commands)


def _cluster(started: StartedProject) -> str:
    survey = started.survey
    if survey is None:
        return f"for the sandbox of this machine ({safe_text(started.why_no_cluster)})"
    where = f"context {safe_text(survey.context)}" if survey.context else "the cluster of this pod"
    how = "" if started.is_named else ", the current one of the kubeconfig"
    count = len(survey.controllers)
    found = f": {', '.join(survey.controllers)}" if count else ""
    return f"{where}{how}; it serves the kinds of {counted(count, 'controller')}{found}"
