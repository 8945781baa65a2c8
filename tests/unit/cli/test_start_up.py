"""What a command loads before it begins: start-up is the larger part of a short command's time."""

import subprocess
import sys

import pytest

LOADED = """
import importlib, sys
from holdfast.cli.main import run
for name in sys.argv[2:]:
    importlib.import_module(name) if name.startswith("holdfast.") else None
code = run([name for name in sys.argv[2:] if not name.startswith("holdfast.")])
for name in sys.argv[1].split(","):
    assert name not in sys.modules, f"{name} is loaded"
sys.exit(code)
"""
MODELS = "pydantic,holdfast.manifest.agent.agent"
LIBRARIES = "yaml,urllib3,pulumi,cryptography,jinja2,kubernetes"
ENGINE = "holdfast.adapters.engine.stack,holdfast.adapters.engine.run.process"


@pytest.mark.parametrize(
    ("absent", "arguments"),
    [
        pytest.param(f"msgspec,{MODELS},{LIBRARIES},{ENGINE}", ["--help"], id="help"),
        pytest.param(
            f"msgspec,holdfast_policies,{MODELS},{LIBRARIES},{ENGINE}", ["policy", "--help"],
            id="policy",
        ),
        pytest.param(
            f"msgspec,{MODELS},{LIBRARIES},{ENGINE}", ["operator", "--help"], id="operator"
        ),
        *(
            pytest.param(f"msgspec,{MODELS},{LIBRARIES},{ENGINE}", [noun, "--help"], id=noun)
            for noun in ("agent", "ci", "completion", "sandbox", "mcp")
        ),
        pytest.param(f"{MODELS},yaml,pulumi,{ENGINE}", ["ci", "comment", "--help"], id="comment"),
        pytest.param(
            f"{MODELS},{LIBRARIES},{ENGINE}", ["sandbox", "kubeconfig", "--help"],
            id="sandbox kubeconfig",
        ),
        pytest.param(f"{MODELS},{LIBRARIES},{ENGINE}", ["drift", "--help"], id="drift"),
        pytest.param(
            f"{MODELS},yaml,pulumi,cryptography,jinja2,kubernetes,{ENGINE}",
            ["holdfast.cli.drift.detect", "drift", "--help"],
            id="all of a scan in sync of what is kept",
        ),
    ],
)  # fmt: skip
def test_nothing_is_loaded_that_is_not_used(absent: str, arguments: list[str]) -> None:
    done = subprocess.run(
        [sys.executable, "-c", LOADED, absent, *arguments],
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr
