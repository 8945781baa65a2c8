"""What a stack declares, as plain data: all that a scan of a stack in sync needs of its files.

Plain, so that it can be kept from one run to the next: see `declaration_cache`. The models are
loaded by whoever makes one.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from holdfast.drift.exemption.ignore import IgnoreRule
from holdfast.kube.objects import KubeObject

if TYPE_CHECKING:
    from holdfast.operations.stack.context import StackContext


@dataclass(frozen=True)
class StackDeclaration:
    """What the files of a project say of one stack; no clock, no cluster, nothing of a machine.

    Attributes:
        objects: As they are rendered, JSON data throughout.
        policy_profile: Profile by which live objects are judged.
        policy_rules: What the stack says of single rules, over that profile.
        context: Kubeconfig context of the stack; None for the current one.
        ignore: Rules on expected drift, whether they have expired or not.
        modes: Agent to what is done about its drift: report, revert or adopt.
    """

    objects: tuple[KubeObject, ...]
    policy_profile: str
    policy_rules: Mapping[str, Any]
    context: str | None
    ignore: tuple[IgnoreRule, ...]
    modes: Mapping[str, str]


def declaration_of(state: "StackContext", ignore_file: Path | None) -> StackDeclaration:
    """What the files declare now.

    Args:
        state: The stack.
        ignore_file: Rules on expected drift, named by the user; default the project's own.

    Raises:
        InputError: there is no such stack, or its files are not valid.
    """
    from holdfast.operations.stack.ignore_rules import ignore_rules_of  # noqa: PLC0415  (the models are slow)

    fleet = state.fleet
    return StackDeclaration(
        objects=state.objects,
        policy_profile=state.policy_profile,
        policy_rules=fleet.environment.policy.rules,
        context=state.kube_context,
        ignore=ignore_rules_of(ignore_file, state.root, fleet),
        modes={agent.name: agent.spec.drift.mode for agent in fleet.workloads},
    )
