"""The policy pack as the engine can start it: a pack without a virtual environment gets ours.

The engine runs packs, unlike programs, in a virtual environment only, by default in the folder
`venv` of the pack. A pack that names none, and has none, is started from a copy beside which that
folder is a link to the environment that runs Holdfast.
"""

import shutil
import sys
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Final

from holdfast.manifest.text.kube_files import read_data

PACK_FILE: Final = "PulumiPolicy.yaml"
_DEFAULT_ENVIRONMENT: Final = "venv"


@contextmanager
def policy_flags(pack: Path | None, config: Path | None) -> Iterator[list[str]]:
    """Flags by which the engine judges with a pack, for the time of one run.

    Args:
        pack: Folder of the pack; None for none.
        config: Its JSON configuration.
    """
    if pack is None:
        yield []
        return
    configured = [] if config is None else [f"--policy-pack-config={config.absolute()}"]
    if _has_environment(pack):
        yield [f"--policy-pack={pack.absolute()}", *configured]
        return
    with tempfile.TemporaryDirectory(prefix="holdfast-pack-") as scratch:
        copy = Path(scratch).resolve() / pack.absolute().name
        shutil.copytree(pack, copy, ignore=shutil.ignore_patterns("__pycache__"))
        (copy / _DEFAULT_ENVIRONMENT).symlink_to(sys.prefix)
        yield [f"--policy-pack={copy}", *configured]


def _has_environment(pack: Path) -> bool:
    """Whether the pack brings the environment that it runs in, or is none of Python."""
    file = pack / PACK_FILE
    if not file.is_file() or (pack / _DEFAULT_ENVIRONMENT).exists():
        return True
    documents = read_data(file)
    settings = documents[0] if documents and isinstance(documents[0], dict) else {}
    runtime = settings.get("runtime")
    if isinstance(runtime, str):
        return runtime != "python"
    if not isinstance(runtime, dict) or runtime.get("name") != "python":
        return True
    options = runtime.get("options")
    options = options if isinstance(options, dict) else {}
    return bool(options.get("virtualenv")) or options.get("toolchain", "pip") != "pip"
