"""The program of every stack: load what is declared, deploy it. Wiring only."""

import gc
import sys
from pathlib import Path

import pulumi
from holdfast.cli.definition_check import require_definitions
from holdfast.components.fleet import declared_fleet
from holdfast.components.provider import kubernetes_provider
from holdfast.errors import HoldfastError
from holdfast.manifest.loader import load_fleet
from holdfast.render.declared import plan_fleet
from holdfast.render.fleet import render_fleet

# Thousands of small objects live until the end: collecting them again and again costs a third of
# the program's time.
gc.freeze()
gc.set_threshold(200_000, 20, 100)

stack = pulumi.get_stack()
try:
    declared = load_fleet(Path(pulumi.get_root_directory()), stack)
    plan = plan_fleet(declared, stack)
    context = declared.environment.cluster.context
    if unchecked := require_definitions(render_fleet(plan), None, context):
        pulumi.log.warn(unchecked)
    provider = kubernetes_provider(declared.environment, stack)
    fleet = declared_fleet("fleet", plan, pulumi.ResourceOptions(provider=provider))
except HoldfastError as error:
    # As our own commands end: what is wrong, and no traceback.
    sys.stderr.write(f"error: {error}\n")
    sys.exit(int(error.exit_code))
pulumi.export("agents", fleet.urls)
