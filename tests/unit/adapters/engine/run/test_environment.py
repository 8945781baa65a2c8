import json
import os
import pwd
import subprocess
import threading
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path

import pytest
from holdfast.adapters.engine.run.environment import (
    EngineEnvironment,
    backend_in_use,
    engine_environment,
    prepare_engine,
)
from holdfast.adapters.engine.run.executable import PulumiExecutable
from holdfast.errors import ToolchainError

ENCRYPTED = {"$pulumiSecureStore": 1, "backend": "keyring", "data": "x"}
PLUGIN = "plugins/resource-kubernetes-v4.27.0/pulumi-resource-kubernetes"


@pytest.fixture(autouse=True)
def state_and_home_of_the_test(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("HOLDFAST_STATE", str(tmp_path / "state"))
    monkeypatch.setenv("HOME", str(tmp_path / "home"))


@pytest.fixture
def built(tmp_path: Path) -> PulumiExecutable:
    (tmp_path / "built").mkdir()
    provider = tmp_path / "built" / "pulumi-resource-kubernetes"
    provider.write_text("provider")
    return PulumiExecutable(tmp_path / "built" / "pulumi", "3.259.0", provider)


@pytest.fixture
def own(tmp_path: Path) -> PulumiExecutable:
    return PulumiExecutable(tmp_path / "own" / "pulumi", "3.300.0")


def test_gives_the_built_engine_a_home_a_backend_and_its_own_plugins(
    built: PulumiExecutable, tmp_path: Path
) -> None:
    environment = engine_environment(built, ambient={"PATH": "/usr/bin"})

    assert environment.variables == {
        "PATH": f"{built.path.parent}:/usr/bin",
        "PULUMI_HOME": str(tmp_path / "state/pulumi-home"),
        "PULUMI_BACKEND_URL": f"file://{tmp_path}/state/pulumi-state",
        "PULUMI_CONFIG_PASSPHRASE": "",
        "PULUMI_DIY_BACKEND_GZIP": "true",
        "PULUMI_DIY_BACKEND_DISABLE_CHECKPOINT_BACKUPS": "true",
        "PULUMI_DISABLE_AUTOMATIC_PLUGIN_ACQUISITION": "true",
        "PULUMI_DISABLE_REGISTRY_RESOLVE": "true",
        "PULUMI_IGNORE_AMBIENT_PLUGINS": "true",
        "PULUMI_LOG_ROTATION_MAX_TOTAL_MB": "50",
        "PULUMI_SKIP_UPDATE_CHECK": "true",
        "PYTHONUNBUFFERED": "1",
    }


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("PULUMI_BACKEND_URL", "s3://state"),
        ("PULUMI_HOME", "/srv/pulumi"),
        ("PULUMI_CONFIG_PASSPHRASE", "secret"),
        ("PULUMI_CONFIG_PASSPHRASE_FILE", "/run/passphrase"),
        ("PULUMI_DIY_BACKEND_GZIP", "false"),
        ("PULUMI_DIY_BACKEND_DISABLE_CHECKPOINT_BACKUPS", "false"),
        ("PULUMI_LOG_ROTATION_MAX_TOTAL_MB", "500"),
    ],
)
def test_leaves_what_the_user_chose(built: PulumiExecutable, name: str, value: str) -> None:
    environment = engine_environment(built, ambient={name: value})

    assert name not in environment.variables
    assert environment.applied_to({name: value})[name] == value


def test_gives_no_passphrase_to_a_backend_that_is_not_its_own(built: PulumiExecutable) -> None:
    environment = engine_environment(built, ambient={"PULUMI_BACKEND_URL": "s3://state"})

    assert "PULUMI_CONFIG_PASSPHRASE" not in environment.variables
    assert environment.backend_url == "s3://state"


def test_gives_no_passphrase_beside_a_passphrase_file(built: PulumiExecutable) -> None:
    environment = engine_environment(built, ambient={"PULUMI_CONFIG_PASSPHRASE_FILE": "/run/p"})

    assert "PULUMI_CONFIG_PASSPHRASE" not in environment.variables


def test_leaves_the_backend_that_the_project_names(built: PulumiExecutable) -> None:
    environment = engine_environment(built, ambient={}, project_backend="gs://state")

    assert "PULUMI_BACKEND_URL" not in environment.variables
    assert environment.backend_url == "gs://state"


def test_leaves_plugins_and_home_of_the_users_own_pulumi_alone(own: PulumiExecutable) -> None:
    variables = engine_environment(own, ambient={}).variables

    assert "PULUMI_HOME" not in variables
    assert "PATH" not in variables
    assert not [name for name in variables if "PLUGIN" in name]


