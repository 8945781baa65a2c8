"""Runs of the real engine that fail, are ended or refused: what is said, and the exit code."""

import os
import signal
import subprocess
from dataclasses import replace
from pathlib import Path

import pytest
from holdfast.adapters.engine.failures.failures import RunFailedError
from holdfast.adapters.engine.stack import open_stack
from holdfast.errors import EngineError, ExitCode

from tests.e2e.engine.runs import driven
from tests.e2e.live_sandbox import Kubectl, run_holdfast
from tests.e2e.pulumi_project import PulumiProject

pytestmark = [
    pytest.mark.e2e,
    pytest.mark.usefixtures("engine_of_the_toolchain", "nothing_is_left_running"),
]


def test_a_preview_that_refreshes_explains_the_conflict_it_runs_into(
    project: PulumiProject, kubectl: Kubectl
) -> None:
    project.declare(project.deployment("app", "registry/app:1"))
    stack = project.stack()
    stack.up()
    kubectl("-n", project.namespace, "set", "image", "deployment/app", "agent=registry/app:2")

    with pytest.raises(RunFailedError) as raised:
        stack.preview(refresh=True)

    assert str(raised.value).startswith(
        f"{project.namespace}/app: field manager kubectl-set has changed "
        '.spec.template.spec.containers[name="agent"].image, which holdfast declares; '
        "run 'holdfast drift revert -s dev'"
    )
    drifted = raised.value.result.drifted
    assert [d.path for d in drifted[0].differences] == ["spec.template.spec.containers[0].image"]


def test_a_mandatory_violation_ends_in_the_exit_code_of_policy(project: PulumiProject) -> None:
    project.declare(project.config_map("big", a="1", b="2", c="3"), project.config_map("ok", a="1"))
    stack = project.stack()
    pack = project.root / "pack"

    with pytest.raises(RunFailedError) as raised:
        stack.preview(policy_pack=pack)
    (project.root / "config.json").write_text('{"small-maps": "advisory"}')
    advised = stack.preview(policy_pack=pack, policy_config=project.root / "config.json")

    assert raised.value.exit_code == ExitCode.POLICY
    assert "[small-maps] big: big: more than two keys; split it" in str(raised.value)
    assert [(v.policy, v.level) for v in advised.violations] == [("small-maps", "advisory")]
    assert [v.policy for v in raised.value.result.mandatory_violations] == ["small-maps"]


def test_a_signal_ends_the_run_saves_what_was_done_and_frees_the_lock(
    project: PulumiProject,
) -> None:
    project.declare(
        project.config_map("one", a="1"), project.deployment("app", "registry/app:1", held=True)
    )
    stack = project.stack()
    with driven(project) as driver:
        wait_for_line(driver, "StepDone one")

        with pytest.raises(
            EngineError, match=r"dev is locked by \S+ \(process \d+\) since"
        ) as held:
            stack.up()
        driver.send_signal(signal.SIGINT)
        said = driver.communicate(timeout=60)[1]

    assert "wait for that run to end" in str(held.value)
    assert driver.returncode == ExitCode.CANCELLED, said
    assert "cancelled; what was done is saved" in said
    assert "one" in {resource.urn.rpartition("::")[2] for resource in stack.export().resources}
    project.declare(project.config_map("one", a="1"), project.deployment("app", "registry/app:1"))
    stack.up()


def test_a_time_out_ends_the_run_in_its_exit_code(project: PulumiProject) -> None:
    project.declare(project.deployment("app", "registry/app:1", held=True))

    with pytest.raises(EngineError, match="up timed out after") as raised:
        replace(project.stack(), timeout_seconds=20).up()

    assert raised.value.exit_code == ExitCode.TIMEOUT
    assert "unfinished: create app" in str(raised.value)


@pytest.mark.parametrize(
    ("before", "says", "code"),
    [
        pytest.param(
            "import sys; print('error: agents/x.yaml:3: bad', file=sys.stderr); sys.exit(2)",
            "agents/x.yaml:3: bad",
            ExitCode.BAD_INPUT,
            id="it-refuses-its-input",
        ),
        pytest.param(
            "from holdfast.errors import InputError\nraise InputError('two agents named x')",
            "two agents named x",
            ExitCode.BAD_INPUT,
            id="it-raises-an-error-of-ours",
        ),
        pytest.param(
            "raise KeyError('x')",
            "the program failed: KeyError: 'x'",
            ExitCode.ERROR,
            id="it-raises-another",
        ),
    ],
)
def test_a_failing_program_is_reported_in_its_own_words(
    project: PulumiProject, before: str, says: str, code: ExitCode
) -> None:
    project.declare(before=before)

    with pytest.raises(RunFailedError) as raised:
        project.stack().preview()

    assert (str(raised.value), raised.value.exit_code) == (says, code)


def test_a_stack_that_is_not_there_is_said(project: PulumiProject) -> None:
    stack = open_stack(project.root, "nowhere", kubeconfig=project.kubeconfig)

    with pytest.raises(
        EngineError, match="no stack named nowhere; run 'pulumi stack init"
    ) as raised:
        stack.refresh_preview()

    assert raised.value.exit_code == ExitCode.NO_STACK


def test_a_wrong_passphrase_is_said_before_anything_is_written(
    project: PulumiProject, monkeypatch: pytest.MonkeyPatch
) -> None:
    project.stack()
    monkeypatch.setenv("PULUMI_CONFIG_PASSPHRASE", "wrong")

    with pytest.raises(EngineError, match="passphrase of stack dev is wrong") as raised:
        project.stack().up()

    assert raised.value.exit_code == ExitCode.AUTHENTICATION


def test_a_cluster_that_cannot_be_read_is_an_error_and_never_clean(
    project: PulumiProject, tmp_path: Path
) -> None:
    project.declare(project.config_map("one", a="1"))
    project.stack().up()
    broken = tmp_path / "broken.kubeconfig"
    stack = open_stack(project.root, "dev", kubeconfig=broken)
    good = project.kubeconfig.read_text()

    broken.write_text(good.replace("127.0.0.1:", "127.0.0.1:1"))
    with pytest.raises(EngineError, match="cluster of stack dev cannot be reached") as unreachable:
        stack.refresh_preview()
    broken.write_text(good.replace(project.context, "another"))
    with pytest.raises(EngineError, match="the kubeconfig has no context 'holdfast-"):
        stack.refresh_preview()

    assert unreachable.value.exit_code == ExitCode.ERROR


@pytest.mark.usefixtures("project")
def test_the_command_line_refuses_an_old_pulumi(
    tmp_path: Path, nothing_is_left_running: list[int]
) -> None:
    nothing_is_left_running.append(os.getpid())  # no run of ours at all
    old = tmp_path / "pulumi"
    old.write_text("#!/bin/sh\necho v3.200.0\n")
    old.chmod(0o755)

    done = run_holdfast("env", variables={"HOLDFAST_PULUMI": str(old)})

    assert done.returncode == ExitCode.ERROR
    assert "Pulumi 3.227 or newer is needed" in done.stderr


def wait_for_line(driver: "subprocess.Popen[str]", line: str) -> None:
    assert driver.stdout is not None
    for each in driver.stdout:
        if each.strip() == line:
            return
    pytest.fail(f"the run ended before {line!r}: {driver.communicate()[1]}")
