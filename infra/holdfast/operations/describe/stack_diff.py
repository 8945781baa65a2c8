"""What two stacks run differently: their commits, and what those render."""

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from holdfast.adapters.git.source import Commit, commit_named, commits_between
from holdfast.errors import HoldfastError, InputError
from holdfast.kube.objects import KubeObject
from holdfast.manifest.stack.stack_files import read_stack_file
from holdfast.manifest.types.agent_label import agent_of
from holdfast.operations.describe.compare import Difference, differences_of_objects
from holdfast.operations.stack.commit_project import project_at
from holdfast.operations.stack.lookup import no_such_agent
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
    differences: tuple[Difference, ...]


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


def differences(first: Deployed, second: Deployed, agent: str) -> list[Difference]:
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
