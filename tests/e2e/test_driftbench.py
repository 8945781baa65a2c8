"""The public cases of driftbench, a benchmark of others, against `holdfast drift`.

The offline cases run always; of the live ones a selection, all with HOLDFAST_DRIFTBENCH=all.
"""

import json
import os
import secrets
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from holdfast.adapters.engine.run.toolchain import find_program

from tests.e2e.live_sandbox import LiveSandbox
from tests.shared_material import PROJECT, shared_folder

pytestmark = pytest.mark.e2e

SELECTION = (
    "r01-set-image-deployment|r05-hpa-has-no-minimum|r09-env-inserted-first|r12-unset-env"
    "|r14-sidecar-injected|r20-host-network$|r25-default-overwritten|r36-unmanaged-role-binding"
    "|r47-secret-edited|r60-egress-opened|r66-verb-appended|r75-keyed-list-item-added"
    "|r79-deployer-name-forged|r80-secrets-forbidden$"
)
TIMEOUT_SECONDS = 1800


@pytest.fixture
def own_sandbox(sandbox: LiveSandbox) -> Iterator[LiveSandbox]:
    """A cluster for the benchmark alone: it brings classes and policies that reach everybody."""
    own = LiveSandbox.start(f"bench-{secrets.token_hex(4)}", sandbox.state)
    yield own
    own.stop()


def test_the_offline_cases_are_judged_right(tmp_path: Path) -> None:
    expect_good_score(run_benchmark(tmp_path, "--mode", "offline"))


def test_the_live_cases_are_judged_right(tmp_path: Path, own_sandbox: LiveSandbox) -> None:
    everything = os.environ.get("HOLDFAST_DRIFTBENCH") == "all"
    chosen = [] if everything else ["--filter", SELECTION]
    score = run_benchmark(
        tmp_path,
        "--mode",
        "live",
        *chosen,
        variables={
            "DRIFTBENCH_KUBECONFIG": str(own_sandbox.kubeconfig()),
            "DRIFTBENCH_AUDIT_LOG": str(own_sandbox.audit_log),
        },
    )
    expect_good_score(score)
    assert score["user_accuracy"] >= 0.95
    assert score["unknown_reported"] == 1.0


def run_benchmark(
    folder: Path, *options: str, variables: dict[str, str] | None = None
) -> dict[str, Any]:
    """Run cases and return the benchmark's own summary."""
    benchmark = shared_folder("driftbench")
    results = folder / "results.json"
    environment = os.environ | {
        "HOLDFAST_CMD": f"{sys.executable} -m holdfast.cli.main",
        "PATH": f"{Path(find_program('kubectl')).parent}:{os.environ['PATH']}",
        "PYTHONPATH": f"{benchmark}:{PROJECT / 'infra'}:{PROJECT / 'policy-pack'}",
        "PYTHONDONTWRITEBYTECODE": "1",
        **(variables or {}),
    }
    command = [sys.executable, "-m", "driftbench", "run", "--detector", "holdfast"]
    done = subprocess.run(
        [*command, "--json", str(results), *options],
        cwd=folder,
        env=environment,
        capture_output=True,
        text=True,
        check=False,
        timeout=TIMEOUT_SECONDS,
    )
    assert results.exists(), done.stderr
    summarise = (
        "import json, sys; from driftbench import cases, scoring;"
        "known = {case.id: case for case in cases.load_cases()};"
        "kept = json.load(open(sys.argv[1]))['outcomes'];"
        "found = [scoring.Outcome.restore(one, known[one['id']]) for one in kept];"
        "print(json.dumps(scoring.summarise(found)))"
    )
    summary = subprocess.run(
        [sys.executable, "-c", summarise, str(results)],
        env=environment,
        capture_output=True,
        text=True,
        check=True,
    )
    print(done.stdout)  # noqa: T201  (what went wrong, case by case, when the test fails)
    score: dict[str, Any] = json.loads(summary.stdout)
    return score


def expect_good_score(score: dict[str, Any]) -> None:
    assert score["cases"].get("broken", 0) == 0
    for level in ("case_level", "object_level", "path_level"):
        assert score[level]["recall"] >= 0.98, level
        assert score[level]["precision"] >= 0.99, level
    assert score["class_accuracy"] >= 0.98
    assert score["manager_accuracy"] >= 0.95
    assert score["secret_leaks"] == 0
    assert score["exit_code_mismatches"] == 0
    assert score["detector_errors"] == 0
