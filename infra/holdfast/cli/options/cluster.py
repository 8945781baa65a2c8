"""The options that name a cluster."""

from pathlib import Path
from typing import Final

import click

KUBECONFIG: Final = click.option(
    "--kubeconfig",
    type=click.Path(path_type=Path),
    help="Default: KUBECONFIG, ~/.kube/config, in-cluster.",
)
"""A file that need not exist: what reads it says so, with a remedy."""
