"""The rules pss-* and the API server's own Pod Security Admission say the same of every case."""

import json
import re
import secrets
from collections.abc import Iterator
from typing import Any

import pytest
from holdfast_policies.evaluation import judge
from holdfast_policies.table import RULES

from tests.e2e.live_sandbox import Kubectl
from tests.policies.rule_cases import Case, allowed_case, cases_of

pytestmark = pytest.mark.e2e

ENFORCE = "pod-security.kubernetes.io/enforce"
DENIED = "violates PodSecurity"
NEWER_THAN_THE_API_SERVER = {
    "pss-sysctls/safe-from-1.37-on",
    "pss-volume-types/type-of-the-future",
}
APPLY = ("apply", "--dry-run=server", "--validate=false", "-f", "-")


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
    """All pods of a namespace in one go: each is created (dry run) or refused, by its name."""
    verdicts = {"denied": 0, "admitted": 0, "refused before": 0}
    for judged_by, namespace in namespaces.items():
        cases = [case for case in pod_security_cases() if level_and_version(case) == judged_by]
        pods = [pod_of(case, namespace, f"case-{number}") for number, case in enumerate(cases)]
        listed = json.dumps({"apiVersion": "v1", "kind": "List", "items": pods})
        done = kubectl.run(*APPLY, stdin=listed)
        said = [*done.stdout.splitlines(), *done.stderr.splitlines()]
        for case, pod in zip(cases, pods, strict=True):
            name = re.compile(rf"\b{pod['metadata']['name']}\b")
            verdict = verdict_of(next(filter(name.search, said)))
            verdicts[verdict] += 1
            rules = violated(case, pod)
            assert verdict == "refused before" or rules == [] or verdict == "denied", case.id
            assert verdict != "denied" or rules, case.id
    assert verdicts["denied"] > 25, verdicts
    assert verdicts["admitted"] > 15, verdicts


def verdict_of(line: str) -> str:
    """What became of a pod, by the line that names it."""
    if DENIED in line:
        return "denied"
    return "admitted" if "created" in line else "refused before"


def pod_security_cases() -> list[Case]:
    chosen = [rule for rule in RULES if rule.id.startswith("pss-")]
    cases = [allowed_case(chosen[0]), *(case for rule in chosen for case in cases_of(rule))]
    return [case for case in cases if case.id not in NEWER_THAN_THE_API_SERVER]


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


def pod_of(case: Case, namespace: str, name: str) -> dict[str, Any]:
    """The pod of a case in a namespace; ephemeral containers join later, so they go."""
    metadata = {**case.kube_object["metadata"], "namespace": namespace, "name": name}
    pod = {**case.kube_object, "metadata": metadata}
    pod["spec"] = {key: value for key, value in pod["spec"].items() if key != "ephemeralContainers"}
    return pod
