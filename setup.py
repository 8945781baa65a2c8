"""Lays the files that a project needs beside the code, so that the wheel holds them.

Everything else that setuptools must know is in pyproject.toml.
"""

import shutil
from pathlib import Path

from setuptools import setup
from setuptools.command.build_py import build_py

ROOT = Path(__file__).resolve().parent
SHIPPED = (
    "docs/schema",
    "monitoring",
    "component-package",
    "policy-pack/config",
    "templates",
    "toolchain",
)
"""Folders of the clone that go into the wheel, as `holdfast/shipped/`."""


class BuildWithShippedFiles(build_py):
    """Copies the shipped folders into the package; an editable install reads them in the clone."""

    def run(self) -> None:
        """Build the packages, then copy."""
        super().run()
        if self.editable_mode:
            return
        target = Path(self.build_lib) / "holdfast" / "shipped"
        ignored = shutil.ignore_patterns("__pycache__", "*.egg-info", "requirements.txt")
        for folder in SHIPPED:
            shutil.copytree(ROOT / folder, target / folder, ignore=ignored, dirs_exist_ok=True)


setup(cmdclass={"build_py": BuildWithShippedFiles})
