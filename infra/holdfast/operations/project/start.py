"""Starting a repository: which cluster it is for, what is written, what comes next."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from holdfast.errors import InputError
from holdfast.operations.progress import Progress
from holdfast.operations.project.cluster_fleet import ClusterFleet, read_fleet
from holdfast.operations.project.first_findings import FirstFindings, first_findings
from holdfast.operations.project.import_page import IMPORT_FILE, import_page
from holdfast.operations.project.new_project import (
    NewProject,
    next_commands,
    plan_project,
    refuse_existing,
    start_repository,
    write_project,
)
from holdfast.operations.project.stack_file import stack_file_text
from holdfast.operations.project.survey import ClusterSurvey, current_cluster, survey_cluster


@dataclass(frozen=True)
class StartRequest:
    """What `holdfast init` is asked for.

    Attributes:
        folder: Where the repository is to be.
        name: Of the project; empty for the folder's.
        stack: Name of its first stack.
        kubeconfig: None for the usual one.
        context: Cluster of the stack; None for the current one, where it answers.
        asks_cluster: False for the sandbox of this machine.
        uses_git: Whether a folder outside of any repository becomes one.
        start: Folder where the command runs.
    """

    folder: Path
    name: str = ""
    stack: str = "dev"
    kubeconfig: Path | None = None
    context: str | None = None
    asks_cluster: bool = True
    uses_git: bool = True
    start: Path = Path()


@dataclass(frozen=True)
class StartedProject:
    """What was written.

    Attributes:
        project: The repository.
        survey: What the cluster of its stack said; None for the sandbox.
        why_no_cluster: Why no cluster was asked; empty where one was.
        is_named: Whether the cluster was named, and not found by itself.
        git: What was done with Git; empty for nothing.
        next_commands: What to run next.
    """

    project: NewProject
    survey: ClusterSurvey | None
    why_no_cluster: str
    is_named: bool
    git: str
    next_commands: Sequence[str]


def start_project(
    request: StartRequest, manifests: Mapping[str, str] | None = None
) -> StartedProject:
    """Write a new repository.

    Args:
        request: What is asked for.
        manifests: Files to write in place of the sample agent; None for the sample.

    Raises:
        InputError: a name cannot be used, or a file exists: nothing is written.
        ClusterError: the named cluster does not answer.
    """
    # Before a cluster is asked: a folder that cannot be used is known at once.
    files = plan_project(request.folder, request.stack, None, request.name, manifests).files
    refuse_existing(request.folder, files)
    survey, reason = _survey(request)
    project = plan_project(request.folder, request.stack, survey, request.name, manifests)
    write_project(project)
    git = start_repository(project.folder) if request.uses_git else ""
    commands = next_commands(project, is_sandbox=survey is None, start=request.start)
    is_named = survey is not None and request.context is not None
    return StartedProject(project, survey, reason, is_named, git, commands)


def start_from_cluster(
    request: StartRequest, namespaces: Sequence[str], progress: Progress
) -> tuple[StartedProject, ClusterFleet, FirstFindings]:
    """Write a new repository of what runs in a cluster, and look for the first findings.

    Args:
        request: What is asked for.
        namespaces: Where to look; everywhere but in Kubernetes' own when empty.
        progress: Learns of each step.

    Raises:
        InputError: a name cannot be used, a file exists, or nothing runs: nothing is written.
        ClusterError: the cluster does not answer.
    """
    if not request.asks_cluster:
        raise InputError("--from-cluster requires a cluster", remedy="remove --no-cluster")
    refuse_existing(
        request.folder, plan_project(request.folder, request.stack, None, request.name).files
    )
    survey = survey_cluster(request.kubeconfig, request.context)
    context = request.context or survey.context or None
    stack = request.stack, stack_file_text(request.stack, survey, is_existing=True)
    fleet = read_fleet(request.kubeconfig, context, namespaces, stack)
    progress.step(f"read what runs in {len(fleet.namespaces)} namespaces")
    manifests = {**fleet.files, **fleet.pending, IMPORT_FILE: import_page(fleet)}
    if not fleet.files:
        manifests["agents/.gitkeep"] = ""
    project = plan_project(request.folder, request.stack, survey, request.name, manifests)
    write_project(project)
    git = start_repository(project.folder) if request.uses_git else ""
    cluster = request.kubeconfig, context
    findings = first_findings(project.folder, request.stack, cluster, fleet.namespaces, progress)
    commands = next_commands(project, is_sandbox=False, start=request.start, is_imported=True)
    is_named = request.context is not None
    return StartedProject(project, survey, "", is_named, git, commands), fleet, findings


def _survey(request: StartRequest) -> tuple[ClusterSurvey | None, str]:
    if not request.asks_cluster:
        if request.context or request.kubeconfig:
            raise InputError(
                "--no-cluster excludes --context and --kubeconfig",
                remedy="remove it, or --context and --kubeconfig",
            )
        return None, "--no-cluster"
    if request.context or request.kubeconfig:
        return survey_cluster(request.kubeconfig, request.context), ""
    return current_cluster(None)
