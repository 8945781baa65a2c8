"""What only a date and the table of rules can say about exemptions."""

from collections.abc import Collection, Iterator
from datetime import date, timedelta

from holdfast.errors import ManifestError
from holdfast.kube.paths import Path, format_path
from holdfast.manifest.fleet.fleet import (
    Declaration,
    DeclaredDriftIgnore,
    DeclaredPolicyException,
    Fleet,
)
from holdfast.manifest.kinds.kinds import DriftIgnore, PolicyException
from holdfast.manifest.types.validation import suggestion

LONGEST_EXCEPTION = timedelta(days=90)
_EXPIRES: Path = ("spec", "expires")


def faults_of_exemptions(
    fleet: Fleet, *, today: date, rules: Collection[str]
) -> Iterator[ManifestError]:
    """Exemptions that have ended, last too long, or name rules that do not exist.

    Args:
        fleet: The declared fleet.
        today: The day to judge by; manifests know no clock.
        rules: Names of the policy pack's rules.
    """
    for exception in fleet.of(PolicyException):
        yield from _faults_of_rules(exception, rules)
        if exception.spec.expires - today > LONGEST_EXCEPTION:
            last = today + LONGEST_EXCEPTION
            yield _fault(
                exception,
                _EXPIRES,
                expected=f"expected a day at most {LONGEST_EXCEPTION.days} days ahead",
                found=str(exception.spec.expires),
                remedy=f"write {last} or earlier, and renew the exception when it ends",
            )
    exemptions: list[DeclaredPolicyException | DeclaredDriftIgnore] = [
        *fleet.of(PolicyException),
        *fleet.of(DriftIgnore),
    ]
    for exemption in exemptions:
        if has_expired(exemption, today):
            yield _fault(
                exemption,
                _EXPIRES,
                expected=f"expected {today} or later",
                found=f"{exemption.spec.expires}: it has ended",
                remedy=f"remove it, or let {exemption.spec.owner} renew it",
            )


def has_expired(exemption: DeclaredPolicyException | DeclaredDriftIgnore, today: date) -> bool:
    """Whether an exemption's last day has passed."""
    return exemption.spec.expires < today


def _faults_of_rules(
    exception: DeclaredPolicyException, rules: Collection[str]
) -> Iterator[ManifestError]:
    for index, rule in enumerate(exception.spec.rules):
        if rule not in rules:
            yield _fault(
                exception,
                ("spec", "rules", index),
                expected="expected the name of a rule",
                found=repr(rule),
                remedy=suggestion(rule, rules),
            )


def _fault(
    exemption: Declaration, path: Path, *, expected: str, found: str, remedy: str
) -> ManifestError:
    return ManifestError(
        exemption.location_of(path),
        format_path(path),
        expected=expected,
        found=found,
        remedy=remedy,
    )
