"""The rules pss-* against the fixtures by which Kubernetes tests Pod Security Admission itself.

They lie in the Go module that the toolchain builds the API server from.
"""

import os
import shutil
import subprocess
from pathlib import Path
from typing import Any

import pytest
import yaml
from holdfast_policies.evaluation import judge
from holdfast_policies.evaluation.profile import Profile, profile_of
from holdfast_policies.model.rule import Rule
from holdfast_policies.table import RULES

MODULE = "k8s.io/pod-security-admission@v0.36.3"
OLDEST_MINOR, NEWEST_MINOR, NEWEST_FIXTURES = 25, 36, 35
"""1.36 changed no check: the module of that version holds fixtures until 1.35."""
VERSIONS = [*(f"v1.{minor}" for minor in range(OLDEST_MINOR, NEWEST_MINOR + 1)), "latest"]
ONLY_RESTRICTED = {"pss-volume-types", "pss-privilege-escalation", "pss-run-as-non-root"}


def fixtures() -> Path | None:
    cache = os.environ.get("GOMODCACHE", "")
    if not cache and shutil.which("go"):
        done = subprocess.run(
            ["go", "env", "GOMODCACHE"], capture_output=True, text=True, check=False
        )
        cache = done.stdout.strip()
    folder = Path(cache) / MODULE / "test" / "testdata"
    return folder if cache and folder.is_dir() else None


FIXTURES = fixtures()
pytestmark = pytest.mark.skipif(FIXTURES is None, reason=f"{MODULE} is not in Go's module cache")


def profile(level: str, version: str) -> Profile:
    config: dict[str, Any] = {"all": "disabled"}
    for rule in RULES:
        if rule.id.startswith("pss-") and (level == "restricted" or rule.id not in ONLY_RESTRICTED):
            config[rule.id] = {"enforcementLevel": "mandatory", "pss_version": version}
            config[rule.id] |= {"pss_level": level} if _has_level(rule) else {}
    return profile_of("prod", config)


@pytest.mark.parametrize("version", VERSIONS)
@pytest.mark.parametrize("level", ["baseline", "restricted"])
def test_admission_and_rules_agree(level: str, version: str) -> None:
    assert FIXTURES is not None
    chosen = profile(level, version)
    has_fixtures = (FIXTURES / level / version).is_dir()
    folder = FIXTURES / level / (version if has_fixtures else f"v1.{NEWEST_FIXTURES}")
    files = sorted(folder.rglob("*.yaml"))
    assert len(files) > 30
    for path in files:
        pod = yaml.load(path.read_text(), Loader=yaml.CSafeLoader)  # it is safe
        rules = [violation.rule for violation in judge.violations(pod, chosen)]
        assert bool(rules) is (path.parent.name == "fail"), (path, rules)


RELAXED = [
    pytest.param({"procMount": "Unmasked"}, "pss-proc-mount", "baseline", id="proc mount"),
    pytest.param({"runAsNonRoot": None}, "pss-run-as-non-root", "restricted", id="non-root"),
    pytest.param({"runAsUser": 0}, "pss-run-as-non-root", "restricted", id="user 0"),
]


@pytest.mark.parametrize(("context", "rule", "level"), RELAXED)
@pytest.mark.parametrize("version", VERSIONS)
def test_a_pod_with_users_of_its_own_is_judged_less_strictly_from_1_35_on(
    context: dict[str, Any], rule: str, level: str, version: str
) -> None:
    """Source: the checks of Kubernetes' own module, versions with minimum 1.35."""
    whole = {"name": "a", "image": "x", "securityContext": {"runAsNonRoot": True, **context}}
    is_relaxed = version == "latest" or int(version.partition(".")[2]) >= 35
    for host_users, passes in ((False, is_relaxed), (True, False), (None, False)):
        spec = {"hostUsers": host_users, "containers": [whole]}
        pod = {"apiVersion": "v1", "kind": "Pod", "metadata": {"name": "a"}, "spec": spec}
        found = {each.rule for each in judge.violations(pod, profile(level, version))}
        assert (rule not in found) is passes, (host_users, found)


def _has_level(rule: Rule) -> bool:
    return any(parameter.name == "pss_level" for parameter in rule.parameters)
