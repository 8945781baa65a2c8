"""`holdfast rbac`: the rights that a scan of a stack needs, and no more. Wiring only."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace

import click
from click.core import ParameterSource

from holdfast.drift.reader_role import Reader, ReadKind, reader_objects
from holdfast.errors import InputError
from holdfast.kube.names import fault_in_label_name
from holdfast.kube.objects import KubeObject, reference_of
from holdfast.kube.structure import KindEntry, builtin_kind
from holdfast.manifest.fleet.fleet import Fleet
from holdfast.operations.stack.context import StackContext
from holdfast.operations.stack.declaration import declaration_of
from holdfast.operations.stack.project import find_project_root
from holdfast.render.plan.declared import plan_fleet
from holdfast.render.pod.mounted import mounted_contents
from holdfast.report.text.yaml_text import yaml_documents

_SCALED = frozenset({"Deployment", "StatefulSet", "ReplicaSet", "Rollout"})
_AUTOSCALER = ("autoscaling/v2", "HorizontalPodAutoscaler")
_REQUEST_SECONDS = 60.0


@click.command()
@click.option("-s", "--stack", required=True, help="Stack that is to be scanned.")
@click.option(
    "--namespaced",
    "is_namespaced",
    is_flag=True,
    help="A role in each namespace of the stack; default one role for the whole cluster.",
)
@click.option("--probes", is_flag=True, help="With what `holdfast drift --probes` asks for, too.")
@click.option(
    "--contents",
    is_flag=True,
    help="With get on each Secret and ConfigMap that pods mount, by name: for --probe-contents.",
)
@click.option(
    "--loop",
    "is_loop",
    is_flag=True,
    help="With what `holdfast reconcile` tells how the stack is: its AgentStack, and Events.",
)
@click.option("--user", default="", help="User who scans. Default: a service account.")
@click.option(
    "--service-account",
    metavar="NAMESPACE/NAME",
    default="holdfast/holdfast-drift",
    show_default=True,
    help="Service account that scans; it is declared too, its namespace is not.",
)
def command(
    stack: str,
    user: str,
    service_account: str,
    **asked: bool,
) -> None:
    """Print the role and binding with which `holdfast drift` can read a stack.

    For exactly the kinds that the stack declares and those that the scan looks for beside them;
    get, list and watch alone, and no Secrets but those that --contents names. The cluster is only
    asked when the stack declares kinds that are not Kubernetes' own. With --loop one resource may
    be written beside, in which `holdfast reconcile` tells how the stack is; what it deploys takes
    the rights of `pulumi up`, which are not printed here.

    \b
    Examples:
      holdfast rbac -s prod | kubectl apply --server-side -f -
      holdfast rbac -s prod --user drift@example.com
      holdfast rbac -s prod --probes --contents
      holdfast rbac -s prod --loop --service-account ops/holdfast-reconcile
      holdfast rbac -s prod --namespaced --service-account ops/drift-reader
    """
    given = click.get_current_context().get_parameter_source("service_account")
    if user and given is not ParameterSource.DEFAULT:
        raise InputError(
            "--user and --service-account exclude each other", remedy="name the one that scans"
        )
    namespace, _, name = service_account.partition("/")
    faults = [fault_in_label_name(each) for each in (namespace, name)]
    if not user and any(faults):
        raise InputError(
            f"--service-account {service_account!r} {next(filter(None, faults))}",
            remedy="write NAMESPACE/NAME",
        )
    reader = Reader(f"holdfast-drift-{stack.rpartition('/')[2]}", user, (namespace, name))
    state = StackContext(find_project_root(), stack)
    declared = declaration_of(state, None).objects
    kinds = _kinds_of(state, declared)
    if asked["probes"]:
        kinds |= _probed_kinds(declared)
    if not asked["is_namespaced"]:
        kinds = {replace(kind, namespace="") for kind in kinds}
    if asked["contents"]:
        kinds |= set(_mounted(state.fleet))
    objects = reader_objects(kinds, reader)
    if asked["is_loop"]:
        objects += _telling(stack, reader)
    click.echo(yaml_documents(objects), nl=False)


def _telling(stack: str, reader: Reader) -> list[KubeObject]:
    from holdfast.controllers.gitops.status_role import status_writer_rbac  # noqa: PLC0415  (loads the client)

    teller = replace(reader, name=f"holdfast-reconcile-{stack.rpartition('/')[2]}")
    return status_writer_rbac(stack, teller)


def _kinds_of(state: StackContext, objects: Sequence[KubeObject]) -> set[ReadKind]:
    """Every kind that a scan of the stack reads, and where."""
    from holdfast.adapters.cluster.listing import WATCHED_KINDS  # noqa: PLC0415  (loads the client)

    namespaces = _namespaces_of(objects)
    declared = {(one["apiVersion"], one["kind"]) for one in objects}
    foreign = {key for key in declared if builtin_kind(*key) is None}
    served = _served(state, objects) if foreign else {}
    kinds: set[ReadKind] = set()
    for one in objects:
        key = (str(one["apiVersion"]), str(one["kind"]))
        entry = served.get(key) if key in foreign else builtin_kind(*key)
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


def _served(
    state: StackContext, objects: Sequence[KubeObject]
) -> Mapping[tuple[str, str], KindEntry | None]:
    """How the cluster calls the kinds that are not Kubernetes' own."""
    from holdfast.operations.scan.live import ClusterSource  # noqa: PLC0415  (loads the client)

    cluster = ClusterSource.connect(state.kubeconfig, state.kube_context, _REQUEST_SECONDS)
    cluster.placed(objects)
    return cluster.kinds


def _namespaces_of(objects: Sequence[KubeObject]) -> set[str]:
    return {reference_of(one).namespace for one in objects} - {""}


def _probed_kinds(objects: Sequence[KubeObject]) -> set[ReadKind]:
    """What probes ask for: pods and agents' cards in each namespace, nodes, runtime classes."""
    namespaces = _namespaces_of(objects)
    return {
        ReadKind("v1", "nodes"),
        ReadKind("node.k8s.io/v1", "runtimeclasses"),
        *(ReadKind("v1", "pods", namespace) for namespace in namespaces),
        *(ReadKind("v1", "services/proxy", namespace) for namespace in namespaces),
    }


def _mounted(fleet: Fleet) -> Iterator[ReadKind]:
    """What pods mount and others write, each in its namespace and by its name."""
    places: dict[tuple[str, str], set[str]] = {}
    for agent in plan_fleet(fleet, fleet.stack).agents:
        for one in mounted_contents(agent):
            places.setdefault((one.kind, one.namespace), set()).add(one.name)
    for (kind, namespace), names in sorted(places.items()):
        known = builtin_kind("v1", kind)
        assert known is not None  # noqa: S101  (Kubernetes has these kinds)
        yield ReadKind("v1", known.plural, namespace, tuple(sorted(names)))


def _read(api_version: str, entry: KindEntry, namespace: str) -> ReadKind:
    return ReadKind(api_version, entry.plural, namespace if entry.is_namespaced else "")
