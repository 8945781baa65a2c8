"""A Pulumi program of another team: it imports the components and never sees our manifests."""

import json
import secrets
import sys
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from holdfast.adapters.engine.stack import Stack, open_stack

PROGRAM = """
import json, pathlib
import pulumi, pulumi_kubernetes as kubernetes
from holdfast.components.agent import Agent
from holdfast.components.parts import AgentIdentity, AgentNetwork, AgentScaling, AgentStorage

wanted = json.loads(pathlib.Path("wanted.json").read_text())
provider = kubernetes.Provider(
    "cluster", kubeconfig="", context=wanted["context"], cluster_identifier="test")
known = (Agent, AgentIdentity, AgentNetwork, AgentScaling, AgentStorage)
components = {each.__name__: each for each in known}
for kind, name, args in wanted["components"]:
    components[kind](name, args, pulumi.ResourceOptions(provider=provider))
"""


@dataclass(frozen=True)
class ComponentProgram:
    """The other team's project.

    Attributes:
        context: Context of the kubeconfig in which its objects live.
    """

    root: Path
    context: str
    kubeconfig: Path

    def create(self) -> None:
        """Write the project; it declares nothing yet."""
        options = f"{{toolchain: pip, virtualenv: {sys.prefix}}}"
        self.root.mkdir(parents=True, exist_ok=True)
        (self.root / "Pulumi.yaml").write_text(
            f"name: other-{secrets.token_hex(4)}\nruntime: {{name: python, options: {options}}}\n"
        )
        (self.root / "__main__.py").write_text(PROGRAM)

    def declare(self, *components: tuple[str, str, dict[str, Any]]) -> Stack:
        """Say which components the program has, and return its stack, ready to run."""
        wanted = {"context": self.context, "components": components}
        (self.root / "wanted.json").write_text(json.dumps(wanted))
        stack = open_stack(self.root, "dev", kubeconfig=self.kubeconfig)
        stack.init_if_absent()
        return stack
