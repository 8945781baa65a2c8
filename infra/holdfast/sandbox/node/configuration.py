"""Configuration files of a real node's programs.

Pure: settings in, texts out. Sources: the reference of KubeletConfiguration v1beta1,
KubeProxyConfiguration v1alpha1, EgressSelectorConfiguration v1beta1; containerd's config.md
(version 3) and cri/config.md; the CNI specification 1.0.0.
"""

import json
from typing import Any

from holdfast.sandbox.node.settings import (
    CLUSTER_DOMAIN,
    CONTAINERD_SOCKET,
    DNS_ADDRESS,
    NODE_ADDRESS,
    PAUSE_IMAGE,
    POD_SUBNET,
    NodeSettings,
)
from holdfast.sandbox.paths import LOOPBACK, SandboxPaths
from holdfast.sandbox.programs import POD_NETWORK


def node_files(settings: NodeSettings) -> dict[str, str]:
    """Name and content of each file."""
    return {
        "containerd.toml": _containerd(settings),
        "kubelet.yaml": _text(_kubelet(settings)),
        "kube-proxy.yaml": _text(_kube_proxy(settings)),
        "resolv.conf": "",
        "cni/10-node.conflist": _text(_cni()),
    }


def egress_selector(place: SandboxPaths) -> str:
    """The way of the API server into the node's network: logs, exec, webhooks in pods."""
    # Relative to the folder in which the API server is started: a socket's path has 107 bytes.
    transport = {"uds": {"udsName": place.node_socket.name}}
    connection = {"proxyProtocol": "HTTPConnect", "transport": transport}
    return _text(
        {
            "apiVersion": "apiserver.k8s.io/v1beta1",
            "kind": "EgressSelectorConfiguration",
            "egressSelections": [{"name": "cluster", "connection": connection}],
        }
    )


def _containerd(settings: NodeSettings) -> str:
    return f"""\
version = 3
root = "{settings.place.node}/containerd"
state = "/run/containerd"
disabled_plugins = [
  "io.containerd.tracing.processor.v1.otlp", "io.containerd.internal.v1.tracing",
]
[grpc]
  address = "{CONTAINERD_SOCKET}"
[plugins.'io.containerd.cri.v1.images']
  snapshotter = "overlayfs"
[plugins.'io.containerd.cri.v1.images'.pinned_images]
  sandbox = "{PAUSE_IMAGE}"
[plugins.'io.containerd.cri.v1.runtime']
  # Root of a container may lack the capability to lower a score; runc would fail.
  restrict_oom_score_adj = true
[plugins.'io.containerd.cri.v1.runtime'.cni]
  bin_dirs = ["{settings.cni_plugins}"]
  conf_dir = "{settings.configuration("cni")}"
[plugins.'io.containerd.cri.v1.runtime'.containerd]
  default_runtime_name = "runc"
[plugins.'io.containerd.cri.v1.runtime'.containerd.runtimes.runc]
  runtime_type = "io.containerd.runc.v2"
[plugins.'io.containerd.cri.v1.runtime'.containerd.runtimes.runc.options]
  BinaryName = "{settings.runc}"
  SystemdCgroup = false
"""


def _kubelet(settings: NodeSettings) -> dict[str, Any]:
    authority = f"{settings.place.certificates}/ca.crt"
    return {
        "apiVersion": "kubelet.config.k8s.io/v1beta1",
        "kind": "KubeletConfiguration",
        "failCgroupV1": False,
        "failSwapOn": False,
        "cgroupDriver": "cgroupfs",
        "cgroupRoot": f"/{settings.cgroup}",
        "containerRuntimeEndpoint": f"unix://{CONTAINERD_SOCKET}",
        "address": NODE_ADDRESS,
        "healthzBindAddress": LOOPBACK,
        "readOnlyPort": 0,
        "authentication": {
            "anonymous": {"enabled": False},
            "webhook": {"enabled": True},
            "x509": {"clientCAFile": authority},
        },
        "authorization": {"mode": "Webhook"},
        "clusterDomain": CLUSTER_DOMAIN,
        "clusterDNS": [DNS_ADDRESS],
        "resolvConf": str(settings.configuration("resolv.conf")),
        "podLogsDir": f"{settings.place.node}/pod-logs",
        "volumePluginDir": f"{settings.place.node}/volume-plugins",
        # What was loaded cannot be pulled again: it is kept, and the disk of a laptop may be full.
        "imageGCHighThresholdPercent": 100,
        "imageGCLowThresholdPercent": 99,
        "evictionHard": {
            "memory.available": "100Mi",
            "nodefs.available": "1%",
            "imagefs.available": "1%",
        },
        # kube-proxy works with nftables; nothing needs the chains of iptables.
        "makeIPTablesUtilChains": False,
        "serializeImagePulls": False,
        # Changed ConfigMaps and Secrets reach their files within seconds.
        "syncFrequency": "5s",
    }


def _kube_proxy(settings: NodeSettings) -> dict[str, Any]:
    return {
        "apiVersion": "kubeproxy.config.k8s.io/v1alpha1",
        "kind": "KubeProxyConfiguration",
        "mode": "nftables",
        "bindAddress": NODE_ADDRESS,
        "healthzBindAddress": f"{LOOPBACK}:10256",
        "metricsBindAddress": f"{LOOPBACK}:10249",
        "clusterCIDR": POD_NETWORK,
        "clientConnection": {"kubeconfig": str(settings.place.kubeconfig("kube-proxy"))},
        # The size of the table of connections is a setting of the whole machine.
        "conntrack": {"maxPerCore": 0},
    }


def _cni() -> dict[str, Any]:
    addresses = {
        "type": "host-local",
        "dataDir": "/run/cni-addresses",
        "ranges": [[{"subnet": POD_SUBNET}]],
        "routes": [{"dst": "0.0.0.0/0"}],
    }
    return {
        "cniVersion": "1.0.0",
        "name": "node",
        "plugins": [{"type": "ptp", "ipMasq": False, "mtu": 1500, "ipam": addresses}],
    }


def _text(content: dict[str, Any]) -> str:
    # JSON, which every reader of YAML reads.
    return f"{json.dumps(content, indent=2)}\n"
