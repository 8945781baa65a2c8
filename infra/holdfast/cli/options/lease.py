"""The option --lease of the controllers that write: which lease lets them."""

import os
from typing import Final

import click

from holdfast.errors import InputError

lease_option: Final = click.option(
    "--lease",
    metavar="NAMESPACE/NAME",
    help="Lease that the writer holds; default LEASE_NAMESPACE/LEASE_NAME, else none is taken.",
)


def lease_place(option: str | None) -> tuple[str, str] | None:
    """Namespace and name of the lease: of the option, else the environment; None for no lease.

    Raises:
        InputError: it is no NAMESPACE/NAME.
    """
    named, source = option, "--lease"
    # An empty variable is how a pod's template leaves one out.
    if named is None and os.environ.get("LEASE_NAME"):
        source = "LEASE_NAMESPACE/LEASE_NAME"
        named = f"{os.environ.get('LEASE_NAMESPACE') or 'default'}/{os.environ['LEASE_NAME']}"
    if named is None:
        return None
    namespace, separator, name = named.partition("/")
    if not (separator and namespace and name) or "/" in name:
        raise InputError(
            f"{source} {named!r}: expected NAMESPACE/NAME", remedy="such as ops/holdfast-prod"
        )
    return namespace, name
