"""`holdfast sandbox`: a real local control plane; each verb has its own file."""

import click

from holdfast.cli.verb_parts import GroupOfParts

PARTS = {
    "up": ("holdfast.cli.sandbox.up", "start a sandbox, or repair it"),
    "down": ("holdfast.cli.sandbox.down", "stop a sandbox and delete its cluster"),
    "status": ("holdfast.cli.sandbox.status", "show whether a sandbox is fit for use"),
    "list": ("holdfast.cli.sandbox.list", "list all sandboxes"),
    "logs": ("holdfast.cli.sandbox.logs", "print the log of a program, or of all of them"),
    "kubeconfig": ("holdfast.cli.sandbox.kubeconfig", "print the path of a kubeconfig"),
}


@click.group(cls=GroupOfParts, parts=PARTS)
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
