"""The story: a fleet whose cluster is destroyed and whose state is lost; both brought back."""

import json
import tempfile
import time
from pathlib import Path

import click
from holdfast.errors import ExitCode, HoldfastError

from examples.demo.stage import STACK, Clock, DemoError, say, show
from examples.recovery.stage import SANDBOX, Stage, up
from examples.recovery.stand_ins import RefusedError, SecretStore, Storage

AGENT, NAMESPACE, CLAIM = "support-rag", "cx", "support-rag-index"
SNAPSHOT = "support-rag-index-20261121"
_WRITING = ("create", "update", "patch", "delete", "deletecollection")
_US = "admin"


def tell() -> int:
    """Tell the whole story.

    Returns:
        0 when everything happened as it should, 1 otherwise.
    """
    clock = Clock(time.monotonic())
    with tempfile.TemporaryDirectory(prefix="holdfast-recovery-") as folder:
        stage = Stage.build(Path(folder))
        try:
            _chapters(clock, stage)
        except (DemoError, HoldfastError, RefusedError) as error:
            click.secho(f"\nthe demo stopped: {error}", fg="red", err=True)
            return int(ExitCode.ERROR)
        finally:
            stage.holdfast("sandbox", "down", "--name", SANDBOX)
    return int(ExitCode.OK)


def _chapters(clock: Clock, stage: Stage) -> None:
    store, storage = _outside(stage)
    clock.heading("1. A fleet that runs")
    _start(stage)
    up(stage, "the first time")
    _deliver(stage, store)
    up(stage, "the keys have come")
    clock.heading("2. The night's backup")
    say(
        "the storage system takes a snapshot of the agent's volume and keeps it outside the cluster"
    )
    say("(a sandbox runs no containers and no storage: its part is played, the objects are real)")
    storage.take(stage.cluster, NAMESPACE, CLAIM, SNAPSHOT)
    clock.heading("3. The cluster is destroyed: etcd and all")
    stage.holdfast("sandbox", "down", "--name", SANDBOX)
    say("left: the repository, the store of secrets, the snapshots, Pulumi's state")
    clock.heading("4. A new, empty cluster")
    _start(stage)
    say("Pulumi's state still knows every object, and would see nothing to do")
    clock.heading("5. The state records objects that no longer exist: it is recreated")
    stage.holdfast("recover", "-s", STACK, "--replace", expected=(ExitCode.DRIFT,))
    clock.heading("6. The snapshot is made known, and declared as what fills the new volume")
    name = storage.bring(stage.cluster)
    stage.holdfast(
        *("agent", "restore", AGENT, "--from", name, "-s", STACK, "--yes"),
        *("--reason", "the cluster was lost"),
    )
    stage.commit("Restore the index of support-rag")
    clock.heading("7. The fleet again, from the commit")
    up(stage, "the cluster was lost")
    _deliver(stage, store)
    up(stage, "the keys have come")
    _show_restored(stage)
    stage.holdfast("drift", "-s", STACK)
    _lose_the_state(clock, stage)
    clock.heading("9. What was done, and why")
    stage.holdfast("history", STACK)
    clock.heading("Done. Read on in docs/recovery.md")


def _lose_the_state(clock: Clock, stage: Stage) -> None:
    clock.heading("8. Now the other loss: the cluster runs on, the state is gone")
    stage.lose_state()
    before = _writes(stage)
    stage.holdfast("recover", "-s", STACK)
    written = _writes(stage) - before
    say(f"written to the cluster meanwhile, as its audit log has it: {written} objects")
    if written:
        raise DemoError("the recovery of the state wrote to the cluster")


def _outside(stage: Stage) -> tuple[SecretStore, Storage]:
    """What lies outside of the cluster and survives it."""
    secrets = stage.folder / "secret-store.json"
    secrets.write_text(json.dumps({"agents/llm": {"token": "the-key-of-the-model"}}))
    return SecretStore(secrets), Storage(stage.folder / "snapshots.json")


def _start(stage: Stage) -> None:
    controllers = "external-secrets,volume-snapshots"
    stage.holdfast("sandbox", "up", "--name", SANDBOX, "--with", controllers)


def _deliver(stage: Stage, store: SecretStore) -> None:
    for name in store.deliver(stage.cluster):
        say(f"the store's operator made Secret {name}")


def _show_restored(stage: Stage) -> None:
    """Say what the new claim is filled from; the story ends if it is not the snapshot."""
    show(f"kubectl get pvc {CLAIM} -n {NAMESPACE} -o jsonpath='{{.spec.dataSource}}'")
    claim = json.loads(stage.cluster.kubectl("get", "pvc", CLAIM, "-n", NAMESPACE, "-o", "json"))
    source = claim["spec"].get("dataSource") or {}
    say(json.dumps(source))
    say(f"phase {claim['status']['phase']}")
    if source.get("name") != SNAPSHOT:
        raise DemoError(f"claim {CLAIM} is not filled from snapshot {SNAPSHOT}")
    jobs = json.loads(stage.cluster.kubectl("get", "job", "-n", NAMESPACE, "-o", "json"))["items"]
    for job in jobs:
        say(f"Job {job['metadata']['name']}: {job['status'].get('succeeded', 0)} succeeded")


def _writes(stage: Stage) -> int:
    """How often the stack's account has written to the cluster."""
    events = (json.loads(line) for line in stage.audit_log.read_text().splitlines())
    return sum(
        event["user"]["username"] == _US
        and event["verb"] in _WRITING
        and "dryRun=" not in event.get("requestURI", "")
        for event in events
    )
