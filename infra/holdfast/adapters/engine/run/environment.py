"""The variables under which the engine runs: the user's where they chose, ours everywhere else.

The same variables are printed by `holdfast env`, so that a plain `pulumi` sees the same stacks.
"""

import errno
import os
import pwd
import shlex
import shutil
import tempfile
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path

import msgspec

from holdfast.adapters.engine.backend.lock_holder import caller_name
from holdfast.adapters.engine.run.executable import PulumiExecutable, locate_pulumi, provider_beside
from holdfast.adapters.files import state_directory
from holdfast.errors import ToolchainError

PROVIDER_PLUGIN = "resource-kubernetes-v4.27.0"
"""Folder of the provider among the plugins; the version is the one `pulumi_kubernetes` asks for."""

# With one of these set and no backend chosen, Pulumi signs its caller up for a temporary account.
_MARKS_OF_CODING_TOOLS = ("AI_AGENT", "CLAUDECODE")
_LOG_MEGABYTES = "50"
# Key of a credentials file that the engine has encrypted with a key of the system's key ring.
_ENCRYPTED = "$pulumiSecureStore"
_SERVICE = "https://api.pulumi.com"


@dataclass(frozen=True, slots=True)
class EngineEnvironment:
    """How the engine is run: which program, and what differs from the ambient environment.

    Attributes:
        pulumi: The program.
        variables: Variables to set; those that the user has set already are not among them.
        removed: Variables to unset.
        home: PULUMI_HOME that results.
        backend_url: Backend that results; empty when a login decides whose file is encrypted.
    """

    pulumi: PulumiExecutable
    variables: Mapping[str, str]
    removed: tuple[str, ...] = ()
    home: Path = field(default_factory=Path)
    backend_url: str = ""

    def applied_to(self, ambient: Mapping[str, str]) -> dict[str, str]:
        """The whole environment of a process."""
        kept = {name: value for name, value in ambient.items() if name not in self.removed}
        return kept | dict(self.variables)

    def shell_lines(self) -> str:
        """Lines for `eval` in a POSIX shell, every value quoted."""
        unset = [f"unset {name}" for name in self.removed]
        export = [f"export {name}={shlex.quote(value)}" for name, value in self.variables.items()]
        return "\n".join([*unset, *export]) + "\n"


def engine_environment(
    pulumi: PulumiExecutable,
    *,
    ambient: Mapping[str, str] | None = None,
    project_backend: str = "",
    kubeconfig: Path | None = None,
    python: Path | None = None,
) -> EngineEnvironment:
    """Decide the variables of one run.

    What the user chose stays: PULUMI_HOME, the passphrase, and the backend, in the engine's own
    order: PULUMI_BACKEND_URL, `Pulumi.yaml`, the login in the PULUMI_HOME of the run. A token of
    Pulumi Cloud alone counts as a login, with a Pulumi of the user's own. Otherwise the
    state is kept beside the sandboxes, under an empty passphrase: it is as safe as the
    folder it lies in.

    Args:
        pulumi: The program that will be run.
        ambient: Environment to start from; default that of this process.
        project_backend: Backend that `Pulumi.yaml` names.
        kubeconfig: Kubeconfig of the sandbox that the stack lives in, used in place of the
            ambient one: a copy of it made earlier may be out of date.
        python: Interpreter whose folder leads PATH: the program and a pack without an
            environment of its own run on it.
    """
    ambient = os.environ if ambient is None else ambient
    home = _home(ambient, pulumi.is_built)
    chosen: str | None = ambient.get("PULUMI_BACKEND_URL") or project_backend
    chosen = chosen or _login(ambient, pulumi.is_built)
    wanted = _wanted_variables(pulumi, home, ambient)
    if chosen is None:
        wanted |= {"PULUMI_BACKEND_URL": _default_backend()} | _default_backend_variables(ambient)
    if kubeconfig is not None:
        wanted["KUBECONFIG"] = str(kubeconfig)
    if python is not None:
        wanted["PATH"] = _led_by(python.parent, wanted.get("PATH", ambient.get("PATH", os.defpath)))
    return EngineEnvironment(
        pulumi=pulumi,
        variables={k: v for k, v in wanted.items() if ambient.get(k) != v},
        removed=tuple(name for name in _MARKS_OF_CODING_TOOLS if name in ambient),
        home=home,
        backend_url=_default_backend() if chosen is None else chosen,
    )


def _wanted_variables(
    pulumi: PulumiExecutable, home: Path, ambient: Mapping[str, str]
) -> dict[str, str]:
    variables = {
        # A policy pack writes its port without flushing: buffered, the engine would wait forever.
        "PYTHONUNBUFFERED": "1",
        "PULUMI_SKIP_UPDATE_CHECK": "true",
    }
    if pulumi.is_built:
        variables |= {
            "PATH": _led_by(pulumi.path.parent, ambient.get("PATH", os.defpath)),
            "PULUMI_HOME": str(home),
            "PULUMI_DISABLE_AUTOMATIC_PLUGIN_ACQUISITION": "true",
            "PULUMI_DISABLE_REGISTRY_RESOLVE": "true",
            "PULUMI_IGNORE_AMBIENT_PLUGINS": "true",
        }
    if not ambient.get("USER") and not _has_account():
        # The engine writes the name into its lock, and ends where it finds none.
        variables["USER"] = caller_name()
    if "PULUMI_LOG_ROTATION_MAX_TOTAL_MB" not in ambient:
        # An update of 800 objects logs 10 MB; the engine itself would keep 500.
        variables["PULUMI_LOG_ROTATION_MAX_TOTAL_MB"] = _LOG_MEGABYTES
    return variables


