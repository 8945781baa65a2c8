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
from holdfast_policies import judge
from holdfast_policies.profile import Profile, profile_of
from holdfast_policies.rule import Rule
from holdfast_policies.table import RULES

MODULE = "k8s.io/pod-security-admission@v0.36.3"
OLDEST_MINOR, NEWEST_MINOR = 25, 35
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


@pytest.mark.parametrize("minor", range(OLDEST_MINOR, NEWEST_MINOR + 1))
@pytest.mark.parametrize("level", ["baseline", "restricted"])
def test_admission_and_rules_agree(level: str, minor: int) -> None:
    assert FIXTURES is not None
    version = f"v1.{minor}"
    chosen = profile(level, version)
    files = sorted((FIXTURES / level / version).rglob("*.yaml"))
    assert files
    for path in files:
        pod = yaml.load(path.read_text(), Loader=yaml.CSafeLoader)  # it is safe
        rules = [violation.rule for violation in judge.violations(pod, chosen)]
        assert bool(rules) is (path.parent.name == "fail"), (path, rules)


def _has_level(rule: Rule) -> bool:
    return any(parameter.name == "pss_level" for parameter in rule.parameters)
