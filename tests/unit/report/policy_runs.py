"""Previews under the policy pack, as lines of the engine's stream, for tests of reports."""

import json
from typing import Any

from holdfast.adapters.engine.results import RunResult, read_result
from holdfast.errors import SourceLocation
from holdfast.kube.objects import ObjectRef
from holdfast.kube.paths import Path
from holdfast.operations.policy.engine_verdicts import EngineRun, engine_report
from holdfast.operations.policy.model import PolicyReport

DEPLOYMENT = ObjectRef("cx", "Deployment", "support-rag", "apps/v1")
URN = "urn:pulumi:dev::holdfast::holdfast:index:Fleet$kubernetes:apps/v1:Deployment::support-rag"
ENCRYPTED = {"4dabf18193072939515e22adb298388d": "1b47", "ciphertext": "[secret]"}
OLD_IMAGE = "registry.example/agents/support-rag@sha256:2b9f"
NEW_IMAGE = "registry.example/agents/support-rag@sha256:deadbeef"


def deployment(**container: Any) -> dict[str, Any]:
    """Inputs of the agent's Deployment."""
    whole = {"name": "agent", "image": OLD_IMAGE, **container}
    return {
        "apiVersion": "apps/v1",
        "kind": "Deployment",
        "metadata": {
            "namespace": "cx",
            "name": "support-rag",
            "labels": {"holdfast.dev/agent": "support-rag"},
            "annotations": {"holdfast.dev/revision": json.dumps(container)},
        },
        "spec": {"template": {"spec": {"containers": [whole]}}},
    }


def step(operation: str, old: Any = None, new: Any = None, urn: str = URN, **more: Any) -> Any:
    token = urn.split("::")[2].rpartition("$")[2]
    state = {
        "op": operation,
        "urn": urn,
        "type": token,
        "old": None if old is None else {"type": token, "inputs": old},
        "new": None if new is None else {"type": token, "inputs": new},
    }
    return {"resourcePreEvent": {"metadata": state | more}}


def violation(message: str, urn: str = URN, **more: Any) -> Any:
    event = {
        "resourceUrn": urn,
        "message": message,
        "policyName": "pss-privileged",
        "policyPackName": "holdfast",
        "enforcementLevel": "mandatory",
        "severity": "critical",
    }
    return {"policyEvent": event | more}


def summary(*passed: str, urn: str = URN, failed: tuple[str, ...] = ()) -> Any:
    event = {"policyPackName": "holdfast", "passed": passed, "failed": failed}
    if not urn:
        return {"policyAnalyzeStackSummaryEvent": event}
    return {"policyAnalyzeSummaryEvent": event | {"resourceUrn": urn}}


END: Any = {"summaryEvent": {"resourceChanges": {"same": 1}, "result": "succeeded"}}
THE_STACK = summary("stack-trust-zones", urn="")


def result(*events: Any) -> RunResult:
    return read_result("preview", [json.dumps(event).encode() for event in events])


class Places:
    """Where the agent of these runs is declared."""

    def of(self, ref: ObjectRef, path: Path) -> SourceLocation | None:
        return SourceLocation("agents/support-rag.yaml", 22, 3) if ref == DEPLOYMENT else None

    def near(self, agent: str) -> SourceLocation | None:
        return SourceLocation("agents/support-rag.yaml", 1, 1) if agent == "support-rag" else None


def report(*events: Any, **more: Any) -> PolicyReport:
    run = EngineRun("prod", "prod", result(*events), **({"locations": Places()} | more))
    return engine_report(run)
