"""Putting an object right at preview: what rules of level `remediate` change, and when they do not.

Laws, each tested: an object that was put right passes the rule, and putting it right again changes
nothing; nothing is changed but what the rule reads; nothing is changed while any value of the
object is unknown, or where a waiver holds; what cannot be put right wholly is left as it is, and
remains a violation.

The engine (3.259) loses what was changed when it replaces an object by deleting it first. So only
kinds are put right whose fields change in place: the next update then changes what was lost. Pods
and Jobs are refused instead, and the servicer tells what an update has lost.
"""

from dataclasses import dataclass, replace

from holdfast_policies.decode.unknown import UndeterminedError
from holdfast_policies.evaluation.judge import Judgement, judgement_of
from holdfast_policies.evaluation.profile import Profile, Ruling
from holdfast_policies.evaluation.waivers import Waivers
from holdfast_policies.model.edit import CannotEditError, Edit, has_unknown, with_edits
from holdfast_policies.model.kinds import JOB, POD, POD_KINDS, SERVICE_ACCOUNT
from holdfast_policies.model.rule import Level
from holdfast_policies.model.subject import Subject

REMEDIATED_KINDS = (POD_KINDS - {POD, JOB}) | {SERVICE_ACCOUNT}
"""Kinds whose fields an update changes in place."""


@dataclass(frozen=True, slots=True)
class AppliedRemediation:
    """What one rule changes of an object.

    Attributes:
        ruling: The rule.
        edits: The changes, at least one.
        subject: The object with them.
    """

    ruling: Ruling
    edits: tuple[Edit, ...]
    subject: Subject

    @property
    def words(self) -> str:
        """What was changed, for people."""
        return "; ".join(edit.words for edit in self.edits)


def remediating_rulings(profile: Profile, subject_kind: object) -> tuple[Ruling, ...]:
    """Rules that may put an object of a kind right."""
    return tuple(
        ruling
        for ruling in profile.rulings
        if ruling.level is Level.REMEDIATE
        and ruling.rule.remediate is not None
        and subject_kind in ruling.rule.kinds
        and subject_kind in REMEDIATED_KINDS
    )


def remediation_of(subject: Subject, ruling: Ruling, waivers: Waivers) -> AppliedRemediation | None:
    """What a rule changes of an object; None when it passes or cannot be put right.

    Args:
        subject: The object.
        ruling: One of `remediating_rulings`.
        waivers: What may be broken.
    """
    remediate = ruling.rule.remediate
    assert remediate is not None  # noqa: S101  # the caller has asked for those that have one
    judgement = judgement_of(subject, ruling, waivers) if ruling.is_about(subject) else None
    if judgement is None or not _is_wanted(judgement) or has_unknown(subject.object):
        return None
    try:
        edits = tuple(remediate(subject, ruling.settings))
        changed = replace(subject, object=with_edits(subject.object, edits))
    except (UndeterminedError, CannotEditError):
        return None
    if not edits or judgement_of(changed, ruling, waivers) is not None:
        return None
    return AppliedRemediation(ruling, edits, changed)


def _is_wanted(judgement: Judgement) -> bool:
    """Whether there is something to put right, and nobody has allowed it to be wrong."""
    found = judgement.violations
    return bool(found) and not judgement.undecided and not any(each.is_waived for each in found)
