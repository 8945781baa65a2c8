"""`holdfast rbac`: the rights that a scan of a stack needs, and no more. Wiring only."""

from dataclasses import replace

import click

from holdfast.cli.drift_sources import DriftRequest, DriftSources
from holdfast.drift.reader_role import Reader, ReadKind, reader_objects
from holdfast.errors import InputError
from holdfast.kube.names import fault_in_label_name
from holdfast.kube.objects import reference_of
from holdfast.kube.structure import KindEntry, builtin_kind
from holdfast.report.yaml_text import yaml_documents

_SCALED = frozenset({"Deployment", "StatefulSet", "ReplicaSet", "Rollout"})
_AUTOSCALER = ("autoscaling/v2", "HorizontalPodAutoscaler")


@click.command()
@click.option("-s", "--stack", required=True, help="Stack that is to be scanned.")
@click.option(
    "--namespaced",
    "is_namespaced",
    is_flag=True,
    help="A role in each namespace of the stack; default one role for the whole cluster.",
)
@click.option("--probes", is_flag=True, help="With what `holdfast drift --probes` asks for, too.")
@click.option("--user", default="", help="User who scans. Default: a service account.")
@click.option(
    "--service-account",
    metavar="NAMESPACE/NAME",
    default="holdfast/holdfast-drift",
    show_default=True,
    help="Service account that scans; it is declared too, its namespace is not.",
)
def command(
    stack: str, user: str, service_account: str, *, is_namespaced: bool, probes: bool
) -> None:
    """Print the role and binding with which `holdfast drift` can read a stack.

    For exactly the kinds that the stack declares and those that the scan looks for beside them;
    get, list and watch alone, and no Secrets. The cluster is only asked when the stack declares
    kinds that are not Kubernetes' own.

    \b
    Examples:
      holdfast rbac -s prod | kubectl apply --server-side -f -
      holdfast rbac -s prod --user drift@example.com
      holdfast rbac -s prod --probes
      holdfast rbac -s prod --namespaced --service-account ops/drift-reader
    """
    namespace, _, name = service_account.partition("/")
    faults = [fault_in_label_name(each) for each in (namespace, name)]
    if not user and any(faults):
        raise InputError(
            f"--service-account {service_account!r} {next(filter(None, faults))}",
            remedy="write NAMESPACE/NAME",
        )
    reader = Reader(f"holdfast-drift-{stack.rpartition('/')[2]}", user, (namespace, name))
    sources = DriftSources(DriftRequest(stack=stack))
    kinds = _kinds_of(sources)
    if probes:
        kinds |= _probed_kinds(sources)
    if not is_namespaced:
        kinds = {replace(kind, namespace="") for kind in kinds}
    click.echo(yaml_documents(reader_objects(kinds, reader)), nl=False)


def _kinds_of(sources: DriftSources) -> set[ReadKind]:
    """Every kind that a scan of the stack reads, and where."""
    from holdfast.cluster.listing import WATCHED_KINDS  # noqa: PLC0415  (loads the client)

    objects = sources.desired.objects
    namespaces = {reference_of(one).namespace for one in objects} - {""}
    declared = {(one["apiVersion"], one["kind"]) for one in objects}
    foreign = {key for key in declared if builtin_kind(*key) is None}
    if foreign:
        sources.cluster.placed(objects)
    kinds: set[ReadKind] = set()
    for one in objects:
        key = (str(one["apiVersion"]), str(one["kind"]))
        entry = sources.cluster.kinds.get(key) if key in foreign else builtin_kind(*key)
        if entry is None:
            raise InputError(
                f"the cluster does not serve {key[1]} ({key[0]})",
                remedy="install its definition first: its name in URLs is not known before",
            )
        kinds.add(_read(key[0], entry, reference_of(one).namespace))
    beside = {key for key in WATCHED_KINDS if key not in declared}
    if any(kind in _SCALED for _, kind in declared):
        beside.add(_AUTOSCALER)
    for api_version, kind in beside:
        known = builtin_kind(api_version, kind)
        assert known is not None  # noqa: S101  (Kubernetes has these kinds)
        kinds |= {_read(api_version, known, namespace) for namespace in namespaces}
    return kinds


def _probed_kinds(sources: DriftSources) -> set[ReadKind]:
    """What probes ask for: pods and agents' cards in each namespace, nodes, runtime classes."""
    namespaces = {reference_of(one).namespace for one in sources.desired.objects} - {""}
    return {
        ReadKind("v1", "nodes"),
        ReadKind("node.k8s.io/v1", "runtimeclasses"),
        *(ReadKind("v1", "pods", namespace) for namespace in namespaces),
        *(ReadKind("v1", "services/proxy", namespace) for namespace in namespaces),
    }


def _read(api_version: str, entry: KindEntry, namespace: str) -> ReadKind:
    return ReadKind(api_version, entry.plural, namespace if entry.is_namespaced else "")
