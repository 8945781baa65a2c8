"""What tests on the real node share: a sandbox with one, or the reason why there is none."""

import secrets
from collections.abc import Iterator
from pathlib import Path

import pytest
from holdfast.errors import SandboxError
from holdfast.sandbox.node.requirements import require_node
from holdfast.sandbox.paths import SandboxPaths

from tests.e2e.live_sandbox import LiveSandbox


@pytest.fixture(scope="module")
def sandbox(tmp_path_factory: pytest.TempPathFactory) -> Iterator[LiveSandbox]:
    """A fresh sandbox with a real node; skipped with the reason where none can run."""
    state = tmp_path_factory.mktemp("s")
    name = f"n{secrets.token_hex(3)}"
    skip_without_node(state / "sandboxes" / name)
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("HOLDFAST_STATE", str(state))
        live = LiveSandbox.start(name, state, "--node")
        yield live
        live.stop()


def skip_without_node(directory: Path) -> None:
    """Skip a test where no node can run; the reason names what is missing."""
    try:
        require_node(SandboxPaths(directory.name, directory))
    except SandboxError as error:
        pytest.skip(str(error))
