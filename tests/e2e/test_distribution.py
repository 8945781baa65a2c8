"""The wheel alone, in an empty environment and an empty folder: no clone is on its paths."""

import json
import subprocess
import tarfile
import zipfile
from pathlib import Path

import pytest
from holdfast.errors import ExitCode

from tests.e2e.live_sandbox import Kubectl, LiveSandbox
from tests.e2e.wheel_installation import WheelInstallation, build_into, built

pytestmark = pytest.mark.e2e

MEGABYTE = 1_000_000
AUTHOR = ("-c", "user.name=Ann", "-c", "user.email=ann@example.test")
TOOL_SERVER = """\
apiVersion: holdfast.dev/v1alpha1
kind: MCPServer
metadata: {name: docs, namespace: tools}
spec: {url: "http://127.0.0.1:9/mcp"}
"""
DEPLOYMENT = """\
apiVersion: apps/v1
kind: Deployment
metadata: {{name: web, namespace: {namespace}}}
spec:
  replicas: 1
  selector: {{matchLabels: {{app: web}}}}
  template:
    metadata: {{labels: {{app: web}}}}
    spec:
      containers: [{{name: web, image: "registry.example/web:{tag}"}}]
"""


@pytest.fixture(scope="module")
def core(tmp_path_factory: pytest.TempPathFactory) -> WheelInstallation:
    return WheelInstallation.create(tmp_path_factory.mktemp("core") / "environment")


@pytest.fixture
def cluster(sandbox: LiveSandbox) -> dict[str, str]:
    return {"KUBECONFIG": str(sandbox.kubeconfig()), "HOLDFAST_STATE": str(sandbox.state)}


def test_wheel_and_sdist_are_the_same_bytes_each_time(tmp_path: Path) -> None:
    again = build_into(tmp_path)
    for first, second in zip(built(), again, strict=True):
        assert first.name == second.name
        assert first.read_bytes() == second.read_bytes()


def test_the_wheel_holds_what_a_project_needs() -> None:
    sdist, wheel = built()
    held = set(zipfile.ZipFile(wheel).namelist())
    wanted = {
        "holdfast/program.py",
        "holdfast/components/agent.py",
        "holdfast_policies/pack/server.py",
        "holdfast/shipped/component-package/PulumiPlugin.yaml",
        "holdfast/shipped/docs/schema/agent.schema.json",
        "holdfast/shipped/docs/schema/package.schema.json",
        "holdfast/shipped/monitoring/holdfast.dashboard.json",
        "holdfast/shipped/policy-pack/config/prod.json",
        "holdfast/shipped/templates/fleet/Pulumi.yaml",
        "holdfast/shipped/templates/fleet/policy-pack/PulumiPolicy.yaml",
        "holdfast/shipped/toolchain/build.py",
    }
    assert wanted - held == set()
    assert not [name for name in held if "__pycache__" in name or name.startswith("tests/")]
    with tarfile.open(sdist) as packed:
        names = {each.name.partition("/")[2] for each in packed.getmembers()}
    assert {"pyproject.toml", "setup.py", "templates/fleet/Pulumi.yaml", "LICENSE"} <= names


def test_the_core_is_small(core: WheelInstallation) -> None:
    _, wheel = built()
    ours = sum(each.file_size for each in zipfile.ZipFile(wheel).infolist())
    assert core.core_bytes + ours < 60 * MEGABYTE


def test_drift_of_any_manifests(
    core: WheelInstallation,
    cluster: dict[str, str],
    sandbox: LiveSandbox,
    kubectl: Kubectl,
    namespace: str,
    tmp_path: Path,
) -> None:
    wanted = tmp_path / "wanted"
    wanted.mkdir()
    file = wanted / "web.yaml"
    file.write_text(DEPLOYMENT.format(namespace=namespace, tag="1"))
    kubectl("apply", "-f", str(file))
    asked = ("drift", "--desired", str(wanted), "--context", sandbox.context)
    same = core.run(*asked, folder=tmp_path, **cluster)
    assert same.returncode == ExitCode.OK, same.stderr
    kubectl("set", "image", "-n", namespace, "deploy/web", "web=registry.example/web:2")
    other = core.run(*asked, "-o", "json", folder=tmp_path, **cluster)
    assert other.returncode == ExitCode.DRIFT, other.stderr
    assert "registry.example/web:2" in other.stdout


def test_policy_of_a_whole_cluster(
    core: WheelInstallation,
    cluster: dict[str, str],
    kubectl: Kubectl,
    namespace: str,
    tmp_path: Path,
) -> None:
    file = tmp_path / "web.yaml"
    file.write_text(DEPLOYMENT.format(namespace=namespace, tag="latest"))
    kubectl("apply", "-f", str(file))
    done = core.run("policy", "check", "--cluster", "-A", "-o", "json", folder=tmp_path, **cluster)
    assert done.returncode in (ExitCode.OK, ExitCode.POLICY), done.stderr
    named = json.loads(done.stdout)
    assert namespace in json.dumps(named)


def test_manifests_are_validated(core: WheelInstallation, tmp_path: Path) -> None:
    for folder in ("agents", "stacks"):
        (tmp_path / folder).mkdir()
    (tmp_path / "Pulumi.yaml").write_text("name: mine\nruntime: python\n")
    (tmp_path / "agents" / "hello.yaml").write_text(
        "apiVersion: holdfast.dev/v1alpha1\nkind: Agnt\n"
    )
    done = core.run("validate", folder=tmp_path)
    assert done.returncode == ExitCode.BAD_INPUT
    assert "agents/hello.yaml:2" in done.stdout + done.stderr
    assert "Traceback" not in done.stderr


@pytest.fixture
def project(tmp_path: Path, sandbox: LiveSandbox) -> Path:
    root = tmp_path / "mine"
    for folder in ("agents", "stacks"):
        (root / folder).mkdir(parents=True)
    (root / "Pulumi.yaml").write_text("name: mine\nruntime: python\nstackConfigDir: stacks\n")
    (root / "agents" / "tools.yaml").write_text(TOOL_SERVER)
    (root / "stacks" / "Pulumi.dev.yaml").write_text(
        f"config:\n  holdfast:cluster: {{context: {sandbox.context}, identifier: dev}}\n"
    )
    for words in (["init", "-q"], ["add", "-A"], ["commit", "-q", "-m", "first"]):
        subprocess.run(["git", *AUTHOR, *words], cwd=root, check=True)
    return root


@pytest.mark.parametrize(
    ("arguments", "extra"),
    [
        pytest.param(("sandbox", "up"), "sandbox", id="sandbox up"),
        pytest.param(("up", "-s", "dev"), "pulumi", id="up"),
        pytest.param(("preview", "-s", "dev"), "pulumi", id="preview"),
        pytest.param(("mcp", "lock"), "tools", id="mcp lock"),
    ],
)
def test_a_verb_says_which_extra_it_needs(
    core: WheelInstallation,
    cluster: dict[str, str],
    project: Path,
    arguments: tuple[str, ...],
    extra: str,
) -> None:
    done = core.run(*arguments, folder=project, **cluster)
    assert done.returncode == ExitCode.BAD_INPUT, done.stderr
    assert done.stderr.splitlines()[-1].endswith(f"run `pip install 'holdfast[{extra}]'`")
    assert "Traceback" not in done.stderr
