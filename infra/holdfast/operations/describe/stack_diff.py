"""What two stacks run differently: their commits, and what those render. Wiring."""

import json
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import click

from holdfast.adapters.git.source import Commit, commit_named, commits_between
from holdfast.errors import HoldfastError, InputError
from holdfast.kube.objects import KubeObject
from holdfast.manifest.types.agent_label import agent_of
from holdfast.operations.describe.compare import differences_of_objects
from holdfast.operations.stack.agent_names import no_such_agent
from holdfast.operations.stack.commit_project import project_at
from holdfast.operations.stack.update_history import update_records
from holdfast.report.text.explanation import Difference

_MOST_COMMITS_NAMED = 100


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
            remedy=f"see `holdfast history {stack}`; `holdfast explain --compare` compares files",
        )
    with project_at(root, commit.name) as project:
        done = project.holdfast("render", "-s", stack, "-o", "json")
    if done.returncode:
        raise HoldfastError(f"{commit.short} cannot be rendered for {stack}: {done.stderr.strip()}")
    return Deployed(stack, commit, tuple(json.loads(done.stdout)["items"]))


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


def tell_commits(root: Path, stack: str, commit: Commit) -> None:
    """Tell which commits would be new to a stack, or would be taken from it."""
    current = commit_of_stack(root, stack)
    if current is None:
        click.echo(f"{stack} has run no commit that is known here", err=True)
        return
    new, lost = (
        commits_between(root, *pair)
        for pair in ((current.name, commit.name), (commit.name, current.name))
    )
    click.echo(f"{stack} runs {current.short}: {len(new)} commits are new to it", err=True)
    for mark, commits in (("+", new), ("-", lost)):
        for each in commits[:_MOST_COMMITS_NAMED]:
            click.echo(f"  {mark} {each.short} {each.subject}", err=True)
        if len(commits) > _MOST_COMMITS_NAMED:
            click.echo(f"  {mark} and {len(commits) - _MOST_COMMITS_NAMED} more", err=True)


def _by_agent(objects: tuple[KubeObject, ...]) -> Mapping[str, list[Any]]:
    found: dict[str, list[Any]] = {}
    for one in objects:
        found.setdefault(agent_of(one), []).append(one)
    return found
