"""The contract of the table: every rule is complete, and is what the reference says it is."""

import inspect
import re
import sys
from pathlib import Path

import pytest
import yaml
from holdfast_policies.model.rule import FRAMEWORKS, Environment, Fix, Level, Rule
from holdfast_policies.table import RULES, RULES_BY_ID
from holdfast_policies.version import PACK_NAME, PACK_VERSION

from tests.policies.rule_cases import cases_of, has_cases

PACK = Path(__file__).parents[2] / "policy-pack"
EXPECTED = """
pss-privileged                     M/M/M  P-B C5.2.2 N AC-6 ASI05                            yes
pss-host-namespaces                M/M/M  P-B C5.2.3-5 N SC-39 ASI05                         yes
pss-host-path                      M/M/M  P-B C5.2.12 N AC-6 ASI05                           no
pss-host-ports                     A/M/M  P-B C5.2.13 N SC-7                                 yes
pss-host-probes-lifecycle          A/M/M  P-B SC-7 ASI02                                     yes
pss-capabilities                   A/M/M  P-B/R C5.2.8-10 N AC-6                             yes
pss-apparmor-selinux               A/M/M  P-B SC-39 N                                        yes
pss-proc-mount                     A/M/M  P-B/R SC-39                                        yes
pss-seccomp                        A/R/R  P-B/R C5.7.2 SC-39 ASI05                           yes
pss-sysctls                        A/M/M  P-B CM-7                                           yes
pss-windows-host-process           M/M/M  P-B C5.2.11 AC-6                                   no
pss-volume-types                   A/M/M  P-R CM-7                                           no
pss-privilege-escalation           A/R/R  P-R C5.2.6 N AC-6                                  yes
pss-run-as-non-root                A/M/M  P-R C5.2.7 N AC-6                                  partly
read-only-root-filesystem          A/A/M  N SI-7 ASI05 ASI10                                 yes
sandboxed-runtime-class            A/M/M  SC-39 SC-44 LLM05 LLM06 ASI05 MCP                  yes
image-digest-pinned                A/M/M  SI-7 SR-4 LLM03 ASI04                              no
image-registry-allowlist           A/M/M  C5.5.1 SR-3 LLM03 ASI04                            no
image-signature-verification-in-place D/A/M  CM-14 SR-11 C5.5.1 ASI04                           no
no-runtime-install                 A/M/M  CM-7 SI-7 LLM03 ASI04 MCP                          no
model-and-tool-volume-pinned       A/M/M  SI-7 LLM03 LLM04 ASI04                             no
requests-and-limits                A/R/M  N SC-6 LLM10 ASI08                                 yes
resource-ceilings                  A/M/M  SC-6 LLM10 ASI08                                   partly
gpu-governed                       A/M/M  SC-6 LLM10                                         no
probes-distinct-and-bounded        A/A/M  SI-13 CP-10                                        no
min-replicas-and-spread            D/A/M  CP-10 SC-5                                         yes
graceful-drain                     D/A/A  SI-17 ASI08                                        yes
job-bounds                         A/M/M  SC-5 LLM10 ASI08 ASI10                             yes
sandbox-lifetime                   A/M/M  AC-12 SI-14 LLM10 ASI10                            yes
egress-scoped                      A/M/M  N SC-7 AC-4 LLM02 LLM06 ASI02 MCP                  no
metadata-endpoint-blocked          A/M/M  SC-7 AC-6 ASI03                                    no
model-traffic-via-gateway          A/M/M  AC-4 SC-7 LLM02 LLM10 ASI02 MCP                    no
no-public-exposure                 A/M/M  SC-7 ASI07                                         no
ingress-tls-and-authn              A/M/M  SC-8 IA-9 AC-3 ASI07 MCP                           no
sandbox-network-managed            M/M/M  SC-7 LLM06 ASI05                                   yes
no-literal-credentials             M/M/M  N IA-5 SC-28 LLM02 LLM07 ASI03                     no
secrets-as-files                   A/A/M  C5.4.1 IA-5 ASI03                                  no
external-secret-store              D/A/M  C5.4.2 IA-5 SC-12                                  no
dedicated-service-account          A/M/M  C5.1.5 IA-9 AC-6 ASI03                             no
no-token-automount                 A/R/M  C5.1.6 N AC-6 ASI03                                yes
rbac-no-wildcards                  A/M/M  C5.1.3 AC-6 LLM06 ASI03                            no
rbac-no-privileged-binding         M/M/M  C5.1.1 C5.1.7 N AC-6 ASI03                         no
rbac-no-dangerous-verbs            A/M/M  C5.1.2-4,8-13 AC-6 LLM06 ASI03 ASI10               no
rbac-no-policy-tampering           M/M/M  C5.1.12 CM-5 AC-5 ASI10                            no
pvc-approved-class                 A/M/M  SC-28 LLM08 ASI06                                  no
emptydir-bounded                   A/R/R  SC-6 ASI08                                         yes
data-class-and-retention-declared  A/A/M  SI-12 AU-11 LLM02 ASI06                            no
autoscaler-and-warmpool-bounds     A/M/M  SC-5 SC-6 LLM10 ASI08                              no
owner-and-cost-labels              A/R/M  CM-8 PM-5                                          partly
token-budget-declared              A/A/M  SC-5 LLM10 ASI08                                   no
model-declared                     A/M/M  CM-8 SR-4 LLM03 LLM04 ASI04                        no
model-allowlist-by-environment     A/M/M  CM-7 RA-3 LLM03 ASI04                              no
no-unsafe-model-loading            A/M/M  SI-7 SI-3 LLM03 LLM04 ASI05                        no
tool-allowlist-declared            A/M/M  AC-6 CM-7 LLM06 ASI02 ASI04 MCP                    no
autonomy-and-oversight-declared    A/M/M  AC-5 IR-4 LLM06 ASI09 ASI10                        no
prompt-config-immutable            A/A/M  CM-3 SI-7 LLM07 ASI01 ASI06                        yes
telemetry-configured               A/A/M  AU-2 AU-12 SI-4 ASI08                              partly
tool-call-audit-enabled            A/M/M  AU-2 AU-3 AU-12 MCP ASI09 ASI10                    no
log-retention-and-redaction-declared A/A/M  AU-11 SI-12 LLM02                                  no
provenance-annotations             A/R/M  CM-2 CM-3 SR-4 AU-10                               yes
no-opaque-deployment               A/M/M  CM-6 SA-15                                         no
no-control-plane-objects           A/M/M  CM-5 AC-6 ASI10                                    no
typed-fields                       M/M/M  CM-6 SI-7                                          no
unjudged-kind                      A/A/M  CM-7 CM-6                                          no
no-security-ignore-changes         A/M/M  CM-3 CM-5                                          no
stateful-protected                 D/A/M  CP-9 CM-5                                          no
stack-network-policy-coverage      A/M/M  C5.3.2 N SC-7 ASI07 MCP                            no
stack-namespace-baseline           A/M/M  C5.7.1 C5.7.4 C5.2.1 SC-6                          partly
stack-disruption-budget-coverage   D/A/M  CP-10                                              no
stack-trust-zones                  A/M/M  AC-4 AC-5 SC-32 ASI03 ASI07 MCP                    no
stack-effective-rbac               A/M/M  AC-6 ASI03 LLM06                                   no
stack-admission-parity             D/A/M  C5.2.1 CM-6 SI-7                                   no
stack-preview-certainty            A/A/M  CA-7 RA-3                                          no
"""
ROWS = [row.split() for row in EXPECTED.strip().splitlines()]
EVERY_RULE = [pytest.param(rule, id=rule.id) for rule in RULES]


