"""The components from programs in YAML, TypeScript and Python, on the real engine and API server.

What is deployed is what the examples in the repository declare, and every part alone.
"""

import json
import os
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path
from shutil import copytree, ignore_patterns
from typing import Any

import holdfast
import holdfast_policies
import pytest
from holdfast.adapters.engine.failures.failures import RunFailedError
from holdfast.adapters.engine.run.environment import engine_environment
from holdfast.adapters.engine.run.executable import find_pulumi
from holdfast.adapters.engine.run.process import session_members
from holdfast.adapters.engine.stack import Stack
from holdfast.components.package import COMPONENTS
from holdfast.components.package_schema import package_schema

from tests.component_samples import samples
from tests.e2e.live_sandbox import Kubectl, LiveSandbox
from tests.e2e.package_programs import PACKAGE, PackageProgram, typescript_workplace

pytestmark = pytest.mark.e2e

LANGUAGES = ("yaml", "typescript")


@pytest.fixture(scope="session")
def typescript(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return typescript_workplace(tmp_path_factory.mktemp("typescript"))


@pytest.fixture
def program_in(
    request: pytest.FixtureRequest, tmp_path: Path, sandbox: LiveSandbox
) -> Callable[[str], PackageProgram]:
    def make(language: str) -> PackageProgram:
        place = tmp_path
        if language == "typescript":
            place = request.getfixturevalue("typescript")
        return PackageProgram(place / tmp_path.name, sandbox.kubeconfig())

    return make


def declare(program: PackageProgram, language: str, components: dict[str, Any]) -> Stack:
    if language == "yaml":
        return program.declare_yaml(components)
    return program.declare_typescript(components)


@pytest.mark.parametrize("language", ["yaml", "typescript", "python"])
def test_the_example_of_a_language_deploys_and_is_clean_afterwards(
    language: str,
    program_in: Callable[[str], PackageProgram],
    namespace: str,
    kubectl: Kubectl,
) -> None:
    place = f"{namespace}-{language}"
    stack = program_in(language).copy_of_example(language, place)
    stack.up()
    assert stack.outputs() == {
        "urls": {"support": f"http://support.{place}.svc:8080"},
        "claims": ["archivist-memory"],
    }
    deployment = kubectl.get("deployment/support", "-n", place)
    assert deployment["status"]["readyReplicas"] == 1
    environment = deployment["spec"]["template"]["spec"]["containers"][0]["env"]
    assert {"name": "LOG_LEVEL", "value": "warning"} in environment
    assert kubectl.get("pvc/archivist-memory", "-n", place)["status"]["phase"] == "Bound"
    assert not stack.refresh_preview().has_drift
    assert not stack.preview().steps


@pytest.mark.parametrize("language", LANGUAGES)
def test_each_part_works_alone(
    language: str,
    program_in: Callable[[str], PackageProgram],
    namespace: str,
    kubectl: Kubectl,
) -> None:
    wanted = samples(namespace)
    whole = ("Agent", "Fleet")
    alone = {name: dict(args) for name, args in wanted.items() if name not in whole}
    stack = declare(program_in(language), language, alone)
    result = stack.up()
    # The engine goes on as soon as the Deployment is available: one of two replicas is enough.
    kubectl.wait_for("jsonpath={.status.readyReplicas}=2", "deployment/other", "-n", namespace)
    assert kubectl.get("role/other", "-n", namespace)["rules"][0]["resources"] == ["configmaps"]
    assert kubectl.get("pdb/other", "-n", namespace)["spec"]["maxUnavailable"] == 1
    assert kubectl.get("pvc/other-data", "-n", namespace)["status"]["phase"] == "Bound"
    assert "update" not in result.counts
    assert not stack.preview().steps


def test_every_language_renders_the_same_objects_to_the_byte(
    program_in: Callable[[str], PackageProgram], namespace: str, kubectl: Kubectl
) -> None:
    """Revisions are hashes of what was rendered: a second language finds nothing to change."""
    wanted = {"Fleet": dict(samples(namespace)["Fleet"])}
    declare(program_in("yaml"), "yaml", wanted).up()
    kinds = "deployments,services,serviceaccounts,configmaps,networkpolicies"
    before = revisions(kubectl, kinds, namespace)
    declare(program_in("typescript"), "typescript", wanted).up()
    assert revisions(kubectl, kinds, namespace) == before
    assert len(before) >= 5


def revisions(kubectl: Kubectl, kinds: str, namespace: str) -> dict[str, str]:
    listed = kubectl.get(kinds, "-n", namespace, "-l", "holdfast.dev/agent")
    return {
        f"{each['kind']}/{each['metadata']['name']}": (
            f"{each['metadata']['annotations']['holdfast.dev/revision']} "
            f"{each['metadata'].get('generation')}"
        )
        for each in listed["items"]
    }


FAULTY = {"namespace": "cx", "version": "1.0", "image": "other:"}


@pytest.mark.parametrize("language", LANGUAGES)
def test_what_only_the_models_know_is_refused_by_path(
    language: str, program_in: Callable[[str], PackageProgram]
) -> None:
    with pytest.raises(RunFailedError) as failed:
        declare(program_in(language), language, {"Agent": FAULTY}).preview()
    text = text_of(failed.value)
    assert "property version" in text
    assert "version must be a semantic version" in text
    assert "property image" in text
    assert "Traceback" not in text


def test_yaml_refuses_an_unknown_property_and_a_wrong_word_at_their_lines(
    program_in: Callable[[str], PackageProgram],
) -> None:
    wrong = dict(samples("cx")["Agent"]) | {
        "storage": {"volumes": [{"name": "x", "siz": "1Gi", "mountPath": "/x"}]}
    }
    with pytest.raises(RunFailedError) as failed:
        declare(program_in("yaml"), "yaml", {"Agent": wrong}).preview()
    text = text_of(failed.value)
    assert "Property siz does not exist on 'holdfast:index:StorageVolume'" in text
    assert "on Pulumi.yaml line" in text


def test_typescript_refuses_a_wrong_word_before_anything_runs(
    program_in: Callable[[str], PackageProgram],
) -> None:
    program = (
        'import * as holdfast from "@holdfast/holdfast";\n'
        'new holdfast.Agent("x", { namespace: "cx", version: "1.0.0", image: "i",\n'
        '    telemetry: { logs: { level: "warn" } } });\n'
    )
    with pytest.raises(RunFailedError) as failed:
        program_in("typescript").declare_typescript({}, program).preview()
    text = text_of(failed.value)
    assert "index.ts(3,26)" in text
    assert "'\"warn\"' is not assignable" in text


def text_of(error: RunFailedError) -> str:
    return str(error) + "".join(each.message for each in error.result.errors)


def test_a_plain_pulumi_leaves_no_process_of_the_package_behind(
    program_in: Callable[[str], PackageProgram], sandbox: LiveSandbox
) -> None:
    """Nobody ends a session for them: they end by themselves once the engine has gone."""
    program = program_in("yaml")
    declare(program, "yaml", {"Agent": dict(samples("cx")["Agent"])})
    variables = engine_environment(find_pulumi(), kubeconfig=sandbox.kubeconfig())
    with subprocess.Popen(
        ["pulumi", "preview", "--stack", "dev", "--non-interactive"],
        cwd=program.root,
        env=variables.applied_to(os.environ),
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
        start_new_session=True,
    ) as plain:
        # Not reaped before the end, so that the id of the session stays its own.
        os.waitid(os.P_PID, plain.pid, os.WEXITED | os.WNOWAIT)
        wait_until_alone(plain.pid)


def wait_until_alone(session: int) -> None:
    deadline = time.monotonic() + 60
    while others := [pid for pid in session_members(session) if pid != session]:
        assert time.monotonic() < deadline, f"still running: {others}"
        time.sleep(0.2)


def test_pulumi_reads_the_published_schema_from_the_package(tmp_path: Path) -> None:
    """`pulumi package get-schema` installs into the package's environment: here, into a copy."""
    package = tmp_path / "component-package"
    copytree(PACKAGE, package, ignore=ignore_patterns("requirements.txt", "__pycache__"))
    subprocess.run([sys.executable, "-m", "venv", tmp_path / ".venv"], check=True)
    (site,) = (tmp_path / ".venv" / "lib").glob("python*/site-packages")
    # An editable install finds our code by a hook of its own, which no path names.
    ours = (Path(holdfast.__file__).parents[1], Path(holdfast_policies.__file__).parents[1])
    (site / "clone.pth").write_text("\n".join([*map(str, ours), *filter(None, sys.path)]))
    variables = engine_environment(find_pulumi())
    done = subprocess.run(
        ["pulumi", "package", "get-schema", "./component-package"],
        cwd=tmp_path,
        env=variables.applied_to(os.environ),
        capture_output=True,
        text=True,
        check=False,
        start_new_session=True,
    )
    assert done.returncode == 0, done.stderr
    read = json.loads(done.stdout)
    wanted = package_schema(COMPONENTS)
    assert read["version"] == wanted["version"]
    assert set(read["resources"]) == set(wanted["resources"])
    assert set(read["types"]) == set(wanted["types"])
