"""What a stack wants of its cluster: rendered objects, cluster, policy profile, baseline."""

from dataclasses import dataclass
from functools import cached_property
from pathlib import Path

from holdfast.kube.objects import KubeObject
from holdfast.manifest.fleet.fleet import Fleet
from holdfast.manifest.fleet.loader import load_fleet
from holdfast.operations.stack.cluster import audit_log_beside, kubeconfig_of_stack
from holdfast.operations.stack.project import find_project_root
from holdfast.render.fleet import render_fleet
from holdfast.render.plan.declared import plan_fleet
from holdfast.render.plan.marks import RenderedObject


@dataclass(frozen=True)
class StackState:
    """One stack of the project, each part read when first asked for.

    Attributes:
        project_root: Folder of Pulumi.yaml.
        name: Name of the stack.
    """

    project_root: Path
    name: str

    @cached_property
    def fleet(self) -> Fleet:
        """What the files declare for the stack."""
        return load_fleet(self.project_root, self.name)

    @cached_property
    def rendered(self) -> tuple[RenderedObject, ...]:
        """Every object of the stack."""
        return render_fleet(plan_fleet(self.fleet, self.name))

    @property
    def objects(self) -> tuple[KubeObject, ...]:
        """The same, as plain objects."""
        return tuple(item.manifest for item in self.rendered)

    @property
    def context(self) -> str | None:
        """Context of the stack's cluster; None for the current one."""
        return self.fleet.environment.cluster.context

    @property
    def policy_profile(self) -> str:
        """Profile by which the stack is judged: as its file says, else by its name."""
        return self.fleet.environment.profile_for(self.name)

    @property
    def kubeconfig(self) -> Path | None:
        """Kubeconfig of the sandbox that the stack lives in; None when it lives elsewhere.

        Raises:
            InputError: there is no such sandbox.
        """
        return kubeconfig_of_stack(self.name, self.context)

    @property
    def audit_log(self) -> Path | None:
        """Audit log of that sandbox; None when the stack lives elsewhere."""
        return audit_log_beside(self.kubeconfig)


def open_state(stack: str) -> StackState:
    """A stack of the project that the working directory lies in.

    Raises:
        InputError: there is no project here.
    """
    return StackState(find_project_root(), stack)