def _led_by(folder: Path, path: str) -> str:
    """A search path that begins with a folder."""
    rest = [part for part in path.split(os.pathsep) if part and part != str(folder)]
    return os.pathsep.join([str(folder), *rest])


def _has_account() -> bool:
    """Whether the system knows our user; a container may run under any number."""
    try:
        pwd.getpwuid(os.getuid())
    except KeyError:
        return False
    return True


def _default_backend_variables(ambient: Mapping[str, str]) -> dict[str, str]:
    """Gzip makes each of the many checkpoint writes smaller, and Python reads it back unaided.

    Backups are off because the history beside them keeps the same checkpoint of every update.
    """
    variables = {}
    if not {"PULUMI_CONFIG_PASSPHRASE", "PULUMI_CONFIG_PASSPHRASE_FILE"} & ambient.keys():
        variables["PULUMI_CONFIG_PASSPHRASE"] = ""
    if "PULUMI_DIY_BACKEND_ZSTD" not in ambient:
        variables["PULUMI_DIY_BACKEND_GZIP"] = ambient.get("PULUMI_DIY_BACKEND_GZIP", "true")
    name = "PULUMI_DIY_BACKEND_DISABLE_CHECKPOINT_BACKUPS"
    return variables | {name: ambient.get(name, "true")}


def backend_in_use(project_backend: str) -> str:
    """Backend that a run of this process would use, found without starting the engine.

    Returns:
        Empty when a login decides whose file is encrypted.

    Raises:
        ToolchainError: there is no `pulumi`, and its login would have decided.
    """
    if chosen := os.environ.get("PULUMI_BACKEND_URL") or project_backend:
        return chosen
    of_own, of_built = (_login(os.environ, is_built) for is_built in (False, True))
    login = of_own
    if of_own != of_built:
        # Which of them counts depends on the Pulumi that is run: only now is one looked for.
        login = of_built if provider_beside(locate_pulumi()) is not None else of_own
    return _default_backend() if login is None else login


def _login(ambient: Mapping[str, str], is_built: bool) -> str | None:
    """Where the engine is logged in; empty where that is encrypted, None when it is nowhere."""
    folder = Path(ambient.get("PULUMI_CREDENTIALS_PATH") or _home(ambient, is_built))
    try:
        credentials = msgspec.json.decode((folder / "credentials.json").read_bytes())
    except (OSError, msgspec.DecodeError):
        credentials = {}
    if isinstance(credentials, dict) and _ENCRYPTED in credentials:
        return ""
    if isinstance(credentials, dict) and credentials.get("current"):
        return str(credentials["current"])
    if ambient.get("PULUMI_ACCESS_TOKEN") and not is_built:
        return ambient.get("PULUMI_API") or _SERVICE
    return None


def _home(ambient: Mapping[str, str], is_built: bool) -> Path:
    if chosen := ambient.get("PULUMI_HOME"):
        return Path(chosen).absolute()
    return state_directory() / "pulumi-home" if is_built else Path.home() / ".pulumi"


def _default_backend() -> str:
    return f"file://{state_directory() / 'pulumi-state'}"


def prepare_engine(environment: EngineEnvironment) -> None:
    """Create the folders that the variables name and lay the built provider among the plugins.

    Idempotent, and safe when several runs do it at once.

    Raises:
        ToolchainError: a folder cannot be created or written.
    """
    try:
        if "PULUMI_BACKEND_URL" in environment.variables:
            _make_private(Path(environment.backend_url.removeprefix("file://")))
        if environment.pulumi.provider is not None:
            _make_private(environment.home)
            _install_provider(environment.pulumi.provider, environment.home)
    except OSError as error:
        message = f"{error.filename or environment.home} cannot be written ({error.strerror})"
        remedy = "free some space, correct the rights, or set HOLDFAST_STATE to another folder"
        raise ToolchainError(message, remedy=remedy) from error


def _make_private(folder: Path) -> None:
    # `parents=True` alone would give the state folder above the mode of any other folder.
    folder.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
    folder.mkdir(mode=0o700, exist_ok=True)


def _install_provider(provider: Path, home: Path) -> None:
    """Lay the provider where the engine looks for it; it does not follow a linked folder."""
    folder = home / "plugins" / PROVIDER_PLUGIN
    target = folder / provider.name
    if _is_same_program(provider, target):
        return
    folder.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(prefix=".", dir=folder) as scratch:
        _link_or_copy(provider, Path(scratch) / provider.name)
        (Path(scratch) / provider.name).replace(target)


def _link_or_copy(source: Path, target: Path) -> None:
    try:
        os.link(source, target)
    except OSError as error:
        if error.errno not in (errno.EXDEV, errno.EPERM, errno.EMLINK):
            raise
        shutil.copy2(source, target)


def _is_same_program(source: Path, target: Path) -> bool:
    try:
        there = target.stat()
    except FileNotFoundError:
        return False
    here = source.stat()
    return (here.st_size, here.st_mtime_ns) == (there.st_size, there.st_mtime_ns)