def test_holds_exactly_the_rules_of_the_reference() -> None:
    assert [rule.id for rule in RULES] == [row[0] for row in ROWS]
    assert len(RULES_BY_ID) == len(RULES)


@pytest.mark.parametrize("row", [pytest.param(row, id=row[0]) for row in ROWS])
def test_levels_frameworks_and_fix_are_those_of_the_reference(row: list[str]) -> None:
    name, levels, *frameworks, fix = row
    rule = RULES_BY_ID[name]
    letters = {"D": Level.DISABLED, "A": Level.ADVISORY, "M": Level.MANDATORY, "R": Level.REMEDIATE}
    expected = [letters[letter] for letter in levels.split("/")]
    assert [rule.levels.of(environment) for environment in Environment] == expected
    assert list(rule.frameworks) == frameworks
    assert rule.fix is Fix(fix)


@pytest.mark.parametrize("rule", EVERY_RULE)
def test_a_rule_lives_in_the_file_of_its_name(rule: Rule) -> None:
    module = sys.modules[f"holdfast_policies.rules.{rule.id.replace('-', '_')}"]
    assert module.__dict__["RULE"] is rule
    assert inspect.getdoc(module)


@pytest.mark.parametrize("rule", EVERY_RULE)
def test_a_rule_explains_itself(rule: Rule) -> None:
    assert re.fullmatch(r"[a-z]+(-[a-z]+)+", rule.id)
    for text in (rule.title, rule.description, rule.remedy):
        assert len(text) > 5
        assert not text.endswith(".")
    assert rule.rationale.endswith(".")
    assert rule.source.startswith("https://")
    assert rule.kinds
    assert rule.check or rule.check_stack
    known = ("P-", "C", "LLM", "ASI", "MCP", "N")
    is_control = re.compile(r"[A-Z]{2}-\d+")
    assert all(each.startswith(known) or is_control.fullmatch(each) for each in rule.frameworks)
    assert all(parameter.description.endswith(".") for parameter in rule.parameters)


@pytest.mark.parametrize("rule", EVERY_RULE)
def test_a_rule_has_an_allowed_and_a_disallowed_case(rule: Rule) -> None:
    assert has_cases(rule)
    assert any(case.violates is not None for case in cases_of(rule))
    assert any(case.violates is None for case in cases_of(rule))


@pytest.mark.parametrize("rule", EVERY_RULE)
def test_what_is_to_be_remediated_can_be(rule: Rule) -> None:
    for environment in Environment:
        assert rule.levels.of(environment) is not Level.REMEDIATE or rule.remediate is not None


def test_no_rule_file_is_left_out_of_the_table() -> None:
    folder = Path(inspect.getfile(sys.modules["holdfast_policies.rules"])).parent
    files = {path.stem for path in folder.glob("*.py") if path.stem != "__init__"}
    assert files == {rule.id.replace("-", "_") for rule in RULES}


def test_pod_security_rules_all_take_the_version_of_the_standard() -> None:
    pod_security = [rule for rule in RULES if rule.id.startswith("pss-")]
    assert len(pod_security) == 14
    assert all("pss_version" in {each.name for each in rule.parameters} for rule in pod_security)


def test_the_pack_tells_the_same_version_everywhere() -> None:
    declared = yaml.safe_load((PACK / "PulumiPolicy.yaml").read_text())
    assert (declared["name"], declared["version"]) == (PACK_NAME, PACK_VERSION)


def test_every_family_of_controls_has_its_name() -> None:
    assert {"P-B", "P-R", "C", "N", "LLM", "ASI", "MCP", "NIST"} == set(FRAMEWORKS)


def test_at_most_eight_rules_judge_the_whole_stack() -> None:
    assert sum(rule.check is None for rule in RULES) <= 8
