"""Free TCP ports on the loopback address."""

import random
import socket
from contextlib import ExitStack, suppress
from typing import Final

from holdfast.sandbox.paths import LOOPBACK
from holdfast.sandbox.record import Ports

_CHOSEN_FROM: Final = range(20_000, 30_000)
"""Below what kernels give to outgoing connections: a client that tries a server again and again
while that is started anew would be given the very port, be connected to itself, and keep it. Below
the node ports of Kubernetes, too, which a machine may forward."""


def choose_ports() -> Ports:
    """Choose ports that are free now."""
    with ExitStack() as open_sockets:
        # All stay open until all are chosen, so that no two are the same.
        numbers = [_free_port(open_sockets) for _ in range(3)]
    return Ports(*numbers)


def busy_ports(ports: Ports) -> tuple[int, ...]:
    """Those of a stopped sandbox's ports that somebody else listens on by now."""
    numbers = (ports.api_server, ports.etcd, ports.etcd_peer)
    return tuple(number for number in numbers if not _is_free(number))


def _free_port(open_sockets: ExitStack) -> int:
    probe = open_sockets.enter_context(socket.socket())
    for number in random.sample(_CHOSEN_FROM, len(_CHOSEN_FROM)):
        with suppress(OSError):
            probe.bind((LOOPBACK, number))
            return number
    probe.bind((LOOPBACK, 0))
    return int(probe.getsockname()[1])


def _is_free(number: int) -> bool:
    with socket.socket() as probe:
        # Connections of the last run may linger in TIME_WAIT; a listener still refuses this bind.
        probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        try:
            probe.bind((LOOPBACK, number))
        except OSError:
            return False
    return True
