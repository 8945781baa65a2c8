"""`holdfast drift`: what runs against what was declared. Wiring only."""

import gc
from dataclasses import replace
from pathlib import Path
from typing import Any

import click

from holdfast.cli.drift.scan_extras import ScanExtras, extra_options
from holdfast.cli.drift.watch_options import watch_options
from holdfast.cli.drift.ways_out import WaysOut, ways_out_options
from holdfast.cli.options.colour import wants_colour
from holdfast.cli.options.report import ReportRequest, check_files, report_options
from holdfast.cli.verb_parts import VerbWithParts
from holdfast.controllers.watch.request import WatchRequest
from holdfast.errors import InputError
from holdfast.operations.deploy.traced import traced_scan
from holdfast.operations.scan.one_scan import OneScan
from holdfast.operations.scan.sources import DriftRequest

_FILE = click.Path(path_type=Path)


PARTS = {
    "history": ("holdfast.cli.drift.history", "since when findings stand, and how often seen"),
    "owners": ("holdfast.cli.drift.owners", "which field manager owns which fields"),
}


SECTIONS = {
    "stacks": "What is compared",
    "output": "Reports",
    "history": "History",
    "probes": "Probes, of what agents depend on",
    "engine": "Pulumi's own refresh",
    "plan": "Ways out of drift",
    "ignore": "Expect it from now on",
    "watch": "Watch",
}


@click.command(cls=VerbWithParts, parts=PARTS, sections=SECTIONS)
@click.option(
    "-s",
    "--stack",
    "stacks",
    multiple=True,
    help="Stack whose rendered objects are wanted; several for one report of all of them.",
)
@click.option("--desired", type=_FILE, help="File or folder of plain objects (YAML or JSON).")
@click.option("--live", type=_FILE, help="Live objects from a file instead of a cluster.")
@click.option("--baseline", type=_FILE, help="Live objects right after the last good update.")
@click.option("--kubeconfig", type=_FILE, help="Default: KUBECONFIG, ~/.kube/config, in-cluster.")
@click.option("--context", help="Context of the kubeconfig; default its current one.")
@click.option("--audit-log", type=_FILE, help="The API server's audit log: adds users.")
@click.option(
    "--request-timeout",
    type=click.FloatRange(min=0.5),
    metavar="SECONDS",
    default=60.0,
    show_default=True,
    help="No read takes longer, with all its tries; what is late is not checked.",
)
@click.option(
    "--ignore-file",
    type=_FILE,
    envvar="HOLDFAST_DRIFT_IGNORE",
    help="Rules on expected drift. Default with --stack: stacks/drift-ignore.yaml.",
)
@click.option(
    "--no-cache",
    "is_made_anew",
    is_flag=True,
    help="Render anew, even where no file has changed since an earlier scan.",
)
@report_options
@extra_options
@click.option(
    "--engine/--no-engine",
    default=None,
    help="Ask Pulumi's own refresh too: about the whole stack, or never. "
    "Default: about what drifted.",
)
@ways_out_options
@watch_options
def command(
    wanted: ReportRequest,
    *,
    extras: ScanExtras,
    engine: bool | None,
    watching: WatchRequest | None,
    ways_out: WaysOut,
    stacks: tuple[str, ...],
    **asked: Any,  # noqa: ANN401  (the other options, by name)
) -> int:
    """Compare what runs with what was declared.

    Sees what `pulumi refresh` cannot: fields, list items and objects that appeared, objects made
    again; says who did it and which rules it breaks. Only reads (one LIST a kind)
    unless told to --revert. With OTEL_EXPORTER_OTLP_ENDPOINT a scan is sent as a trace.

    \b
    Examples:
      holdfast drift -s dev
      holdfast drift --desired manifests/ --context kind-test
      holdfast drift --desired app.yaml --live live.json -o json
      holdfast drift -s dev --report html=drift.html --report sarif=drift.sarif
      holdfast drift -s dev --plan
      holdfast drift -s dev --revert
      holdfast drift -s dev --act --yes
      holdfast drift -s dev --adopt --only "Deployment cx/support-rag spec.replicas"
      holdfast drift -s dev --ignore "Deployment cx/support-rag spec.replicas" \\
        --reason "tuned by hand" --owner cx --expires 2027-01-31
      holdfast drift -s dev --watch --metrics :9464
      holdfast drift -s dev -s staging -s prod
      holdfast drift history -s dev
      holdfast drift owners -s dev

    \b
    Exit codes: 0 in sync   7 drift   1 error, or not everything could be checked   2 bad input
    With --watch the command goes on until SIGINT or SIGTERM, and then ends with 8.
    """
    # What is loaded by now stays: collecting it again and again costs a third of a scan.
    gc.freeze()
    gc.set_threshold(200_000, 20, 100)
    request = DriftRequest(stack="".join(stacks[:1]), **asked)
    if len(stacks) > 1:
        alone = bool(engine) or watching or ways_out.are_wanted or extras.probing.is_on
        if alone:
            raise InputError(
                "several stacks are only compared",
                remedy="leave out --watch, --probes, --engine, --revert and its like, or name one",
            )
        from holdfast.operations.scan.several_stacks import scan_stacks  # noqa: PLC0415  (start-up)

        return scan_stacks(stacks, request, wanted, extras.history)
    _check(request, engine=engine)
    ways_out.check(is_of_files=request.live is not None, is_plain=request.desired is not None)
    if watching is not None:
        if ways_out.are_wanted or wanted.written_files or not extras.are_default:
            raise InputError(
                "--watch only reports",
                remedy="leave out --revert and its like, --probes, --report, --output-file and the "
                "history",
            )
        if wanted.output not in {"text", "json"}:
            raise InputError("--watch writes text or JSON lines", remedy="choose -o text or json")
        from holdfast.controllers.runtime.log import Output  # noqa: PLC0415  (start-up)
        from holdfast.controllers.watch.drift_watch import watch  # noqa: PLC0415  (start-up)

        # For days in one process: what is kept is told apart by the code as it lies on the disk.
        lines = Output(has_colour=wants_colour())
        return watch(replace(request, is_made_anew=True), watching, wanted.output, lines)
    if extras.probing.is_on and (ways_out.are_wanted or not request.stack):
        raise InputError(
            "--probes needs --stack, and only looks", remedy="revert without it, then probe again"
        )
    check_files(wanted)
    scanning = OneScan(request, wanted, extras, engine, ways_out)
    with traced_scan(request.stack) as span:
        return scanning.run(span)


def _check(request: DriftRequest, *, engine: bool | None) -> None:
    """Refuse what has no meaning for what is compared."""
    if bool(request.stack) == bool(request.desired):
        raise InputError("one of --stack and --desired is needed", remedy="see --help")
    if request.is_made_anew and not request.stack:
        raise InputError("--no-cache needs --stack", remedy="of plain files nothing is kept")
    if engine and not request.stack:
        raise InputError("--engine needs --stack", remedy="the engine knows stacks, not files")
