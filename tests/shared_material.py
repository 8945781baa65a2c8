"""Material that lies beside the project, where it is there: corpora and benchmarks of others."""

import os
from pathlib import Path

import pytest

PROJECT = Path(__file__).resolve().parents[1]


def shared_folder(name: str) -> Path:
    """Folder below HOLDFAST_SHARED, else below `shared` beside the project; skips without it."""
    shared = Path(os.environ.get("HOLDFAST_SHARED") or PROJECT.parent / "shared")
    folder = shared / name
    if not folder.is_dir():
        pytest.skip(f"{folder} is not there: set HOLDFAST_SHARED to the folder that holds it")
    return folder
