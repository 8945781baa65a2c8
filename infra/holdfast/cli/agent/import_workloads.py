"""`holdfast agent import`: workloads that others wrote, as manifests."""

from pathlib import Path
from typing import Any, Final

import click

from holdfast.cli.options.cluster import KUBECONFIG
from holdfast.cli.options.output import OUTPUT, TerminalProgress
from holdfast.errors import ExitCode, InputError
from holdfast.kube.objects import KubeObject
from holdfast.operations.describe.workload_import import (
    digests_from,
    import_agents,
    objects_from_cluster,
    objects_from_files,
    write_manifests,
)
from holdfast.operations.progress import Progress
from holdfast.report.text.import_report import import_json, import_text, manifest_text

_SOURCE: Final = ("from_cluster", "namespace", "kubeconfig", "context")


@click.command()
@click.argument("paths", nargs=-1, type=click.Path(path_type=Path, exists=True))
@click.option("--from-cluster", is_flag=True, help="Read a namespace of a cluster instead.")
@click.option("-n", "--namespace", help="With --from-cluster: the namespace to read.")
@KUBECONFIG
@click.option("--context", help="Context of the kubeconfig; default its current.")
@click.option(
    "--digests",
    type=click.Path(path_type=Path, exists=True, dir_okay=False),
    help="File of image: sha256:<64 hex digits>, one a line, for images without one.",
)
@click.option(
    "--to",
    "folder",
    type=click.Path(path_type=Path, file_okay=False),
    help="Folder for one manifest an agent, such as agents/; default standard output.",
)
@click.option("--overwrite", is_flag=True, help="Overwrite existing manifests.")
@OUTPUT
def command(
    paths: tuple[Path, ...],
    digests: Path | None,
    output: str,
    **options: Any,  # noqa: ANN401  (the other options, by name)
) -> ExitCode:
    """Convert Deployments, StatefulSets, CronJobs and Sandboxes to manifests of agents.

    Converts with them their Service, autoscaler, disruption budget, ServiceAccount, Role, claims
    and mounted ConfigMaps. Every field that no manifest can declare is listed by its path. Nothing
    is written to a cluster.

    An image needs a digest: give --digests, or add it to the manifest; until then `holdfast
    validate` refuses the manifest.

    \b
    Examples:
      holdfast agent import deploy/ --digests digests.yaml --to agents/
      holdfast agent import --from-cluster -n cx --context prod --to agents/
      kubectl get deploy web -o yaml > web.yaml && holdfast agent import web.yaml

    \b
    Exit codes: 0 everything was converted   1 fields are left   2 bad input
    """
    folder: Path | None = options["folder"]
    progress = TerminalProgress()
    objects = _objects(paths, progress, **{name: options[name] for name in _SOURCE})
    done = import_agents(objects, digests_from(digests) if digests else {})
    texts = [(each.name, manifest_text(each)) for each in done.agents]
    if folder is not None:
        write_manifests(folder, texts, progress, overwrite=options["overwrite"])
    if output == "json":
        click.echo(import_json(done.agents, done.untouched), nl=False)
    else:
        if folder is None:
            click.echo("---\n".join(text for _, text in texts), nl=False)
        click.echo(import_text(done.agents, done.untouched), nl=False, err=True)
    return ExitCode.OK if done.is_complete else ExitCode.ERROR


def _objects(
    paths: tuple[Path, ...],
    progress: Progress,
    *,
    from_cluster: bool,
    namespace: str | None,
    kubeconfig: Path | None,
    context: str | None,
) -> list[KubeObject]:
    if from_cluster == bool(paths):
        raise InputError("expected files, or --from-cluster", remedy="give one of the two")
    if from_cluster:
        return objects_from_cluster(namespace, kubeconfig, context, progress)
    if namespace or kubeconfig or context:
        raise InputError("-n, --kubeconfig and --context need --from-cluster", remedy="add it")
    return objects_from_files(paths)
