"""`holdfast drift`: what runs against what was declared; each way of asking is loaded by itself."""

import gc

import click

from holdfast.cli.drift.options import COMPARED, ENGINE, REMEDIATION, WATCH, DriftOptions
from holdfast.cli.lazy_group import LazyGroup
from holdfast.cli.options.groups import takes
from holdfast.cli.options.probes import PROBES
from holdfast.cli.options.recording import RECORDING
from holdfast.cli.options.report import DRIFT_REPORT, check_files
from holdfast.cli.verbs import VERBS

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


@click.group(
    cls=LazyGroup,
    verbs=VERBS["drift"].below,
    sections=SECTIONS,
    invoke_without_command=True,
    subcommand_metavar="[COMMAND]",
)
@takes(
    DriftOptions,
    compared=COMPARED,
    report=DRIFT_REPORT,
    recording=RECORDING,
    probing=PROBES,
    engine=ENGINE,
    remediation=REMEDIATION,
    watching=WATCH,
)
def command(asked: DriftOptions) -> int:
    """Compare what runs with what was declared.

    Sees what `pulumi refresh` cannot: fields, list items and objects that appeared, objects that
    were recreated; says who did it and which rules it breaks. Only reads (one LIST a kind)
    without --revert or --act. With OTEL_EXPORTER_OTLP_ENDPOINT a scan is sent as a trace.

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
    asked.check()
    check_files(asked.report)
    return _way(asked)


def _way(asked: DriftOptions) -> int:
    """What is asked for; each way loads what it needs, and none of them is part of --help."""
    if asked.remediation.are_wanted:
        from holdfast.cli.drift.remediate import remediate  # noqa: PLC0415  (a lazy command)

        return remediate(asked)
    if len(asked.compared.stacks) > 1:
        from holdfast.cli.drift.several import scan_several  # noqa: PLC0415  (a lazy command)

        return scan_several(asked)
    if asked.watching is not None:
        from holdfast.cli.drift.watch import watch_drift  # noqa: PLC0415  (a lazy command)

        return watch_drift(asked, asked.watching)
    from holdfast.cli.drift.detect import detect  # noqa: PLC0415  (a lazy command)

    return detect(asked)
