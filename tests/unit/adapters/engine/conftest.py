from pathlib import Path

import pytest


@pytest.fixture(autouse=True)
def state_of_the_test(
    monkeypatch: pytest.MonkeyPatch, tmp_path_factory: pytest.TempPathFactory
) -> Path:
    """A folder of its own for what Holdfast writes down."""
    folder = tmp_path_factory.mktemp("state")
    monkeypatch.setenv("HOLDFAST_STATE", str(folder))
    return folder
