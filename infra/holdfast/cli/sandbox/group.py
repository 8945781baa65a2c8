"""`holdfast sandbox`: a real local control plane, started in seconds."""

import click

from holdfast.cli.command_tree import VERBS, LazyGroup


@click.group(cls=LazyGroup, verbs=VERBS["sandbox"].below)
def command() -> None:
    """Run a real local control plane, started in seconds.

    etcd, API server, controller manager and scheduler, with nodes, pods, volumes and load balancers
    played by kwok: what is applied gets ready at once, and no image is pulled. It listens on the
    loopback address only. RBAC and the audit log are on; `admin` may do everything, `alice` edit
    workloads, `bob` only read.

    \b
    Examples:
      holdfast sandbox up
      export KUBECONFIG=$(holdfast sandbox kubeconfig)
      kubectl get nodes
      holdfast sandbox down
    """
