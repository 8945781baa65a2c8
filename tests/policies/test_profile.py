"""Levels and settings by environment, and what a config file overrides."""

import json
from pathlib import Path
from typing import Any

import pytest
from holdfast_policies.evaluation.profile import (
    PolicyConfigError,
    environment_of,
    load_config,
    profile_of,
)
from holdfast_policies.model.rule import Environment, Level
from holdfast_policies.table import RULES_BY_ID

CONFIG_FOLDER = Path(__file__).parents[2] / "policy-pack" / "config"


def ruling(environment: str, rule: str, config: dict[str, Any] | None = None) -> Any:
    return next(each for each in profile_of(environment, config).rulings if each.rule.id == rule)


@pytest.mark.parametrize(
    ("stack", "environment"),
    [
        ("dev", Environment.DEV),
        ("staging", Environment.STAGING),
        ("prod", Environment.PROD),
        ("organization/holdfast/dev", Environment.DEV),
        ("dev-eu", Environment.PROD),
        ("DEV", Environment.PROD),
        ("", Environment.PROD),
    ],
)
def test_the_name_of_the_stack_chooses_the_profile(stack: str, environment: Environment) -> None:
    assert environment_of(stack) is environment


def test_defaults_may_differ_by_environment() -> None:
    assert ruling("dev", "image-digest-pinned").settings == {"accept": "version-tag"}
    assert ruling("prod", "image-digest-pinned").settings == {"accept": "digest"}


def test_a_level_for_all_yields_to_one_for_a_rule() -> None:
    config = {"all": "disabled", "pss-privileged": "advisory"}
    assert ruling("prod", "pss-privileged", config).level is Level.ADVISORY
    assert ruling("prod", "pss-host-path", config).level is Level.DISABLED


def test_a_parameter_alone_leaves_the_level_alone() -> None:
    given = ruling("prod", "pss-sysctls", {"pss-sysctls": {"pss_version": "1.30"}})
    assert given.level is Level.MANDATORY
    assert given.settings == {"pss_version": "1.30"}


@pytest.mark.parametrize(
    ("config", "fault"),
    [
        pytest.param({"pss-privilegd": "advisory"}, 'there is no rule "pss-privilegd"', id="rule"),
        pytest.param({"pss-sysctls": "fatal"}, "expected a level (disabled,", id="level"),
        pytest.param({"pss-sysctls": None}, "expected a level", id="no-level"),
        pytest.param(
            {"all": {"pss_version": "1.30"}}, "takes a level and appliesTo only", id="all"
        ),
        pytest.param({"pss-host-path": "remediate"}, 'use "mandatory"', id="remediate"),
        pytest.param(
            {"pss-sysctls": {"version": "1.30"}}, 'did you mean "pss_version"?', id="parameter"
        ),
        pytest.param(
            {"pss-sysctls": {"pss_version": 1.3}}, "expected a string, got 1.3", id="type"
        ),
        pytest.param({"pss-sysctls": {"pss_version": "1.24"}}, "such as '1.36'", id="pattern"),
        pytest.param(
            {"pss-seccomp": {"pss_level": "privileged"}}, 'one of "baseline"', id="choice"
        ),
        pytest.param(
            {"image-registry-allowlist": {"registries": []}}, "empty list", id="empty-list"
        ),
        pytest.param(
            {"image-registry-allowlist": {"registries": ["ghcr.io", "*"]}}, "item 1", id="item"
        ),
        pytest.param(
            {"image-registry-allowlist": {"registries": "ghcr.io"}}, "expected an array", id="list"
        ),
    ],
)
def test_a_wrong_config_is_refused_with_the_remedy(config: dict[str, Any], fault: str) -> None:
    with pytest.raises(PolicyConfigError) as caught:
        profile_of("prod", config)
    assert len(caught.value.faults) == 1
    assert fault in caught.value.faults[0]


@pytest.mark.parametrize("environment", ["dev", "staging", "prod"])
def test_the_config_files_of_the_pack_are_right_and_keep_its_levels(environment: str) -> None:
    profile = profile_of(environment, load_config(CONFIG_FOLDER / f"{environment}.json"))
    for each in profile.rulings:
        assert each.level is RULES_BY_ID[each.rule.id].levels.of(Environment(environment))


def test_a_config_file_that_is_no_json_is_named(tmp_path: Path) -> None:
    path = tmp_path / "policy.yaml"
    path.write_text("all: advisory")
    with pytest.raises(PolicyConfigError, match=r"policy\.yaml: expected a JSON file"):
        load_config(path)


def test_faults_of_a_file_name_the_file(tmp_path: Path) -> None:
    path = tmp_path / "policy.json"
    path.write_text(json.dumps({"nonsense": "advisory"}))
    with pytest.raises(PolicyConfigError, match=r"policy\.json: there is no rule"):
        load_config(path)
