"""The program of every stack: load what is declared, deploy it. Wiring only."""

import gc
import sys
from dataclasses import replace
from pathlib import Path

import pulumi

from holdfast.components.fleet import declared_fleet
from holdfast.components.registration import kubernetes_provider
from holdfast.errors import HoldfastError
from holdfast.manifest.fleet.loader import load_fleet
from holdfast.operations.stack.preflight.live_checks import read_cluster_facts
from holdfast.operations.stack.update_history import commit_in_words, provenance
from holdfast.render.plan.planning import plan_fleet


def deploy() -> None:
    """Declare every resource of the stack that the engine runs, and its outputs.

    A fault ends the process as our own commands end: what is wrong, and no traceback.
    """
    # Thousands of small objects live until the end: collecting them again and again costs a third
    # of the program's time.
    gc.freeze()
    gc.set_threshold(200_000, 20, 100)
    try:
        _deploy(Path(pulumi.get_root_directory()), pulumi.get_stack())
    except HoldfastError as error:
        sys.stderr.write(f"error: {error}\n")
        sys.exit(int(error.exit_code))


def _deploy(root: Path, stack: str) -> None:
    commit, is_dirty = provenance(root)
    declared = load_fleet(root, stack)
    plan = plan_fleet(declared, stack)
    live = read_cluster_facts(root, declared, plan)
    for note in live.notes:
        pulumi.log.warn(note)
    plan = replace(live.apply_to(plan), commit=commit_in_words(commit, is_dirty=is_dirty))
    provider = kubernetes_provider(declared.environment, stack)
    fleet = declared_fleet("fleet", plan, pulumi.ResourceOptions(provider=provider))
    pulumi.export("agents", fleet.urls)
    pulumi.export("commit", commit)
    pulumi.export("dirty", is_dirty)
