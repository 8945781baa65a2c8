"""The state of a stack under test: its files, what they record, and that a second run mends it."""

import gzip
import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

from holdfast.adapters.engine.backend.file_backend import FileHistory
from holdfast.adapters.engine.stack import Stack
from holdfast.adapters.engine.state.interrupted import interrupted, recover_interrupted

from tests.e2e.pulumi_project import PulumiProject


def files_of(stack: Stack) -> FileHistory:
    """The backend's files of the stack."""
    assert stack.files is not None
    return stack.files


def state_file(stack: Stack) -> Path:
    """The file that holds the stack's state."""
    path = files_of(stack).current_path()
    assert path is not None
    return path


def edited(path: Path, change: Callable[[dict[str, Any]], object]) -> None:
    """Change what a state file says."""
    document = json.loads(gzip.decompress(path.read_bytes()))
    change(document)
    path.write_bytes(gzip.compress(json.dumps(document).encode()))


def names_in_state(stack: Stack) -> list[str]:
    """Names of the Kubernetes objects that the state records."""
    found = [each for each in stack.export().resources if each.kubernetes_object()]
    return sorted(each.urn.rpartition("::")[2] for each in found)


def recovered(stack: Stack) -> list[str]:
    """What `holdfast up --recover` does before the update, and what it says of it."""
    refusal = interrupted(stack).refusal(stack.name)
    assert refusal is not None
    said = list(recover_interrupted(stack, interrupted(stack)))
    assert interrupted(stack).refusal(stack.name) is None
    return said


def assert_converges(project: PulumiProject, stack: Stack, *names: str) -> None:
    """One more update, then nothing is left to do, and each object is there and recorded once."""
    stack.up()
    assert not stack.preview(refresh=True).steps
    assert names_in_state(stack) == sorted(names)
    assert interrupted(stack).pending == ()
    assert files_of(stack).holders() == ()
