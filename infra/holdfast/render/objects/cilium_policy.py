"""The CiliumNetworkPolicy of an agent: the domains that it may reach, by name.

Source: Cilium documentation, "DNS based" under "Layer 3 Examples". Beside the NetworkPolicy, not in
its place: what either lets through is open.
"""

from collections.abc import Sequence

from holdfast.errors import RenderError
from holdfast.kube.objects import KubeObject
from holdfast.manifest.stack.environment import DnsService
from holdfast.manifest.types.hosts import HostKind, host_kind
from holdfast.render.plan.metadata import AgentMetadata, RenderedObject
from holdfast.render.plan.render_context import Host


def render_domains(
    meta: AgentMetadata,
    hosts: Sequence[Host],
    dns: DnsService,
    suffix: str = "",
    *,
    asks_api_server: bool = False,
) -> list[RenderedObject]:
    """The policy that opens these domains, each at its port, and the API server.

    Args:
        meta: The agent's marks.
        hosts: Domains, `*.` before them or not, in order of name.
        dns: The cluster's DNS: Cilium learns a domain's addresses from the look-ups it sees.
        suffix: Of the pods `<agent>-<suffix>` that it is for; by default the agent's own.
        asks_api_server: Open the API server, which Cilium knows by no range of addresses.

    Raises:
        RenderError: a host is an address, which no policy of domains can open.
    """
    addresses = [host.name for host in hosts if host_kind(host.name) is HostKind.ADDRESS]
    if addresses:
        raise RenderError(
            f"agent {meta.name}: reaches {', '.join(addresses)}, which no declared range covers",
            remedy="add its address to network.egress, as {cidr}",
        )
    rules = [_look_ups(dns)] if hosts else []
    for port, protocol in sorted({(host.port, host.protocol) for host in hosts}):
        at_port = [each for each in hosts if (each.port, each.protocol) == (port, protocol)]
        names = [_selector(host.name) for host in at_port]
        ports = [{"port": str(port), "protocol": protocol}]
        rules.append({"toFQDNs": names, "toPorts": [{"ports": ports}]})
    if asks_api_server:
        rules.append({"toEntities": ["kube-apiserver"]})
    # Whatever the NetworkPolicy beside it is for: the check and the standby are among it.
    selector = meta.beside(suffix).selector() if suffix else meta.network_selector()
    manifest: KubeObject = {
        "apiVersion": "cilium.io/v2",
        "kind": "CiliumNetworkPolicy",
        "metadata": meta.metadata(suffix),
        "spec": {"endpointSelector": {"matchLabels": selector}, "egress": rules},
    }
    role = f"{suffix}-ciliumnetworkpolicy" if suffix else "ciliumnetworkpolicy"
    return [RenderedObject(meta.name, role, manifest)]


def _look_ups(dns: DnsService) -> KubeObject:
    labels = {f"k8s:{key}": value for key, value in dns.pod_labels.items()}
    endpoint = {"matchLabels": {"k8s:io.kubernetes.pod.namespace": dns.namespace} | labels}
    ports = [{"port": str(dns.port), "protocol": "ANY"}]
    seen = {"dns": [{"matchPattern": "*"}]}
    return {"toEndpoints": [endpoint], "toPorts": [{"ports": ports, "rules": seen}]}


def _selector(domain: str) -> KubeObject:
    return {"matchPattern" if domain.startswith("*.") else "matchName": domain}
