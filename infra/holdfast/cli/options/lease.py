"""The option --lease of those who write for ever: which lease lets them. Wiring."""

import os
import secrets
from collections.abc import Callable
from typing import Final

import click

from holdfast.adapters.cluster.client import ApiClient
from holdfast.adapters.cluster.kubeconfig import Connection
from holdfast.adapters.cluster.leadership import Leadership
from holdfast.adapters.cluster.lease import LEASE_SECONDS, Lease
from holdfast.errors import InputError

LeasePlace = tuple[str, str]
"""Namespace and name."""

lease_option: Final = click.option(
    "--lease",
    metavar="NAMESPACE/NAME",
    help="Lease that the writer holds; default LEASE_NAMESPACE/LEASE_NAME, else none is taken.",
)


def lease_place(option: str | None) -> LeasePlace | None:
    """Where the lease lies: as the option says, else the environment; None for no lease.

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


def leadership_of(
    place: LeasePlace, instance: str, connect: Callable[[], Connection], lost: Callable[[str], None]
) -> Leadership:
    """Holds the lease at a place, as one process of an instance.

    Args:
        place: Where the lease lies.
        instance: Name of the pod or machine.
        connect: Finds the cluster.
        lost: Told once, from another thread, why the lease is held no longer.
    """
    # Its own connection: a renewal must not wait behind the work that it guards.
    client = ApiClient(connect(), LEASE_SECONDS / 3, connect)
    # Machines may have the same name, and containers the same process number.
    holder = f"{instance}_{os.getpid()}_{secrets.token_hex(4)}"
    return Leadership(Lease(client, *place, holder), lost)
