"""What two stacks run differently, as text and JSON."""

from typing import Any, Final

from holdfast.adapters.git.source import Commit
from holdfast.kube.text import safe_text
from holdfast.operations.describe.stack_diff import CommitChange, StackDifference
from holdfast.report.documents.json_text import json_text
from holdfast.report.text.explanation import difference_document, difference_text

_MOST_COMMITS_NAMED: Final = 100


def stack_difference_text(found: StackDifference) -> str:
    """Either commit, what only that one has, and every value that differs."""
    lines = []
    for side, commits in zip(found.sides, found.only, strict=True):
        lines.append(f"{side.stack} runs {_commit(side.commit)}")
        lines += [f"  only there: {_commit(commit)}" for commit in commits]
    first, second = (side.stack for side in found.sides)
    text = difference_text((first, second), found.differences)
    text = text or f"what {first} and {second} run does not differ\n"
    return "".join(f"{line}\n" for line in lines) + text


def stack_difference_json(found: StackDifference) -> str:
    """The same for programs."""
    stacks: list[dict[str, Any]] = [
        {
            "stack": side.stack,
            "commit": side.commit.name,
            "onlyHere": [{"commit": each.name, "subject": each.subject} for each in commits],
        }
        for side, commits in zip(found.sides, found.only, strict=True)
    ]
    names = [side.stack for side in found.sides]
    differences = difference_document(names, found.differences)
    return json_text({"stacks": stacks, "differences": differences})


def commit_change_text(change: CommitChange) -> str:
    """Which commits would be new to a stack, or would be taken from it, a line each."""
    if change.current is None:
        return f"{change.stack} has run no commit that is known here\n"
    count = len(change.new)
    lines = [f"{change.stack} runs {change.current.short}: {count} commits are new to it"]
    for mark, commits in (("+", change.new), ("-", change.lost)):
        lines += [f"  {mark} {_commit(each)}" for each in commits[:_MOST_COMMITS_NAMED]]
        if len(commits) > _MOST_COMMITS_NAMED:
            lines.append(f"  {mark} and {len(commits) - _MOST_COMMITS_NAMED} more")
    return "".join(f"{line}\n" for line in lines)


def _commit(commit: Commit) -> str:
    return safe_text(f"{commit.short} {commit.subject}")
