"""Own rules: what a file must hold; one that is wrong refuses everything, with its line."""

import ast
from pathlib import Path

import pytest
from holdfast_policies import api
from holdfast_policies import rules as shipped
from holdfast_policies.evaluation.judge import violations
from holdfast_policies.evaluation.profile import PolicyConfigError, profile_of
from holdfast_policies.own.loading import rule_of, rules_with
from holdfast_policies.own.source import OwnRuleError, RuleFile, read_rule_files

NAME = "policy-pack/rules/team_label.py"
TEXT = '''"""Every Service names its team."""

from collections.abc import Iterator

from holdfast_policies.api import (
    SERVICE, Admission, Breach, Fix, Level, Levels, Parameter, Rule, Settings, Severity, Subject,
    key_path, mapping,
)

RULE_API = 1
LABEL = Parameter("label", "Label to set.", {"type": "string"}, "acme.example/team")


def check(subject: Subject, settings: Settings) -> Iterator[Breach]:
    """The label that is missing."""
    if not mapping(subject.metadata.get("labels")).get(settings["label"]):
        yield Breach(key_path("metadata.labels", settings["label"]), "nothing", "a team")


RULE = Rule(
    id="team-label",
    title="Named team",
    description="A Service does not name its team",
    rationale="An alert without a team wakes everyone.",
    remedy="set the label",
    source="https://wiki.acme.example/labels",
    severity=Severity.LOW,
    levels=Levels(Level.ADVISORY, Level.ADVISORY, Level.MANDATORY),
    frameworks=(),
    fix=Fix.NO,
    kinds=frozenset({SERVICE}),
    check=check,
    parameters=(LABEL,),
    not_in_cluster="judged at preview only",
)
'''
SERVICE = {
    "apiVersion": "v1",
    "kind": "Service",
    "metadata": {"name": "web", "namespace": "shop"},
    "spec": {"selector": {"app": "web"}, "ports": [{"port": 80}]},
}
RULES = rules_with((RuleFile(NAME, TEXT),))


def rule_names(found: list) -> list[str]:
    return [each.rule for each in found]


def test_an_own_rule_is_evaluated_beside_the_rules_of_the_pack() -> None:
    found = violations(SERVICE, profile_of("prod", None, RULES))
    assert "team-label" in rule_names(found)
    (own,) = [each for each in found if each.rule == "team-label"]
    assert own.path == 'metadata.labels["acme.example/team"]'
    assert str(own.level) == "mandatory"


def test_settings_change_the_level_and_the_parameters_of_an_own_rule() -> None:
    config = {"team-label": {"enforcementLevel": "advisory", "label": "acme.example/squad"}}
    (own,) = [
        each
        for each in violations(SERVICE, profile_of("prod", config, RULES))
        if each.rule == "team-label"
    ]
    assert own.path == 'metadata.labels["acme.example/squad"]'
    assert str(own.level) == "advisory"


def test_settings_of_an_own_rule_are_checked_as_those_of_the_pack_are() -> None:
    with pytest.raises(PolicyConfigError, match="did you mean"):
        profile_of("prod", {"team-lable": "advisory"}, RULES)
    with pytest.raises(PolicyConfigError, match="expected a string"):
        profile_of("prod", {"team-label": {"label": 3}}, RULES)


def edited(old: str, new: str) -> str:
    assert old in TEXT
    return TEXT.replace(old, new)


