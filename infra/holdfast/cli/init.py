"""`holdfast init`: a repository of one's own."""

from pathlib import Path
from typing import Any

import click

from holdfast.cli.options.cluster import KUBECONFIG
from holdfast.cli.options.output import OUTPUT, TERMINAL
from holdfast.cli.options.words import STACK
from holdfast.errors import ExitCode, InputError
from holdfast.operations.project.start import StartRequest, start_from_cluster, start_project
from holdfast.report.text.project_report import (
    import_json,
    import_text,
    project_json,
    project_text,
)


@click.command()
@click.argument("folder", default=".", type=click.Path(path_type=Path))
@click.option("--name", default="", help="Name of the Pulumi project; default the folder's.")
@click.option(
    "-s",
    "--stack",
    type=STACK,
    default="dev",
    show_default=True,
    help="Name of the repository's first stack.",
)
@KUBECONFIG
@click.option("--context", help="Cluster of the stack; default the current one, if it answers.")
@click.option(
    "--no-cluster",
    "asks_cluster",
    flag_value=False,
    default=True,
    help="Ask no cluster: the stack is for the sandbox of this machine.",
)
@click.option(
    "--no-git", "uses_git", flag_value=False, default=True, help="Start no Git repository."
)
@click.option(
    "--from-cluster",
    is_flag=True,
    help="Write what runs in the cluster as manifests, in place of the sample agent.",
)
@click.option(
    "-n",
    "--namespace",
    "namespaces",
    multiple=True,
    help="With --from-cluster: only this namespace; repeatable. Default all but Kubernetes' own.",
)
@OUTPUT
def command(
    output: str,
    *,
    from_cluster: bool,
    namespaces: tuple[str, ...],
    **options: Any,  # noqa: ANN401  (the other options, by name)
) -> ExitCode:
    """Write a repository of your own: program, agents, stacks, policy pack, tests, pipelines.

    Asks the cluster which controllers' kinds it serves, and writes them into the stack's file.
    Never overwrites a file. Outside of a Git repository it starts one; it commits nothing.

    --from-cluster converts Deployments, StatefulSets, CronJobs and Sandboxes, agents of kagent,
    models and tool servers of kagent, ToolHive and mcp.x-k8s.io; lists in IMPORT.md every field
    that no manifest declares; and prints the first findings. It changes nothing in the cluster,
    reads no Secret, and writes no value that looks like a credential.

    \b
    Examples:
      holdfast init fleet --context kind-test
      holdfast init fleet --no-cluster        (for the sandbox)
      holdfast init fleet --from-cluster --context prod -n team-a
      cd fleet && pytest tests

    \b
    Exit codes: 0 written   2 bad input, or a file exists: nothing is written
      1 the named cluster does not answer; or something could not be imported
        or checked, and is listed
    """
    request = StartRequest(start=Path.cwd(), **options)
    if from_cluster:
        started, fleet, findings = start_from_cluster(request, namespaces, TERMINAL)
        write = import_json if output == "json" else import_text
        click.echo(write(started, fleet, findings), nl=False)
        is_whole = not fleet.unsaid and not fleet.unread and findings.is_complete
        return ExitCode.OK if is_whole else ExitCode.ERROR
    if namespaces:
        raise InputError("-n needs --from-cluster", remedy="add it, or remove -n")
    started = start_project(request)
    click.echo(project_json(started) if output == "json" else project_text(started), nl=False)
    return ExitCode.OK