DEFAULT = "file://{state}/pulumi-state"
TOKEN = {"PULUMI_ACCESS_TOKEN": "pul-x"}
CLOUD = "https://api.pulumi.com"


@dataclass(frozen=True)
class Choice:
    """Who has chosen a backend, and the one that the engine takes.

    Attributes:
        logins: Home to `current` of its credentials; None for a file that is cut off.
        project: What `Pulumi.yaml` names.
    """

    backend: str
    logins: Mapping[str, object] = field(default_factory=dict)
    ambient: Mapping[str, str] = field(default_factory=dict)
    project: str = ""
    is_built: bool = False


CHOICES = {
    "nobody has chosen": Choice(DEFAULT),
    "login --local": Choice("file://~", {"own": "file://~"}),
    "login to a bucket": Choice("s3://state", {"own": "s3://state"}),
    "login to the service": Choice(CLOUD, {"own": CLOUD}),
    "logged out": Choice(DEFAULT, {"own": ""}),
    "a file that is cut off": Choice(DEFAULT, {"own": None}),
    "an encrypted file": Choice("", {"own": ENCRYPTED}),
    "the project before the login": Choice("gs://p", {"own": "s3://no"}, project="gs://p"),
    "the variable before both": Choice(
        "azblob://a", {"own": "s3://no"}, {"PULUMI_BACKEND_URL": "azblob://a"}, "gs://no"
    ),
    "an empty variable": Choice("s3://s", {"own": "s3://s"}, {"PULUMI_BACKEND_URL": ""}),
    "the login of another Pulumi": Choice(DEFAULT, {"own": "s3://no"}, is_built=True),
    "a login in our home": Choice("s3://s", {"built": "s3://s"}, is_built=True),
    "two logins, ours": Choice("s3://us", {"own": "s3://no", "built": "s3://us"}, is_built=True),
    "two logins, their own": Choice("s3://me", {"own": "s3://me", "built": "s3://no"}),
    "a login in a chosen home": Choice(
        "s3://s", {"chosen": "s3://s"}, {"PULUMI_HOME": "{chosen}"}, is_built=True
    ),
    "credentials elsewhere": Choice(
        "s3://s", {"chosen": "s3://s", "own": "s3://no"}, {"PULUMI_CREDENTIALS_PATH": "{chosen}"}
    ),
    "a token alone": Choice(CLOUD, ambient=TOKEN),
    "a token of another service": Choice(
        "https://pulumi.example", ambient=TOKEN | {"PULUMI_API": "https://pulumi.example"}
    ),
    "a token beside the built Pulumi": Choice(DEFAULT, ambient=TOKEN, is_built=True),
}


