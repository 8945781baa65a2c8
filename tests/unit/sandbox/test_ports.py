"""Ports of a sandbox are free, differ, and are not given to others while a program restarts."""

import socket
from collections.abc import Iterator
from dataclasses import astuple
from itertools import count

import pytest
from holdfast.sandbox import ports
from holdfast.sandbox.paths import LOOPBACK
from holdfast.sandbox.record import Ports


@pytest.fixture
def taken() -> Iterator[int]:
    """A port that somebody listens on, outside those of outgoing connections."""
    with socket.socket() as listening:
        for number in count(30_000):
            try:
                listening.bind((LOOPBACK, number))
            except OSError:
                continue
            listening.listen()
            yield number
            return


def test_ports_differ_and_are_none_of_those_for_outgoing_connections() -> None:
    chosen = astuple(ports.choose_ports())

    assert len(set(chosen)) == 3
    assert all(20_000 <= number < 30_000 for number in chosen)


def test_a_port_that_is_taken_is_not_chosen(taken: int, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(ports, "_CHOSEN_FROM", [taken])

    assert taken not in astuple(ports.choose_ports())
    assert ports.busy_ports(Ports(taken, *astuple(ports.choose_ports())[1:])) == (taken,)
