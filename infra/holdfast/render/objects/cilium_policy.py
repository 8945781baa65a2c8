"""The CiliumNetworkPolicy of an agent: the domains that it may reach, by name.

Source: Cilium documentation, "DNS based" under "Layer 3 Examples". Beside the NetworkPolicy, not in
its place: what either lets through is open.
"""

from collections.abc import Sequence

from holdfast.errors import RenderError
from holdfast.kube.objects import KubeObject
from holdfast.manifest.stack.environment import PodGroup
from holdfast.manifest.types.hosts import HostKind, host_kind
from holdfast.render.plan.marks import AgentMarks, RenderedObject
from holdfast.render.plan.surroundings import Host


def render_domains(
    marks: AgentMarks, hosts: Sequence[Host], dns: PodGroup, suffix: str = ""
) -> list[RenderedObject]:
    """The policy that opens these domains, each at its port.

    Args:
        marks: The agent's marks.
        hosts: Domains, `*.` before them or not, in order of name.
        dns: The cluster's DNS: Cilium learns a domain's addresses from the look-ups it sees.
        suffix: Of the pods `<agent>-<suffix>` that it is for; by default the agent's own.

    Raises:
        RenderError: a host is an address, which no policy of domains can open.
    """
    addresses = [host.name for host in hosts if host_kind(host.name) is HostKind.ADDRESS]
    if addresses:
        raise RenderError(
            f"agent {marks.name}: reaches {', '.join(addresses)}, which no declared range covers",
            remedy="add the address to network.egress.cidrs",
        )
    rules = [_look_ups(dns)]
    for port in sorted({host.port for host in hosts}):
        names = [_selector(host.name) for host in hosts if host.port == port]
        ports = [{"port": str(port), "protocol": "TCP"}]
        rules.append({"toFQDNs": names, "toPorts": [{"ports": ports}]})
    name = f"{marks.name}-{suffix}" if suffix else marks.name
    selector = marks.selector() | {"app.kubernetes.io/name": name}
    manifest: KubeObject = {
        "apiVersion": "cilium.io/v2",
        "kind": "CiliumNetworkPolicy",
        "metadata": marks.metadata(suffix),
        "spec": {"endpointSelector": {"matchLabels": selector}, "egress": rules},
    }
    role = f"{suffix}-ciliumnetworkpolicy" if suffix else "ciliumnetworkpolicy"
    return [RenderedObject(marks.name, role, manifest)]


def _look_ups(dns: PodGroup) -> KubeObject:
    labels = {f"k8s:{key}": value for key, value in dns.pod_labels.items()}
    endpoint = {"matchLabels": {"k8s:io.kubernetes.pod.namespace": dns.namespace} | labels}
    ports = [{"port": "53", "protocol": "ANY"}]
    seen = {"dns": [{"matchPattern": "*"}]}
    return {"toEndpoints": [endpoint], "toPorts": [{"ports": ports, "rules": seen}]}


def _selector(domain: str) -> KubeObject:
    return {"matchPattern" if domain.startswith("*.") else "matchName": domain}