@pytest.mark.parametrize("choice", [pytest.param(each, id=name) for name, each in CHOICES.items()])
def test_the_backend_is_the_one_that_the_engine_takes(
    choice: Choice,
    built: PulumiExecutable,
    own: PulumiExecutable,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    log_in(choice, tmp_path, monkeypatch)
    executable = built if choice.is_built else own
    executable.path.parent.mkdir(exist_ok=True)
    executable.path.write_text("#!/bin/sh\nexit 1\n")
    executable.path.chmod(0o755)
    monkeypatch.setenv("HOLDFAST_PULUMI", str(executable.path))

    environment = engine_environment(executable, project_backend=choice.project)

    expected = choice.backend.format(state=tmp_path / "state")
    assert environment.backend_url == expected
    assert backend_in_use(choice.project) == expected
    is_told_to_the_engine = "PULUMI_BACKEND_URL" in environment.variables
    assert is_told_to_the_engine is (choice.backend == DEFAULT)


def log_in(choice: Choice, folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Write credentials and set variables as a choice has them."""
    homes = {
        "own": folder / "home" / ".pulumi",
        "built": folder / "state" / "pulumi-home",
        "chosen": folder / "chosen",
    }
    for name, current in choice.logins.items():
        homes[name].mkdir(parents=True)
        text = json.dumps(current if isinstance(current, dict) else {"current": current})
        (homes[name] / "credentials.json").write_text("{" if current is None else text)
    for name in ("PULUMI_BACKEND_URL", "PULUMI_HOME", "PULUMI_ACCESS_TOKEN", "PULUMI_API"):
        monkeypatch.delenv(name, raising=False)
    for name, value in choice.ambient.items():
        monkeypatch.setenv(name, value.format(**homes))


def test_points_to_the_kubeconfig_of_the_sandbox(built: PulumiExecutable, tmp_path: Path) -> None:
    ambient = {"KUBECONFIG": "/home/me/.kube/config"}

    environment = engine_environment(built, ambient=ambient, kubeconfig=tmp_path / "sandbox")

    assert environment.variables["KUBECONFIG"] == str(tmp_path / "sandbox")


@pytest.mark.parametrize(
    ("ambient", "user"),
    [
        pytest.param({}, f"uid-{os.getuid()}", id="no-name"),
        pytest.param({"USER": "deployer"}, None, id="a-name-of-the-environment"),
    ],
)
def test_the_engine_gets_a_name_where_its_user_has_no_account(
    own: PulumiExecutable,
    monkeypatch: pytest.MonkeyPatch,
    ambient: dict[str, str],
    user: str | None,
) -> None:
    def refuse(_: int) -> None:
        raise KeyError("uid not found")

    monkeypatch.setattr(pwd, "getpwuid", refuse)
    for name in ("USER", "LOGNAME", "LNAME", "USERNAME"):
        monkeypatch.delenv(name, raising=False)

    assert engine_environment(own, ambient=ambient).variables.get("USER") == user


def test_has_nothing_to_say_in_a_shell_that_has_it_all(built: PulumiExecutable) -> None:
    first = engine_environment(built, ambient={"PATH": "/usr/bin"})

    again = engine_environment(built, ambient=first.applied_to({"PATH": "/usr/bin"}))

    assert again.variables == {}


def test_hides_what_makes_pulumi_open_a_temporary_account(built: PulumiExecutable) -> None:
    environment = engine_environment(built, ambient={"AI_AGENT": "x", "HOME": "/h"})

    assert environment.removed == ("AI_AGENT",)
    assert "AI_AGENT" not in environment.applied_to({"AI_AGENT": "x"})


def test_prints_lines_that_a_shell_takes_back_unchanged(built: PulumiExecutable) -> None:
    odd = "a b'c\"$(touch no)\\ `x`;\n#"
    environment = EngineEnvironment(built, {"PULUMI_HOME": odd}, removed=("AI_AGENT",))
    script = 'eval "$LINES_TO_TAKE"; printf "%s|%s" "$PULUMI_HOME" "${AI_AGENT-unset}"'

    printed = subprocess.run(
        ["/bin/sh", "-c", script],
        env={"LINES_TO_TAKE": environment.shell_lines(), "AI_AGENT": "x"},
        capture_output=True,
        text=True,
        check=True,
    ).stdout

    assert printed == f"{odd}|unset"


def test_makes_folders_that_only_the_owner_may_enter(
    built: PulumiExecutable, tmp_path: Path
) -> None:
    prepare_engine(engine_environment(built, ambient={}))

    for folder in ("state", "state/pulumi-home", "state/pulumi-state"):
        assert (tmp_path / folder).stat().st_mode & 0o777 == 0o700


def test_links_the_provider_where_the_engine_looks(built: PulumiExecutable, tmp_path: Path) -> None:
    environment = engine_environment(built, ambient={})

    prepare_engine(environment)
    prepare_engine(environment)

    assert built.provider is not None
    assert built.provider.samefile(tmp_path / "state/pulumi-home" / PLUGIN)


def test_copies_the_provider_to_another_device(
    built: PulumiExecutable, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def refuse(*_: object) -> None:
        raise OSError(18, "Invalid cross-device link")

    monkeypatch.setattr(os, "link", refuse)
    environment = engine_environment(built, ambient={})

    prepare_engine(environment)
    before = (tmp_path / "state/pulumi-home" / PLUGIN).stat()
    prepare_engine(environment)

    assert before == (tmp_path / "state/pulumi-home" / PLUGIN).stat()
    assert (tmp_path / "state/pulumi-home" / PLUGIN).read_text() == "provider"


def test_replaces_a_provider_of_another_build(built: PulumiExecutable, tmp_path: Path) -> None:
    plugin = tmp_path / "state/pulumi-home" / PLUGIN
    plugin.parent.mkdir(parents=True)
    plugin.write_text("half of an old prov")

    prepare_engine(engine_environment(built, ambient={}))

    assert plugin.read_text() == "provider"


def test_lets_several_runs_prepare_at_once(built: PulumiExecutable, tmp_path: Path) -> None:
    environment = engine_environment(built, ambient={})
    failures: list[BaseException] = []

    def prepare() -> None:
        try:
            prepare_engine(environment)
        except BaseException as error:
            failures.append(error)

    threads = [threading.Thread(target=prepare) for _ in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()

    assert failures == []
    folder = (tmp_path / "state/pulumi-home" / PLUGIN).parent
    assert [path.name for path in folder.iterdir()] == ["pulumi-resource-kubernetes"]


def test_says_what_cannot_be_written(built: PulumiExecutable, tmp_path: Path) -> None:
    (tmp_path / "state").write_text("a file where a folder is wanted")

    with pytest.raises(ToolchainError, match=r"cannot be written .*HOLDFAST_STATE"):
        prepare_engine(engine_environment(built, ambient={}))