WRONG = {
    "no Python": (edited("def check(", "def check(("), 14, "expected Python"),
    "no rule": (edited("RULE = Rule(", "OTHER = Rule("), 1, "expected RULE = Rule(...)"),
    "another name": (edited('id="team-label"', 'id="team"'), 21, "expected id 'team-label'"),
    "another version": (edited("RULE_API = 1", "RULE_API = 2"), 10, "expected RULE_API = 1, got 2"),
    "no version": (edited("RULE_API = 1\n", ""), 1, "expected RULE_API = 1, got nothing"),
    "an internal import": (
        edited("RULE_API = 1", "RULE_API = 1\nfrom holdfast_policies.model.rule import Rule as R"),
        11,
        "holdfast_policies.model.rule is not public",
    ),
    "reads the clock": (edited("RULE_API = 1", "RULE_API = 1\nimport time"), 11, "import time"),
    "reads files": (
        edited('    """The label that is missing."""', '    open("/etc/passwd")'),
        15,
        "may not call open()",
    ),
    "does not load": (edited("frozenset({SERVICE})", "frozenset({SERVICES})"), 31, "NameError"),
    "an unknown argument": (edited("fix=Fix.NO,", "fixes=Fix.NO,"), 20, "TypeError"),
    "a severity in text": (edited("Severity.LOW", '"low"'), 27, "expected a Severity"),
    "no kinds": (edited("frozenset({SERVICE})", "frozenset()"), 31, "expected a frozenset of Kind"),
    "two checks": (edited("check=check,", "check=check, check_stack=check,"), 32, "either check"),
    "a wrong default": (edited('"acme.example/team"', "3"), 33, "expected a string, got 3"),
    "no admission, no reason": (
        edited('    not_in_cluster="judged at preview only",\n', ""),
        20,
        "or not_in_cluster with the reason",
    ),
    "corrects without a way": (
        edited("Level.ADVISORY, Level.MANDATORY", "Level.ADVISORY, Level.REMEDIATE"),
        28,
        "level remediate requires the function `remediate`",
    ),
}


@pytest.mark.parametrize(("text", "line", "words"), WRONG.values(), ids=WRONG)
def test_a_wrong_file_is_refused_with_its_line(text: str, line: int, words: str) -> None:
    with pytest.raises(OwnRuleError) as refused:
        rules_with((RuleFile(NAME, text),))
    assert str(refused.value).startswith(f"{NAME}:{line}: "), str(refused.value)
    assert words in str(refused.value)


@pytest.mark.parametrize("name", ["pss_privileged", "Team", "team__label", "1st", "t" * 61])
def test_a_file_cannot_take_the_name_of_a_shipped_rule_or_a_bad_name(name: str) -> None:
    with pytest.raises(OwnRuleError, match="rename the file"):
        rule_of(RuleFile(f"policy-pack/rules/{name}.py", TEXT))


def test_a_rule_that_raises_is_a_violation_with_its_file_and_line() -> None:
    text = edited("    if not mapping(", "    raise ValueError(settings)\n    if not mapping(")
    profile = profile_of("dev", None, rules_with((RuleFile(NAME, text),)))
    (own,) = [each for each in violations(SERVICE, profile) if each.rule == "team-label"]
    assert own.got == f"ValueError at {NAME}:16"
    assert str(own.level) == "mandatory"


def test_files_are_read_in_order_and_those_with_an_underscore_are_left_out(tmp_path: Path) -> None:
    folder = tmp_path / "policy-pack" / "rules"
    folder.mkdir(parents=True)
    for name in ("b.py", "a.py", "_words.py", "notes.md"):
        (folder / name).write_text("x")
    names = [each.name for each in read_rule_files(tmp_path / "policy-pack")]
    assert names == ["policy-pack/rules/a.py", "policy-pack/rules/b.py"]


def test_the_rules_of_the_pack_use_no_more_than_own_rules_may() -> None:
    for file in sorted(Path(shipped.__path__[0]).glob("[a-z]*.py")):
        for node in ast.walk(ast.parse(file.read_text())):
            if isinstance(node, ast.ImportFrom) and (node.module or "").startswith("holdfast_"):
                assert node.module == "holdfast_policies.api" or (node.module or "").startswith(
                    "holdfast_policies.facts."
                ), (file.name, node.module)
                if node.module == "holdfast_policies.api":
                    assert {each.name for each in node.names} <= set(api.__all__), file.name
