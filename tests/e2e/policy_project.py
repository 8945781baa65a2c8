"""A Pulumi project for the policy pack: one agent, and values that are known only at update."""

import copy
import json
import sys
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from holdfast.adapters.engine.failures.failures import RunFailedError
from holdfast.adapters.engine.results import RunResult
from holdfast.adapters.engine.run.events import Event, PolicySummary
from holdfast.adapters.engine.stack import Stack, open_stack
from holdfast_policies.table import RULES

from tests.policies.rule_cases import allowed_case, with_value

PACK = Path(__file__).parents[2] / "policy-pack"
LATER = "$later:"
OUTSIDE = {
    "image-signature-verification-in-place": {"verified_by": "the cluster"},
    "stack-admission-parity": {"installed_by": "the cluster"},
}
"""What is in place outside this one stack."""
PROGRAM = f"""
import json, pathlib
import pulumi_kubernetes as kubernetes

wanted = json.loads(pathlib.Path("wanted.json").read_text())
source = kubernetes.core.v1.ConfigMap("source", metadata={{**wanted["place"], "name": "source"}})

def resolved(value):
    if isinstance(value, str) and value.startswith({LATER!r}):
        return source.id.apply(lambda _: value.removeprefix({LATER!r}))
    if isinstance(value, dict):
        return {{key: resolved(item) for key, item in value.items()}}
    return [resolved(item) for item in value] if isinstance(value, list) else value

kinds = {{
    "Deployment": kubernetes.apps.v1.Deployment,
    "NetworkPolicy": kubernetes.networking.v1.NetworkPolicy,
    "PodDisruptionBudget": kubernetes.policy.v1.PodDisruptionBudget,
}}
for item in wanted["objects"]:
    make, name = kinds[item["kind"]], item["kind"].lower()
    make(name, metadata=item["metadata"], spec=resolved(item["spec"]))
"""


@dataclass
class PolicyProject:
    """The project's folder; `declare` says what the program declares.

    Attributes:
        summaries: What passed and failed in the last run, by the name of the resource.
        is_awaited: Updates wait until objects are ready, and until deleted ones are gone.
    """

    root: Path
    kubeconfig: Path
    namespace: str
    summaries: dict[str, PolicySummary] = field(default_factory=dict)
    is_awaited: bool = False

    def create(self) -> None:
        """Write the project; it declares the agent that every rule passes."""
        self.root.mkdir()
        options = f"{{toolchain: pip, virtualenv: {sys.prefix}}}"
        (self.root / "Pulumi.yaml").write_text(
            f"name: {self.namespace}\nruntime: {{name: python, options: {options}}}\n"
        )
        (self.root / "__main__.py").write_text(PROGRAM)
        self.declare()

    def declare(self, edits: Mapping[str, Any] | None = None, *, with_policy: bool = True) -> None:
        """Declare the agent with the values at JSON pointers of its pod replaced."""
        pod = copy.deepcopy(allowed_case(RULES[0]).kube_object)
        for pointer, value in (edits or {}).items():
            pod = with_value(pod, pointer, value)
        place: dict[str, Any] = {
            "namespace": self.namespace,
            "annotations": {} if self.is_awaited else {"pulumi.com/skipAwait": "true"},
        }
        labels = pod["metadata"]["labels"]
        template = {"metadata": {"labels": labels}, "spec": pod["spec"]}
        deployment = {
            "kind": "Deployment",
            "metadata": {
                **place,
                "name": "agent",
                "labels": labels,
                "annotations": place["annotations"] | pod["metadata"]["annotations"],
            },
            "spec": {"replicas": 2, "selector": {"matchLabels": labels}, "template": template},
        }
        budget = {
            "kind": "PodDisruptionBudget",
            "metadata": {**place, "name": "agent"},
            "spec": {"maxUnavailable": 1, "selector": {"matchLabels": labels}},
        }
        policy = {
            "kind": "NetworkPolicy",
            "metadata": {**place, "name": "agent"},
            "spec": {"podSelector": {}, "policyTypes": ["Ingress", "Egress"]},
        }
        objects = [deployment, budget, *([policy] if with_policy else [])]
        (self.root / "wanted.json").write_text(json.dumps({"place": place, "objects": objects}))

    def stack(self, name: str, settings: Mapping[str, Any] | None = None) -> Stack:
        """A stack, created when it is not there yet, with its `holdfast:policy` settings."""
        given = {"rules": OUTSIDE} if settings is None else dict(settings)
        config = {"config": {"holdfast:policy": given}}
        (self.root / f"Pulumi.{name}.yaml").write_text(json.dumps(config))
        stack = open_stack(self.root, name, kubeconfig=self.kubeconfig)
        stack.init_if_absent()
        return stack

    def preview(self, stack: Stack, config: Mapping[str, Any] | None = None) -> RunResult:
        """Preview under the pack; a refused preview returns what was found as well."""
        file = None
        if config is not None:
            file = self.root / "policy.json"
            file.write_text(json.dumps(config))
        self.summaries = {}
        try:
            return stack.preview(policy_pack=PACK, policy_config=file, on_event=self._take)
        except RunFailedError as error:
            if not error.result.mandatory_violations:
                raise
            return error.result

    def _take(self, event: Event) -> None:
        if isinstance(event, PolicySummary):
            self.summaries[event.urn.rpartition("::")[2]] = event
