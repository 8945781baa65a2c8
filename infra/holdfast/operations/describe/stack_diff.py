"""What two stacks run differently: what their commits render, and what their clusters hold."""

import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from holdfast.adapters.git.source import Commit, commit_named, commits_between
from holdfast.drift.object_drift import deviations_of
from holdfast.errors import HoldfastError, InputError
from holdfast.kube.objects import KubeObject, ObjectRef, reference_of
from holdfast.kube.paths import Path as FieldPath
from holdfast.kube.paths import format_path
from holdfast.manifest.stack.stack_files import read_stack_file
from holdfast.manifest.types.marks import agent_of
from holdfast.operations.describe.compare import (
    ABSENT,
    LiveComparison,
    StackValueDifference,
    differences_of_objects,
)
from holdfast.operations.scan.request import ScanRequest
from holdfast.operations.scan.scanner import Scan, Scanner
from holdfast.operations.stack.commit_project import project_at
from holdfast.operations.stack.context import no_such_agent
from holdfast.operations.stack.update_history import update_records


@dataclass(frozen=True)
class Deployed:
    """What a stack runs.

    Attributes:
        commit: Of its last successful update.
        objects: What that commit renders for the stack.
    """

    stack: str
    commit: Commit
    objects: tuple[KubeObject, ...]


@dataclass(frozen=True)
class StackDifference:
    """What two stacks run differently.

    Attributes:
        sides: What either runs.
        only: Commits that only the one, and only the other has in its history, newest first.
        differences: Values of their objects, agent by agent.
    """

    sides: tuple[Deployed, Deployed]
    only: tuple[Sequence[Commit], Sequence[Commit]]
    differences: tuple[StackValueDifference, ...]


@dataclass(frozen=True)
class CommitChange:
    """What a commit would change in the history that a stack runs.

    Attributes:
        current: What it runs; None where it has run no commit that is known here.
        new: Commits that would be new to it.
        lost: Commits that would be taken from it.
    """

    stack: str
    current: Commit | None
    new: Sequence[Commit] = ()
    lost: Sequence[Commit] = ()


def commit_of_stack(root: Path, stack: str) -> Commit | None:
    """The commit that a stack was last brought to; None without one, or with one not known here."""
    done = [each for each in update_records(root, stack) if each.has_succeeded and each.commit]
    try:
        return commit_named(root, done[-1].commit) if done else None
    except InputError:
        return None


def deployed(root: Path, stack: str) -> Deployed:
    """What a stack runs, rendered by the code of its commit.

    Raises:
        InputError: it was never updated from a commit that this repository has.
        HoldfastError: that commit cannot be rendered.
    """
    commit = commit_of_stack(root, stack)
    if commit is None:
        raise InputError(
            f"stack {stack} was never updated from a commit that is known here",
            remedy=f"see `holdfast history {stack}`; `holdfast diff --source files` compares files",
        )
    with project_at(root, commit.name) as project:
        done = project.holdfast("render", "-s", stack, "-o", "json")
    if done.returncode:
        raise HoldfastError(f"{commit.short} cannot be rendered for {stack}: {done.stderr.strip()}")
    return Deployed(stack, commit, tuple(json.loads(done.stdout)["items"]))


def stack_difference(root: Path, first: str, second: str, agent: str) -> StackDifference:
    """What two stacks run differently, each at the commit that it was last brought to.

    Args:
        root: Folder of Pulumi.yaml.
        first: One stack.
        second: The other one.
        agent: Only this one; empty for all of them.

    Raises:
        InputError: there is no such stack, it runs no commit that is known here, or neither has
            such an agent.
        HoldfastError: a commit cannot be rendered.
    """
    if first == second:
        raise InputError("these are the same stack", remedy="name two")
    for stack in (first, second):
        read_stack_file(root, stack)
    sides = (deployed(root, first), deployed(root, second))
    names = (sides[0].commit.name, sides[1].commit.name)
    found = tuple(differences(*sides, agent))
    only = (commits_between(root, names[1], names[0]), commits_between(root, names[0], names[1]))
    return StackDifference(sides, only, found)


def differences(first: Deployed, second: Deployed, agent: str) -> list[StackValueDifference]:
    """Every value in which the objects of two stacks differ, agent by agent.

    Raises:
        InputError: neither stack has such an agent.
    """
    sides = [_by_agent(each.objects) for each in (first, second)]
    names = sorted({*sides[0], *sides[1]})
    if agent and agent not in names:
        raise no_such_agent(agent, names)
    return [
        each
        for name in ([agent] if agent else names)
        for each in differences_of_objects(name, *(side.get(name, []) for side in sides))
    ]


def commit_change(root: Path, stack: str, commit: Commit) -> CommitChange:
    """Which commits would be new to a stack, or would be taken from it."""
    current = commit_of_stack(root, stack)
    if current is None:
        return CommitChange(stack, None)
    new, lost = (
        commits_between(root, *pair)
        for pair in ((current.name, commit.name), (commit.name, current.name))
    )
    return CommitChange(stack, current, new, lost)


def _by_agent(objects: tuple[KubeObject, ...]) -> Mapping[str, list[Any]]:
    found: dict[str, list[Any]] = {}
    for one in objects:
        found.setdefault(agent_of(one), []).append(one)
    return found


AS_RENDERED = "as rendered"
_Key = tuple[str, str, str]


def compare_live(root: Path, stacks: tuple[str, str], agent: str) -> LiveComparison:
    """Compare what runs for two stacks, apart from what they render differently.

    Args:
        root: Folder of Pulumi.yaml.
        stacks: Their names.
        agent: Only this one; empty for all of them.

    Raises:
        InputError: neither stack has the agent, or they are one stack.
        HoldfastError: a stack or its cluster cannot be read.
    """
    if len(set(stacks)) == 1:
        raise InputError("these are the same stack", remedy="name two")
    scans = [Scanner(ScanRequest(root, stack)).scan(keeps_all=True) for stack in stacks]
    names = {agent_of(one) for scan in scans for one in scan.desired.values()} - {""}
    if agent and agent not in names:
        raise no_such_agent(agent, sorted(names))
    first, second = (dict(_deviations(scan, agent)) for scan in scans)
    differences = [
        StackValueDifference(key[0], f"{key[1]}: {key[2]}".removesuffix(": "), values)
        for key in sorted({*first, *second})
        if len(set(values := (first.get(key, AS_RENDERED), second.get(key, AS_RENDERED)))) > 1
    ]
    not_checked = [
        (stack, item)
        for stack, scan in zip(stacks, scans, strict=True)
        for item in scan.report.not_checked
    ]
    return LiveComparison(tuple(differences), tuple(not_checked))


def _deviations(scan: Scan, wanted: str) -> Iterator[tuple[_Key, str]]:
    """Agent, object and path of each deviation, with the live value as text."""
    for identity, desired in scan.desired.items():
        agent = agent_of(desired)
        if (wanted and agent != wanted) or identity in scan.live.unread:
            continue
        ref = reference_of(desired)
        for path, value in _of_object(scan, ref, desired):
            yield (agent, str(ref), format_path(path)), value


def _of_object(scan: Scan, ref: ObjectRef, desired: KubeObject) -> Iterator[tuple[FieldPath, str]]:
    live = scan.live.objects.get(ref.identity)
    if live is None:
        yield (), ABSENT
        return
    for path, _, found in deviations_of(ref, desired, live, scan.context):
        text = ABSENT if found is None else json.dumps(found, ensure_ascii=False, sort_keys=True)
        yield path, text
