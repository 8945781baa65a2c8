"""How a rule goes over the parts of an object, so that an unknown in one does not hide the others.

A rule about containers is a function of one container; `containers` makes it a check of an object.
"""

from collections.abc import Callable, Iterable, Mapping
from dataclasses import replace
from typing import Any, TypeVar

from holdfast_policies.decode.unknown import (
    UndeterminedError,
    is_unknown,
    raw_items,
    unknown_path,
)
from holdfast_policies.model.bounds import in_bounds
from holdfast_policies.model.finding import Finding, Undecided
from holdfast_policies.model.rule import Check, Settings, StackCheck
from holdfast_policies.model.stack import Stack
from holdfast_policies.model.subject import (
    Container,
    Pod,
    Subject,
    field_path,
    item_path,
    items,
    mapping,
)

_A = TypeVar("_A")
_B = TypeVar("_B")


def gather(
    findings: list[Finding], check: Callable[[_A, _B], Iterable[Finding]], first: _A, second: _B
) -> None:
    """Add what a check finds; when it touches an unknown, what it found before and `Undecided`."""
    try:
        findings.extend(check(first, second))
    except UndeterminedError as signal:
        findings.append(Undecided(signal.path))


def each(
    values: object, path: str, check: Callable[[Any, str], Iterable[Finding]], key: str = "name"
) -> list[Finding]:
    """What a check finds in every item of a list, given the item and its path.

    Args:
        values: The list; what is none has no items.
        path: Field path of the list.
        check: Judges one item.
        key: Field that names an item, as in Kubernetes' merge keys; empty for lists by index.
    """
    findings: list[Finding] = []
    listed = items(values)
    if not listed:
        return findings
    for index, value in enumerate(raw_items(listed)):
        in_bounds(index)
        if is_unknown(value):
            findings.append(Undecided(unknown_path(value) or f"{path}[{index}]"))
            continue
        try:
            # What holds no unknowns is asked for its name here: most of all items are such.
            if type(value) is dict and type(name := value.get(key)) is str and name:
                findings.extend(check(value, f"{path}[{key}={name}]"))
            else:
                findings.extend(check(value, item_path(path, index, value, key)))
        except UndeterminedError as signal:
            findings.append(Undecided(signal.path))
    return findings


def pods(check: Callable[[Pod, Settings], Iterable[Finding]]) -> Check:
    """A check of the pod an object is or makes, once an object."""

    def check_subject(subject: Subject, settings: Settings) -> Iterable[Finding]:
        pod = subject.pod
        return () if pod is None else check(pod, settings)

    return check_subject


def containers(check: Callable[[Container, Settings], Iterable[Finding]]) -> Check:
    """A check of every container of the pod an object is or makes."""

    def check_subject(subject: Subject, settings: Settings) -> Iterable[Finding]:
        findings: list[Finding] = []
        pod = subject.pod
        for container in pod.containers if pod is not None else ():
            if isinstance(container, Undecided):
                findings.append(container)
            else:
                gather(findings, check, container, settings)
        return findings

    return check_subject


def volumes(check: Callable[[Mapping[str, Any], str, Settings], Iterable[Finding]]) -> Check:
    """A check of every volume of the pod an object is or makes, given the volume and its path."""

    def check_pod(pod: Pod, settings: Settings) -> Iterable[Finding]:
        def check_volume(volume: object, path: str) -> Iterable[Finding]:
            return check(mapping(volume), path, settings)

        path = field_path(pod.spec_path, "volumes")
        return each(pod.spec.get("volumes"), path, check_volume)

    return pods(check_pod)


def workloads(check: Callable[[Subject, Stack, Settings], Iterable[Finding]]) -> StackCheck:
    """A check of every object of a stack that is or makes pods, given the object and the stack."""

    def check_stack(stack: Stack, settings: Settings) -> Iterable[Finding]:
        findings: list[Finding] = []
        for index, workload in enumerate(stack.workloads):
            in_bounds(index)
            found: list[Finding] = []
            gather(found, lambda each, stack: check(each, stack, settings), workload, stack)
            findings += [replace(finding, subject=workload) for finding in found]
        return findings

    return check_stack


def all_of(*checks: Check) -> Check:
    """Several checks as one; an unknown that stops one does not stop the others."""

    def check_subject(subject: Subject, settings: Settings) -> Iterable[Finding]:
        findings: list[Finding] = []
        for check in checks:
            gather(findings, check, subject, settings)
        return findings

    return check_subject
