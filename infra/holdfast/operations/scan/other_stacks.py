"""What the other stacks of a project declare on the same cluster: whose label counts there."""

from dataclasses import dataclass, field
from pathlib import Path

from holdfast.errors import HoldfastError
from holdfast.kube.objects import Identity, placed, reference_of
from holdfast.kube.structure import is_namespaced
from holdfast.manifest.stack.names import stack_names
from holdfast.operations.progress import SILENT, Progress
from holdfast.operations.stack.declared_stack import DeclaredStack


@dataclass
class OtherStacks:
    """The other stacks of one project; each is read when an object that bears its label is found.

    Attributes:
        root: Folder of Pulumi.yaml.
        stack: The stack that is scanned.
        context: Its kubeconfig context; None for the current one.
        progress: Takes notes on a stack that cannot be read.
    """

    root: Path
    stack: str
    context: str | None
    progress: Progress = SILENT
    _declared: dict[str, frozenset[Identity]] = field(default_factory=dict)

    def declares(self, stack: str, identity: Identity) -> bool:
        """Whether another stack exists on this cluster and declares an object.

        Anybody can write a label: a stack that has no file here, that lives on another cluster, or
        whose files cannot be read, accounts for nothing.
        """
        if stack not in self._declared:
            self._declared[stack] = self._read(stack)
        return identity in self._declared[stack]

    def _read(self, stack: str) -> frozenset[Identity]:
        if stack == self.stack or stack not in stack_names(self.root):
            return frozenset()
        try:
            declaration = DeclaredStack(self.root, stack).declaration
        except HoldfastError as error:
            self.progress.note(f"note: stack {stack} cannot be read: {error}")
            return frozenset()
        if declaration.context != self.context:
            return frozenset()
        objects = placed(declaration.objects, is_namespaced, "default")
        return frozenset(reference_of(one).identity for one in objects)
