"""What a command prints against what it printed when that was reviewed.

For what Holdfast has no kinds for: a database's schema and grants, the policy of a bucket. Pure.
"""

import hashlib
from dataclasses import dataclass

from holdfast.drift.finding import Severity
from holdfast.drift.probes.outcome import Outcome, Subject, as_declared, differs
from holdfast.kube.paths import ItemKey


@dataclass(frozen=True)
class CommandProbe:
    """One command, and what it should print.

    Attributes:
        name: Name of the probe.
        command: Program and arguments.
        digest: `sha256:<64 hex digits>` over its standard output.
        reviewed: The output of which that is the digest; None when only the digest is kept.
        timeout_seconds: Longest run.
        severity: Of a finding.
    """

    name: str
    command: tuple[str, ...]
    digest: str
    reviewed: str | None = None
    timeout_seconds: float = 30.0
    severity: Severity = Severity.HIGH


def digest_of(output: bytes) -> str:
    """`sha256:<64 hex digits>`, as `COMMAND | sha256sum` prints them."""
    return f"sha256:{hashlib.sha256(output).hexdigest()}"


def judge_output(subject: Subject, probe: CommandProbe, output: bytes) -> Outcome:
    """Compare an output with the reviewed one. Pure.

    With the reviewed text at hand the finding shows both texts, else both digests.
    """
    found = digest_of(output)
    if found == probe.digest:
        return as_declared()
    path = (ItemKey((("name", probe.name),)),)
    if probe.reviewed is None:
        return differs(subject, (*path, "digest"), probe.digest, found, probe.severity)
    text = output.decode("utf-8", "replace")
    return differs(subject, (*path, "output"), probe.reviewed, text, probe.severity)
