"""The programs of a sandbox and their command lines, in the order they are started.

Five of a control plane and, where it is asked for, a real node.

Pure: paths and ports in, arguments out. Sources: the reference pages of kube-apiserver,
kube-controller-manager and kube-scheduler, `etcd --help`, `kwok --help`.
"""

from collections.abc import Callable
from dataclasses import dataclass, field, replace

from holdfast.sandbox.paths import LOOPBACK, SandboxPaths
from holdfast.sandbox.record import Ports, SandboxRecord

SERVICE_NETWORK = "10.96.0.0/16"
POD_NETWORK = "10.244.0.0/16"
NODE_ADDRESS = "10.0.0.1"
SIMULATED = "kwok.x-k8s.io/node"
"""Annotation, and taint, of a node that kwok plays."""
_AUTHORIZATION = "--authorization-mode=RBAC"
_ALL_NODES_SIMULATED = ("--manage-all-nodes=true",)
AUDIT_LOG_MAX_MEGABYTES = 100
AUDIT_LOG_MAX_BACKUPS = 2


@dataclass(frozen=True, slots=True)
class Program:
    """One program of the control plane.

    Attributes:
        name: File name of the executable.
        arguments: Command line after the executable.
        environment: Variables it needs besides PATH and HOME.
        stop_seconds: How long it may take to end by itself before it is killed.
    """

    name: str
    arguments: Callable[[SandboxPaths, Ports], list[str]]
    environment: dict[str, str] = field(default_factory=dict)
    stop_seconds: float = 3


def etcd_arguments(place: SandboxPaths, ports: Ports) -> list[str]:
    """Clients and peers must show a certificate of etcd's own authority."""
    client = f"https://{LOOPBACK}:{ports.etcd}"
    peer = f"https://{LOOPBACK}:{ports.etcd_peer}"
    certificates = place.certificates
    return [
        f"--data-dir={place.data}",
        "--name=sandbox",
        # A sandbox need not survive a power cut: writing is ten times faster without fsync.
        "--unsafe-no-fsync",
        "--log-level=warn",
        "--enable-grpc-gateway=false",
        f"--listen-client-urls={client}",
        f"--advertise-client-urls={client}",
        f"--listen-peer-urls={peer}",
        f"--initial-advertise-peer-urls={peer}",
        f"--initial-cluster=sandbox={peer}",
        "--client-cert-auth",
        f"--trusted-ca-file={certificates}/etcd-ca.crt",
        f"--cert-file={certificates}/etcd.crt",
        f"--key-file={certificates}/etcd.key",
        "--peer-client-cert-auth",
        f"--peer-trusted-ca-file={certificates}/etcd-ca.crt",
        f"--peer-cert-file={certificates}/etcd.crt",
        f"--peer-key-file={certificates}/etcd.key",
    ]


def api_server_arguments(place: SandboxPaths, ports: Ports) -> list[str]:
    """Loopback only, RBAC, an audit log, no anonymous requests."""
    certificates = place.certificates
    return [
        f"--etcd-servers=https://{LOOPBACK}:{ports.etcd}",
        f"--etcd-cafile={certificates}/etcd-ca.crt",
        f"--etcd-certfile={certificates}/etcd.crt",
        f"--etcd-keyfile={certificates}/etcd.key",
        f"--bind-address={LOOPBACK}",
        f"--advertise-address={LOOPBACK}",
        # A loopback address is no valid endpoint of Service `kubernetes`; nothing here uses it.
        "--endpoint-reconciler-type=none",
        f"--secure-port={ports.api_server}",
        f"--tls-cert-file={certificates}/api-server.crt",
        f"--tls-private-key-file={certificates}/api-server.key",
        f"--client-ca-file={certificates}/ca.crt",
        f"--service-account-key-file={certificates}/service-accounts.crt",
        f"--service-account-signing-key-file={certificates}/service-accounts.key",
        "--service-account-issuer=https://kubernetes.default.svc",
        f"--service-cluster-ip-range={SERVICE_NETWORK}",
        _AUTHORIZATION,
        "--anonymous-auth=false",
        "--allow-privileged=true",
        "--profiling=false",
        "--event-ttl=15m",
        f"--audit-policy-file={place.configuration}/audit-policy.yaml",
        f"--audit-log-path={place.audit_log}",
        f"--audit-log-maxsize={AUDIT_LOG_MAX_MEGABYTES}",
        f"--audit-log-maxbackup={AUDIT_LOG_MAX_BACKUPS}",
    ]


