"""The program of every stack: load what is declared, deploy it. Wiring only."""

import gc
from pathlib import Path

import pulumi
from holdfast.components.fleet import declared_fleet
from holdfast.components.provider import kubernetes_provider
from holdfast.manifest.loader import load_fleet
from holdfast.render.declared import plan_fleet

# Thousands of small objects live until the end: collecting them again and again costs a third of
# the program's time.
gc.freeze()
gc.set_threshold(200_000, 20, 100)

stack = pulumi.get_stack()
declared = load_fleet(Path(pulumi.get_root_directory()), stack)
provider = kubernetes_provider(declared.environment, stack)
plan = plan_fleet(declared, stack)
fleet = declared_fleet("fleet", plan, pulumi.ResourceOptions(provider=provider))
pulumi.export("agents", fleet.urls)
