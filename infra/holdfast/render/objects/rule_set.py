"""The rules that a project knows: those of the policy pack, and its own."""

from collections.abc import Iterable

from holdfast_policies.evaluation.rule_set import RuleSet
from holdfast_policies.own.loading import rules_with
from holdfast_policies.own.source import OwnRuleError, RuleFault, RuleFile

from holdfast.errors import InvalidFilesError, ManifestError, SourceLocation
from holdfast.manifest.fleet.fleet import Fleet


def rules_of(fleet: Fleet) -> RuleSet:
    """The rules by which a fleet is judged.

    Raises:
        InvalidFilesError: an own rule cannot be evaluated; then nothing is judged.
    """
    return rules_of_files(fleet.rule_files)


def rules_of_files(files: Iterable[RuleFile]) -> RuleSet:
    """The same of the files of own rules.

    Raises:
        InvalidFilesError: one of them cannot be evaluated.
    """
    try:
        return rules_with(tuple(files))
    except OwnRuleError as error:
        raise InvalidFilesError([_located(each) for each in error.faults]) from error


def _located(fault: RuleFault) -> ManifestError:
    place = SourceLocation(fault.file, fault.line)
    return ManifestError(place, "", expected=fault.expected, remedy=fault.remedy)