def controller_manager_arguments(place: SandboxPaths, ports: Ports) -> list[str]:
    """Each controller acts as its own service account, so that the audit log distinguishes them."""
    del ports  # it listens nowhere; the API server's port is in its kubeconfig
    return [
        f"--kubeconfig={place.kubeconfig('kube-controller-manager')}",
        "--use-service-account-credentials",
        f"--service-account-private-key-file={place.certificates}/service-accounts.key",
        f"--root-ca-file={place.certificates}/ca.crt",
        "--leader-elect=false",
        "--secure-port=0",
        "--profiling=false",
        # The default of 20 requests a second costs five seconds of every start.
        "--kube-api-qps=1000",
        "--kube-api-burst=2000",
        # A busy or sleeping laptop must not lose its nodes.
        "--node-monitor-grace-period=5m",
        "--concurrent-deployment-syncs=20",
        "--concurrent-replicaset-syncs=20",
    ]


def scheduler_arguments(place: SandboxPaths, ports: Ports) -> list[str]:
    """One scheduler, so without an election."""
    del ports  # it listens nowhere; the API server's port is in its kubeconfig
    return [
        f"--kubeconfig={place.kubeconfig('kube-scheduler')}",
        "--leader-elect=false",
        "--secure-port=0",
        "--profiling=false",
    ]


def kwok_arguments(place: SandboxPaths, ports: Ports) -> list[str]:
    """Plays the kubelets, the volume provisioner and the load balancer by our stages."""
    del ports  # it listens nowhere; the API server's port is in its kubeconfig
    return [
        f"--kubeconfig={place.kubeconfig('kwok')}",
        f"--config={place.configuration}/kwok-stages.yaml",
        _volumes(place, "kwok-volumes.yaml"),
        *_ALL_NODES_SIMULATED,
        "--node-lease-duration-seconds=40",
        f"--cidr={POD_NETWORK}",
        f"--node-ip={NODE_ADDRESS}",
        "-v=WARN",
    ]


def api_server_arguments_with_node(place: SandboxPaths, ports: Ports) -> list[str]:
    """Besides: kubelets with their own rights only, and a way into the node's network."""
    certificates = place.certificates
    return [
        *(each for each in api_server_arguments(place, ports) if each != _AUTHORIZATION),
        "--authorization-mode=Node,RBAC",
        "--enable-admission-plugins=NodeRestriction",
        f"--kubelet-client-certificate={certificates}/api-server-to-kubelet.crt",
        f"--kubelet-client-key={certificates}/api-server-to-kubelet.key",
        "--kubelet-preferred-address-types=InternalIP",
        f"--egress-selector-config-file={place.configuration}/egress.yaml",
    ]


def kwok_arguments_with_node(place: SandboxPaths, ports: Ports) -> list[str]:
    """Besides: it leaves the real node to its kubelet."""
    replaced = {*_ALL_NODES_SIMULATED, _volumes(place, "kwok-volumes.yaml")}
    return [
        *(each for each in kwok_arguments(place, ports) if each not in replaced),
        _volumes(place, "kwok-node-volumes.yaml"),
        f"--manage-nodes-with-annotation-selector={SIMULATED}=fake",
    ]


def _volumes(place: SandboxPaths, file: str) -> str:
    return f"--config={place.configuration}/{file}"


def node_arguments(place: SandboxPaths, ports: Ports) -> list[str]:
    """Python runs it: it finds everything in one file."""
    del ports  # it is in that file
    return ["-m", "holdfast.sandbox.node.supervise", f"{place.configuration}/node.json"]


ETCD = Program("etcd", etcd_arguments, stop_seconds=10)
# Collecting garbage twice as often keeps 40 MB less, at a start that is no slower.
API_SERVER = Program("kube-apiserver", api_server_arguments, {"GOGC": "50"}, stop_seconds=10)
CONTROLLER_MANAGER = Program("kube-controller-manager", controller_manager_arguments)
SCHEDULER = Program("kube-scheduler", scheduler_arguments)
KWOK = Program("kwok", kwok_arguments)
NODE = Program("node", node_arguments, stop_seconds=15)

PROGRAMS = (ETCD, API_SERVER, CONTROLLER_MANAGER, SCHEDULER, KWOK)
"""In the order of starting; stopped in the opposite order, because an API server that loses its
etcd first never ends."""

_WITH_NODE = {
    API_SERVER.name: replace(API_SERVER, arguments=api_server_arguments_with_node),
    KWOK.name: replace(KWOK, arguments=kwok_arguments_with_node),
}


def programs_of(record: SandboxRecord) -> tuple[Program, ...]:
    """The programs of one sandbox, in the order of starting."""
    if not record.has_node:
        return PROGRAMS
    return (*(_WITH_NODE.get(program.name, program) for program in PROGRAMS), NODE)
