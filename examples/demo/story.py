"""The story: five agents deployed, five hands in the cluster, all seen, named and put back."""

import json
import shutil
import tempfile
import time
from pathlib import Path

import click
from holdfast.adapters.engine.failures.failures import RunFailedError
from holdfast.adapters.engine.results import RunResult
from holdfast.errors import ExitCode, HoldfastError
from holdfast.operations.project.new_project import plan_project, write_project

from examples.demo.stage import (
    ROOT,
    STACK,
    Clock,
    DemoError,
    Progress,
    as_alice,
    holdfast,
    open_dev,
    say,
    show,
)

PACK = ROOT / "policy-pack"
SIDECAR = [
    {
        "op": "add",
        "path": "/spec/template/spec/containers/-",
        "value": {
            "name": "debug",
            "image": "docker.io/library/busybox:latest",
            "securityContext": {
                "allowPrivilegeEscalation": False,
                "capabilities": {"drop": ["ALL"]},
                "runAsNonRoot": True,
                "seccompProfile": {"type": "RuntimeDefault"},
            },
        },
    }
]
OPEN_EGRESS = [
    {"op": "add", "path": "/spec/egress/-", "value": {"to": [{"ipBlock": {"cidr": "0.0.0.0/0"}}]}}
]
SHADOW_AGENT = """\
apiVersion: holdfast.dev/v1alpha1
kind: Agent
metadata: {{name: shadow, namespace: cx}}
spec:
  version: 0.0.1
  owner: nobody
  image: docker.io/somebody/shadow@sha256:{digest}
  pod:
    security:
      securityContext: {{privileged: true, allowPrivilegeEscalation: true}}
""".format(digest="7" * 64)


def tell() -> int:
    """Tell the whole story.

    Returns:
        0 when everything happened as it should, 1 otherwise.
    """
    clock = Clock(time.monotonic())
    try:
        _chapters(clock)
    except (DemoError, HoldfastError) as error:
        click.secho(f"\nthe demo stopped: {error}", fg="red", err=True)
        return int(ExitCode.ERROR)
    return int(ExitCode.OK)


def _chapters(clock: Clock) -> None:
    clock.heading("1. A real control plane, on this machine")
    holdfast("sandbox", "up")
    clock.heading("2. Five agents from agents/, deployed by Pulumi, judged by the policy pack")
    _deploy()
    clock.heading("3. Alice lends a hand, with kubectl")
    _meddle()
    clock.heading("4. What Pulumi's own refresh sees")
    _refresh()
    clock.heading("5. What Holdfast sees: who, when, which path, which policy it now breaks")
    holdfast("drift", "-s", STACK, expected=(ExitCode.DRIFT,))
    clock.heading("6. Put back")
    holdfast("drift", "revert", "-s", STACK, "--yes")
    clock.heading("7. Clean again, for both")
    holdfast("drift", "-s", STACK)
    _refresh(expect_clean=True)
    clock.heading("8. A manifest that is not compliant does not get in")
    _refuse()
    clock.heading("Done. The sandbox is still up. Try next:")
    say("holdfast drift -s dev --help                     what else a scan can do")
    say('eval "$(holdfast env -s dev)" && pulumi preview -s dev --policy-pack policy-pack')
    say("edit agents/support-rag.yaml, then: pulumi up -s dev    a change the way it should be")
    say("(holdfast lies in .venv/bin; end the sandbox with: holdfast sandbox down)")


def _deploy() -> None:
    stack = open_dev()
    stack.init_if_absent()
    show(f"pulumi up -s {STACK} --refresh --policy-pack policy-pack")
    progress = Progress()
    # With --refresh a cluster that was ended since the last update is filled again.
    result = stack.up(policy_pack=PACK, options=["--refresh"], on_event=progress)
    progress.end(_counted(result), result.seconds)
    # What an earlier, interrupted telling has left behind.
    holdfast("drift", "revert", "-s", STACK, "--yes")


def _meddle() -> None:
    as_alice(
        *("set", "image", "deployment/support-rag", "-n", "cx"),
        "agent=registry.example/agents/support-rag:hotfix",
    )
    as_alice(
        *("patch", "deployment/coder", "-n", "dev", "--type=json"), f"--patch={json.dumps(SIDECAR)}"
    )
    as_alice("set", "env", "deployment/k8s-helper", "-n", "ops", "LOG_PROMPTS=true")
    as_alice(
        *("patch", "networkpolicy/vision-triage", "-n", "clinic", "--type=json"),
        f"--patch={json.dumps(OPEN_EGRESS)}",
    )
    as_alice("delete", "cronjob/nightly-cost-report-daily", "-n", "finops")


def _refresh(*, expect_clean: bool = False) -> None:
    show(f"pulumi refresh -s {STACK} --preview-only --expect-no-changes")
    result = open_dev().refresh_preview()
    for step in result.drifted:
        paths = ", ".join(difference.path for difference in step.differences)
        say(f"{step.operation:<8} {step.reference or step.name}  {paths}")
    say(f"{len(result.drifted)} resources drifted, in {result.seconds:.1f} s")
    if expect_clean and result.has_drift:
        raise DemoError("refresh still sees drift")


def _refuse() -> None:
    with tempfile.TemporaryDirectory(prefix="holdfast-demo-") as folder:
        project = _project_with(Path(folder), "shadow.yaml", SHADOW_AGENT)
        click.secho(SHADOW_AGENT, dim=True)
        show(f"pulumi preview -s {STACK} --policy-pack policy-pack")
        try:
            open_dev(project).preview(policy_pack=PACK)
        except RunFailedError as error:
            if error.exit_code != ExitCode.POLICY:
                raise
            for violation in error.result.mandatory_violations:
                first, _, rest = violation.message.partition("\n")
                say(f"refused by {violation.policy} ({violation.level}): {rest or first}")
            return
    raise DemoError("the policy pack let a privileged agent in")


def _project_with(folder: Path, name: str, manifest: str) -> Path:
    """The project with one manifest more, in a folder of its own: the clone stays as it is."""
    write_project(plan_project(folder, STACK, None, "holdfast", manifests={}))
    for own in ("agents", "stacks"):
        shutil.copytree(ROOT / own, folder / own, dirs_exist_ok=True)
    (folder / "agents" / name).write_text(manifest)
    return folder


def _counted(result: RunResult) -> str:
    return ", ".join(f"{count} {operation}" for operation, count in sorted(result.counts.items()))
