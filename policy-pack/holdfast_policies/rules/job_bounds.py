"""A job ends: after a time, after a number of failures, and its remains after a while."""

from collections.abc import Iterator

from holdfast_policies.api import (
    Admission,
    Breach,
    Finding,
    Fix,
    Kind,
    Level,
    Levels,
    Rule,
    Settings,
    Severity,
    Subject,
    breaches,
    each,
    field_path,
    in_object,
    listed,
    mapping,
    quoted,
    said,
    shown,
)

JOB, CRON_JOB = Kind("batch", "Job"), Kind("batch", "CronJob")
_MANAGED_BY = "app.kubernetes.io/managed-by"
_BOUNDS = {
    "activeDeadlineSeconds": "a time after which it is ended, in seconds",
    "backoffLimit": "a number of failures after which it is given up",
    "ttlSecondsAfterFinished": "a time after which its remains go, in seconds",
}


def check(subject: Subject, _: Settings) -> Iterator[Finding]:
    """Bounds that are missing, and runs of a CronJob that may overlap."""
    is_scheduled = subject.kind == CRON_JOB
    path = "spec.jobTemplate.spec" if is_scheduled else "spec"

    def check_bound(name: str, _: str) -> Iterator[Breach]:
        job = subject.spec
        if is_scheduled:
            job = mapping(mapping(job.get("jobTemplate")).get("spec"))
        if job.get(name) is None:
            yield Breach(field_path(path, name), got="nothing", required=_BOUNDS[name])

    def check_overlap(_: object, __: str) -> Iterator[Breach]:
        overlap = subject.spec.get("concurrencyPolicy")
        if overlap != "Forbid":
            yield Breach("spec.concurrencyPolicy", got=shown(overlap), required='"Forbid"')

    # What an owner declares and keeps must not vanish by itself: gone, it would be drift.
    labels = mapping(subject.metadata.get("labels"))
    is_kept = not is_scheduled and _MANAGED_BY in labels
    bounds = [name for name in _BOUNDS if not (is_kept and name == "ttlSecondsAfterFinished")]
    yield from each(bounds, "", check_bound)
    if is_scheduled:
        yield from each([None], "", check_overlap)


_IS_KEPT = f"variables.subject.?metadata.?labels[?{quoted(_MANAGED_BY)}].orValue(null) != null"


RULE = Rule(
    id="job-bounds",
    title="Jobs that end",
    description="A job may run, fail or pile up without end",
    rationale="A run that never ends is a bill, and one started every night a growing one.",
    remedy="set activeDeadlineSeconds, backoffLimit, ttlSecondsAfterFinished; forbid overlap",
    source="https://kubernetes.io/docs/concepts/workloads/controllers/job/",
    severity=Severity.MEDIUM,
    levels=Levels(Level.ADVISORY, Level.MANDATORY, Level.MANDATORY),
    frameworks=(
        "SC-5",
        "LLM10",
        "ASI08",
        "ASI10",
    ),
    fix=Fix.YES,
    kinds=frozenset({JOB, CRON_JOB}),
    check=check,
    admission=Admission(
        (
            breaches(
                listed(_BOUNDS),
                "b",
                'variables.job[?b].orValue(null) == null && !(b == "ttlSecondsAfterFinished"'
                f' && object.kind == "Job" && {_IS_KEPT})',
                '(object.kind == "CronJob" ? "spec.jobTemplate.spec." : "spec.") + b',
                "a bound",
            ),
            in_object(
                'object.kind == "CronJob"'
                ' && variables.subject.spec.?concurrencyPolicy.orValue("") != "Forbid"',
                "spec.concurrencyPolicy",
                '"Forbid"',
                said("variables.subject.spec.?concurrencyPolicy"),
            ),
        ),
        variables=(
            (
                "job",
                'object.kind == "CronJob" ? variables.subject.?spec.?jobTemplate.?spec.orValue({})'
                " : variables.subject.?spec.orValue({})",
            ),
        ),
        differs="a Job without backoffLimit has one there: the API server sets 6",
    ),
)
