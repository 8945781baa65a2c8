"""Which `pulumi` is run: what HOLDFAST_PULUMI names, else the built toolchain's, else PATH's.

People who have their own Pulumi never need the built one; theirs is only asked for its version.
"""

import functools
import os
import re
import shutil
import subprocess
import tempfile
from dataclasses import dataclass
from pathlib import Path

from holdfast.adapters.engine.run.toolchain import build_command, find_program
from holdfast.errors import ToolchainError

PULUMI_VARIABLE = "HOLDFAST_PULUMI"
MINIMUM_VERSION = (3, 227)
"""From here on exit codes are distinct and `preview --json` streams policy events."""

PROVIDER_PROGRAM = "pulumi-resource-kubernetes"
_ON_PATH = ("path", "system")
_VERSION_TIMEOUT_SECONDS = 30


@dataclass(frozen=True, slots=True)
class PulumiExecutable:
    """A `pulumi` that can be run and is new enough.

    Attributes:
        path: Absolute path of the program.
        version: Its version, such as `3.259.0`.
        provider: The Kubernetes provider built with it; None for a Pulumi of the user's own, which
            has its own plugins.
    """

    path: Path
    version: str
    provider: Path | None = None

    @property
    def is_built(self) -> bool:
        """Whether it belongs to the built toolchain, and so brings its provider with it."""
        return self.provider is not None


def find_pulumi() -> PulumiExecutable:
    """Find the `pulumi` to run and check its version; asked once in a process.

    Raises:
        ToolchainError: it is missing, not executable, older than 3.227 or prints no version.
    """
    return _checked(locate_pulumi())


def provider_beside(pulumi: Path) -> Path | None:
    """The Kubernetes provider that was built with a `pulumi`; None when it stands alone."""
    provider = pulumi.resolve().with_name(PROVIDER_PROGRAM)
    return provider if provider.exists() else None


def locate_pulumi() -> Path:
    """Find the `pulumi` to run without running it.

    Raises:
        ToolchainError: it is missing or not executable.
    """
    wanted = os.environ.get(PULUMI_VARIABLE, "").strip()
    if not wanted:
        return find_program("pulumi")
    if wanted.lower() in _ON_PATH:
        if found := shutil.which("pulumi"):
            return Path(found).absolute()
        message = f"{PULUMI_VARIABLE}={wanted} asks for the pulumi on PATH, but there is none"
        raise ToolchainError(message, remedy=f"install Pulumi, or unset {PULUMI_VARIABLE}")
    path = Path(wanted).expanduser().absolute()
    path = path / "pulumi" if path.is_dir() else path
    if not path.exists():
        message = f"{PULUMI_VARIABLE} names {path}, which does not exist"
        raise ToolchainError(
            message, remedy=f"correct it, set it to 'path' or unset {PULUMI_VARIABLE}"
        )
    if not os.access(path, os.X_OK):
        message = f"{PULUMI_VARIABLE} names {path}, which is not executable"
        raise ToolchainError(message, remedy=f"run 'chmod +x {path}' or name another program")
    return path


@functools.cache
def _checked(path: Path) -> PulumiExecutable:
    remedy = (
        f"set {PULUMI_VARIABLE} to Pulumi {_dotted(MINIMUM_VERSION)} or newer, or unset it and "
        f"run '{build_command('toolchain')}'"
    )
    text = _version_text(path, remedy)
    match = re.search(r"(\d+)\.(\d+)\.(\d+)", text)
    if match is None or match[0] == "0.0.0":
        message = f"{path} reports no version, it was built without one"
        raise ToolchainError(message, remedy=remedy)
    if (int(match[1]), int(match[2])) < MINIMUM_VERSION:
        message = (
            f"Pulumi {_dotted(MINIMUM_VERSION)} or newer is needed, {path} is version {match[0]}"
        )
        raise ToolchainError(message, remedy=remedy)
    return PulumiExecutable(path, match[0], provider_beside(path))


def _version_text(path: Path, remedy: str) -> str:
    # Even this call writes a log into its home: one that goes away keeps ~/.pulumi the user's own.
    with tempfile.TemporaryDirectory(prefix="holdfast-") as home:
        variables = os.environ | {"PULUMI_SKIP_UPDATE_CHECK": "true", "PULUMI_HOME": home}
        try:
            done = subprocess.run(
                [path, "version"],
                capture_output=True,
                text=True,
                check=True,
                env=variables,
                timeout=_VERSION_TIMEOUT_SECONDS,
                start_new_session=True,
            )
        except (OSError, subprocess.SubprocessError) as error:
            message = f"{path} cannot be run: 'version' failed ({_reason(error)})"
            raise ToolchainError(message, remedy=remedy) from error
    return done.stdout


def _reason(error: OSError | subprocess.SubprocessError) -> str:
    if isinstance(error, subprocess.CalledProcessError):
        said = str(error.stderr).strip().splitlines()
        return said[-1] if said else f"exit code {error.returncode}"
    if isinstance(error, subprocess.TimeoutExpired):
        return f"no answer in {_VERSION_TIMEOUT_SECONDS} s"
    return (error.strerror if isinstance(error, OSError) else "") or str(error)


def _dotted(version: tuple[int, int]) -> str:
    return ".".join(str(part) for part in version)
