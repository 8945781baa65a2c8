"""What an update is to do, as verbs and the Git loop ask for it."""

from dataclasses import dataclass
from pathlib import Path

from holdfast.adapters.git.source import Source


@dataclass(frozen=True)
class UpdateRequest:
    """How a stack is to be updated; which stack, the caller's StackContext says.

    Attributes:
        action: Verb under which it is recorded.
        reason: Why, for the history.
        dirty_reason: Why files that are not committed may be used; empty when they may not.
        pack: Folder of the policy pack; None for that of the project.
        source: What the project's files are; None to find out.
        validates: Check the files as `holdfast validate` does; the program does in any case.
        continue_on_error: Update what does not depend on what failed.
        recover: Resume after a killed run instead of refusing.
        resume_command: What resumes after a killed run, as errors say; empty for `holdfast up`.
        force_ownership: Manage what a GitOps engine manages instead of refusing.
    """

    action: str = "up"
    reason: str = ""
    dirty_reason: str = ""
    pack: Path | None = None
    source: Source | None = None
    validates: bool = True
    continue_on_error: bool = False
    recover: bool = False
    resume_command: str = ""
    force_ownership: bool = False
