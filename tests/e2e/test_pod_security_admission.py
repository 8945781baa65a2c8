"""The rules pss-* and the API server's own Pod Security Admission say the same of every case."""

import json
import secrets
from collections.abc import Iterator
from typing import Any

import pytest
from holdfast_policies import judge
from holdfast_policies.table import RULES

from tests.e2e.live_sandbox import Kubectl
from tests.policies.rule_cases import Case, allowed_case, cases_of

pytestmark = pytest.mark.e2e

ENFORCE = "pod-security.kubernetes.io/enforce"
DENIED = "violates PodSecurity"
REFUSED_BEFORE_ADMISSION = ("is invalid", "strict decoding error")
NEWER_THAN_THE_API_SERVER = "pss-sysctls/safe-from-1.37-on"


@pytest.fixture
def namespaces(kubectl: Kubectl) -> Iterator[dict[tuple[str, str], str]]:
    """A namespace for each level and version of the standard that a case is judged by.

    Labelled when they are created: admission would see a later change with a delay.
    """
    wanted = sorted({level_and_version(case) for case in pod_security_cases()})
    unique = secrets.token_hex(4)
    names = {each: f"pod-security-{unique}-{number}" for number, each in enumerate(wanted)}
    for (level, version), name in names.items():
        labels = {ENFORCE: level, f"{ENFORCE}-version": version}
        metadata = {"name": name, "labels": labels}
        account = {"name": "agent", "namespace": name}
        kubectl.apply({"apiVersion": "v1", "kind": "Namespace", "metadata": metadata})
        kubectl.apply({"apiVersion": "v1", "kind": "ServiceAccount", "metadata": account})
    yield names
    kubectl("delete", "namespace", "--wait=false", *names.values())


def test_admission_and_rules_agree(
    kubectl: Kubectl, namespaces: dict[tuple[str, str], str]
) -> None:
    verdicts = {"denied": 0, "admitted": 0, "refused before": 0}
    for case in pod_security_cases():
        pod = pod_of(case, namespaces[level_and_version(case)])
        done = kubectl.run("create", "--dry-run=server", "-f", "-", stdin=json.dumps(pod))
        if any(reason in done.stderr for reason in REFUSED_BEFORE_ADMISSION):
            verdicts["refused before"] += 1
            continue
        is_denied = DENIED in done.stderr
        assert is_denied or done.returncode == 0, (case.id, done.stderr)
        assert is_denied is bool(violated(case, pod)), (case.id, done.stderr)
        verdicts["denied" if is_denied else "admitted"] += 1
    assert min(verdicts["denied"], verdicts["admitted"]) > 15, verdicts


def pod_security_cases() -> list[Case]:
    chosen = [rule for rule in RULES if rule.id.startswith("pss-")]
    cases = [allowed_case(chosen[0]), *(case for rule in chosen for case in cases_of(rule))]
    return [case for case in cases if case.id != NEWER_THAN_THE_API_SERVER]


def violated(case: Case, pod: dict[str, Any]) -> list[str]:
    """Rules that the pod violates at the level and version of the case."""
    level, version = level_and_version(case)
    config: dict[str, Any] = {"all": "disabled"}
    for rule in RULES:
        parameters = {parameter.name for parameter in rule.parameters}
        if "pss_version" in parameters and (level == "restricted" or "P-R" not in rule.frameworks):
            config[rule.id] = {"enforcementLevel": "mandatory", "pss_version": version}
            config[rule.id] |= {"pss_level": level} if "pss_level" in parameters else {}
    return [violation.rule for violation in judge.violations(pod, "prod", config)]


def level_and_version(case: Case) -> tuple[str, str]:
    version = str(case.settings.get("pss_version", "latest"))
    version = version if version == "latest" else f"v{version.removeprefix('v')}"
    return str(case.settings.get("pss_level", "restricted")), version


def pod_of(case: Case, namespace: str) -> dict[str, Any]:
    """The pod of a case in a namespace; ephemeral containers join later, so they go."""
    pod = {**case.kube_object, "metadata": {**case.kube_object["metadata"], "namespace": namespace}}
    pod["spec"] = {key: value for key, value in pod["spec"].items() if key != "ephemeralContainers"}
    return pod
