"""The Kubernetes provider of a stack, with every setting explicit."""

import pulumi
from pulumi_kubernetes import Provider

from holdfast.manifest.stack.environment import Environment


def kubernetes_provider(environment: Environment, stack: str) -> Provider:
    """The provider for the stack's cluster.

    Kept in the stack's state, so that a refresh run by hand is as fast as an update. The kubeconfig
    itself comes from the surroundings (KUBECONFIG): its place differs between machines.
    """
    cluster = environment.cluster
    return Provider(
        "kubernetes",
        # Left out, the SDK would record the value of KUBECONFIG in the state, and a refresh would
        # go on with that path on every machine.
        kubeconfig="",
        context=cluster.context,
        # Without a stable name, a moved kubeconfig would plan to replace everything.
        cluster_identifier=cluster.identifier or stack,
        enable_server_side_apply=True,
        # Named ConfigMaps change in place; otherwise agents would briefly have none.
        enable_config_map_mutable=True,
        enable_secret_mutable=True,
        kube_client_settings={"qps": cluster.client_qps, "burst": cluster.client_burst},
        opts=pulumi.ResourceOptions(protect=False),
    )
