"""Reports on the code host that a job runs for: one comment a change, one issue a check."""

import os

from holdfast.adapters.codehost.detection import code_host
from holdfast.adapters.codehost.sticky import KeptEntry, keep_comment, keep_issue
from holdfast.errors import InputError


def comment_on_change(marker: str, body: str, change: int | None = None) -> tuple[int, KeptEntry]:
    """Keep one comment on a pull or merge request, and return the request's number with it.

    Args:
        marker: Tells this comment from others: letters, digits and `._/-`.
        body: Markdown; empty to clear an existing comment.
        change: Number of the request; None for that of this job.

    Raises:
        InputError: the job belongs to no change, or the marker or the body cannot be used.
        CodeHostError: the host did not do it.
    """
    job = code_host(os.environ)
    number = change or job.change
    if number is None:
        raise InputError("this job belongs to no change", remedy="name it with --change NUMBER")
    return number, keep_comment(job.host, number, marker, body)


def issue_of_check(marker: str, title: str, body: str, code: int) -> KeptEntry:
    """Keep one issue open while a check fails or cannot run, and close it when the check passes.

    Args:
        marker: As of `comment_on_change`.
        title: Of the issue.
        body: The check's report as Markdown; empty when it wrote none.
        code: Exit code of the check; 0 closes the issue.

    Raises:
        InputError: the marker or the body cannot be used.
        CodeHostError: the host did not do it.
    """
    report = body if body.strip() else f"The check ended with exit code {code} and wrote no report."
    job = code_host(os.environ)
    return keep_issue(job.host, marker, title, report if code else None)
