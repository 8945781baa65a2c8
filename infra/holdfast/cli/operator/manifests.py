"""`holdfast operator manifests`: what `install` would apply, printed. Wiring."""

import click

from holdfast.cli.operator.objects import operator_options
from holdfast.kube.objects import KubeObject
from holdfast.kube.yaml_text import yaml_documents


@click.command()
@operator_options
def command(objects: list[KubeObject]) -> None:
    """Print what `holdfast operator install` applies.

    The definitions of Holdfast's kinds; with -s also the operator of that stack: two replicas of
    which one holds a lease, rights to read exactly the kinds that the stack renders, and to write
    in its namespaces only what the operator puts back or applies.

    \b
    Examples:
      holdfast operator manifests | kubectl apply --server-side -f -
      holdfast operator manifests -s prod --image registry.example/holdfast@sha256:... \\
        --api-server 10.96.0.1/32
    """
    click.echo(yaml_documents(objects), nl=False)
