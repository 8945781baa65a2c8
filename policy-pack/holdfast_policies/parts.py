"""How a rule goes over the parts of an object, so that an unknown in one does not hide the others.

A rule about containers is a function of one container; `containers` makes it a check of an object.
"""

from collections.abc import Callable, Iterable, Iterator, Mapping
from typing import Any, TypeVar

from holdfast_policies.decode.unknown import (
    UndeterminedError,
    is_unknown,
    raw_items,
    unknown_path,
)
from holdfast_policies.finding import Finding, Undecided
from holdfast_policies.rule import Check, Settings
from holdfast_policies.subject import Container, Pod, Subject, field_path, item_path, items, mapping

_A = TypeVar("_A")
_B = TypeVar("_B")


def guarded(
    check: Callable[[_A, _B], Iterable[Finding]], first: _A, second: _B
) -> Iterator[Finding]:
    """What a check finds; when it touches an unknown, what it found before and `Undecided`."""
    try:
        yield from check(first, second)
    except UndeterminedError as signal:
        yield Undecided(signal.path)


def each(
    values: object, path: str, check: Callable[[Any, str], Iterable[Finding]], key: str = "name"
) -> Iterator[Finding]:
    """What a check finds in every item of a list, given the item and its path."""
    for index, value in enumerate(raw_items(items(values))):
        if is_unknown(value):
            yield Undecided(unknown_path(value) or f"{path}[{index}]")
        else:
            yield from guarded(check, value, item_path(path, index, value, key))


def pods(check: Callable[[Pod, Settings], Iterable[Finding]]) -> Check:
    """A check of the pod an object is or makes, once an object."""

    def check_subject(subject: Subject, settings: Settings) -> Iterator[Finding]:
        pod = subject.pod
        if pod is not None:
            yield from check(pod, settings)

    return check_subject


def containers(check: Callable[[Container, Settings], Iterable[Finding]]) -> Check:
    """A check of every container of the pod an object is or makes."""

    def check_subject(subject: Subject, settings: Settings) -> Iterator[Finding]:
        pod = subject.pod
        for container in pod.containers if pod is not None else ():
            if isinstance(container, Undecided):
                yield container
                continue
            yield from guarded(check, container, settings)

    return check_subject


def volumes(check: Callable[[Mapping[str, Any], str, Settings], Iterable[Finding]]) -> Check:
    """A check of every volume of the pod an object is or makes, given the volume and its path."""

    def check_pod(pod: Pod, settings: Settings) -> Iterator[Finding]:
        path = field_path(pod.spec_path, "volumes")

        def check_volume(volume: object, volume_path: str) -> Iterable[Finding]:
            return check(mapping(volume), volume_path, settings)

        yield from each(pod.spec.get("volumes"), path, check_volume)

    return pods(check_pod)


def all_of(*checks: Check) -> Check:
    """Several checks as one; an unknown that stops one does not stop the others."""

    def check_subject(subject: Subject, settings: Settings) -> Iterator[Finding]:
        for check in checks:
            yield from guarded(check, subject, settings)

    return check_subject
