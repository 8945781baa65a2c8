"""What a rule is: plain data and one pure function, and what that function may say.

Everything else (the pack, the judge of live objects, the pages about the rules) is made from these
values, so a rule is written once. Imports nothing but the standard library.
"""

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from enum import StrEnum
from typing import Any, Final, TypeAlias

from holdfast_policies.model.applies_to import EVERYTHING, AppliesTo
from holdfast_policies.model.cel import Admission
from holdfast_policies.model.edit import Edit
from holdfast_policies.model.finding import Finding
from holdfast_policies.model.kinds import Kind
from holdfast_policies.model.stack import Stack
from holdfast_policies.model.subject import Subject


class Environment(StrEnum):
    """The profiles; a stack of any other name than the first two counts as production."""

    DEV = "dev"
    STAGING = "staging"
    PROD = "prod"


PROFILES: Final = tuple(each.value for each in Environment)


class Level(StrEnum):
    """What follows from a violation, in the words of the engine."""

    DISABLED = "disabled"
    ADVISORY = "advisory"
    MANDATORY = "mandatory"
    REMEDIATE = "remediate"

    @property
    def refuses(self) -> bool:
        """Whether a violation is refused; what `remediate` cannot put right is."""
        return self in (Level.MANDATORY, Level.REMEDIATE)


class Severity(StrEnum):
    """How bad a violation is, whatever follows from it."""

    LOW = "low"
    MEDIUM = "medium"
    HIGH = "high"
    CRITICAL = "critical"


class Fix(StrEnum):
    """Whether an object could be put right without a person's choice."""

    YES = "yes"
    PARTLY = "partly"
    NO = "no"


@dataclass(frozen=True, slots=True)
class Levels:
    """Level of one rule in each profile."""

    dev: Level
    staging: Level
    prod: Level

    def of(self, environment: Environment) -> Level:
        """Level in one profile."""
        return {
            Environment.DEV: self.dev,
            Environment.STAGING: self.staging,
            Environment.PROD: self.prod,
        }[environment]


@dataclass(frozen=True, slots=True, eq=False)
class Parameter:
    """One setting of a rule.

    Attributes:
        name: As written in a config file.
        description: One sentence: meaning, unit, effect.
        schema: JSON Schema of the value, as far as `parameters` knows it.
        default: Value where a config file says nothing.
        defaults: Values of the profiles in which the default differs.
    """

    name: str
    description: str
    schema: Mapping[str, Any]
    default: Any
    defaults: Mapping[Environment, Any] = field(default_factory=dict)

    def value_in(self, environment: Environment) -> Any:  # noqa: ANN401  # any JSON value
        """Default value in one profile."""
        return self.defaults.get(environment, self.default)


Settings: TypeAlias = Mapping[str, Any]
Check: TypeAlias = Callable[[Subject, Settings], Iterable[Finding]]
StackCheck: TypeAlias = Callable[[Stack, Settings], Iterable[Finding]]
Remediate: TypeAlias = Callable[[Subject, Settings], Iterable[Edit]]


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Rule:
    """A rule: everything about it but how it is run.

    Attributes:
        id: Kebab-case; the file of the rule has the same name in snake_case.
        title: Two to six words.
        description: What is wrong when the rule is violated; one sentence without full stop.
        rationale: Why that matters for agents; one or two sentences.
        remedy: What to change; one sentence without full stop, starting with a verb.
        source: Link to the text the rule follows.
        severity: How bad a violation is.
        levels: Level in each profile.
        frameworks: Identifiers of the controls it serves, see `FRAMEWORKS`.
        fix: Whether an object could be put right without a person's choice.
        remediate: What puts an object right that violates the rule, wholly or not at all; None for
            a rule that only judges. See `remediation` about when it is asked.
        kinds: What it applies to.
        applies_to: Which objects of these kinds, where settings do not say it.
        check: Judges one object; None for a stack rule.
        check_stack: Judges a whole stack; None for a rule about one object.
        parameters: What a config file may set.
        admission: The rule as the API server judges by it; None where CEL cannot say it.
        not_in_cluster: Why CEL cannot say it; one sentence without full stop.
    """

    id: str
    title: str
    description: str
    rationale: str
    remedy: str
    source: str
    severity: Severity
    levels: Levels
    frameworks: tuple[str, ...]
    fix: Fix
    remediate: Remediate | None = None
    kinds: frozenset[Kind]
    applies_to: AppliesTo = EVERYTHING
    check: Check | None = None
    check_stack: StackCheck | None = None
    parameters: tuple[Parameter, ...] = ()
    admission: Admission | None = None
    not_in_cluster: str = ""


FRAMEWORKS: Mapping[str, str] = {
    "P-B": "Pod Security Standards, baseline",
    "P-R": "Pod Security Standards, restricted",
    "C": "CIS Kubernetes Benchmark 1.12",
    "N": "NSA/CISA Kubernetes Hardening Guide",
    "LLM": "OWASP Top 10 for LLM Applications 2025",
    "ASI": "OWASP Top 10 for Agentic Applications 2026",
    "MCP": "NSA guidance on the Model Context Protocol, May 2026",
    "NIST": "NIST SP 800-53 revision 5 (identifiers such as AC-6)",
}
