"""`holdfast operator manifests`: what `install` would apply, printed. Wiring."""

import click

from holdfast.manifest.custom_resource import custom_resource_definitions
from holdfast.report.yaml_text import yaml_documents


@click.command()
def command() -> None:
    """Print what `holdfast operator install` applies: the definitions of Holdfast's kinds.

    \b
    Example:
      holdfast operator manifests | kubectl apply --server-side -f -
    """
    click.echo(yaml_documents(custom_resource_definitions()), nl=False)
