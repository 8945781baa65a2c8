"""What end-to-end tests share: a fresh sandbox for each file of tests, and kubectl on it.

One file's leftovers are never another's surprise, whatever the order and the worker.

A test whose agents need kinds of other projects takes `defined_sandbox` in place of `sandbox`.
"""

import os
import secrets
from collections.abc import Iterator

import pytest

from tests.e2e.live_sandbox import Kubectl, LiveSandbox


@pytest.fixture(scope="module")
def sandbox(tmp_path_factory: pytest.TempPathFactory) -> Iterator[LiveSandbox]:
    """A fresh sandbox of a unique name; HOLDFAST_STATE names its state for the whole file."""
    state = tmp_path_factory.mktemp("state")
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("HOLDFAST_STATE", str(state))
        live = LiveSandbox.start(f"e2e-{secrets.token_hex(4)}", state)
        yield live
        live.stop()


@pytest.fixture(scope="module")
def kubectl(sandbox: LiveSandbox) -> Kubectl:
    """kubectl on the file's sandbox, as admin unless told otherwise."""
    return Kubectl(sandbox)


@pytest.fixture(scope="module")
def defined_sandbox(sandbox: LiveSandbox) -> LiveSandbox:
    """The file's sandbox with the definitions of every controller that Holdfast renders for."""
    done = sandbox.run("up", "--with", "all")
    assert done.returncode == 0, done.stderr
    return sandbox


@pytest.fixture(scope="module")
def engine_of_the_toolchain() -> Iterator[None]:
    """The built engine with the defaults, whatever the shell of the tests has chosen."""
    with pytest.MonkeyPatch.context() as patch:
        for name in [name for name in os.environ if name.startswith("PULUMI_")]:
            patch.delenv(name)
        patch.delenv("HOLDFAST_PULUMI", raising=False)
        yield


@pytest.fixture
def namespace(kubectl: Kubectl) -> Iterator[str]:
    """A namespace of a test's own, deleted afterwards."""
    name = f"test-{secrets.token_hex(4)}"
    kubectl("create", "namespace", name)
    yield name
    kubectl("delete", "namespace", name, "--wait=false")
