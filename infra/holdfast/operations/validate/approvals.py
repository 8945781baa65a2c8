"""Whether the approver of an exception is somebody else than who wrote it, by Git's history."""

from pathlib import Path

from holdfast.adapters.git.authors import Author, authors_of_lines
from holdfast.errors import ManifestError
from holdfast.manifest.fleet.fleet import DeclaredPolicyException

_FIELDS = (
    *("rules", "target.kind", "target.name", "target.namespace", "reason", "owner", "ticket"),
    *("approver", "expires", "stacks"),
)


def authors_of(root: Path, exception: DeclaredPolicyException) -> tuple[Author, ...] | None:
    """Who wrote the lines of an exception; None where Git does not know."""
    places = [exception.location_of(f"spec.{name}") for name in _FIELDS]
    lines = [each.line for each in places if each.file == exception.source and each.line]
    if not lines:
        return None
    return authors_of_lines(root, exception.source, min(lines), max(lines))


def approval_in_words(approver: str, authors: tuple[Author, ...] | None) -> str:
    """Who granted an exception and who wrote it, as far as it is known."""
    written = "author unknown: no Git history of these lines"
    if authors is not None:
        written = f"written by {', '.join(sorted({each.name for each in authors}))}"
    return f"approved by {approver}, {written}"


def approval_fault(
    exception: DeclaredPolicyException, authors: tuple[Author, ...] | None
) -> ManifestError | None:
    """That who wrote an exception has approved it, too; None where it is not so, or not known."""
    approver = exception.spec.approver
    own = [each for each in authors or () if _is(approver, each)]
    if not own:
        return None
    return ManifestError(
        exception.location_of("spec.approver"),
        "spec.approver",
        expected="expected an approver who did not write the exception",
        found=f"{approver!r}, who wrote it: {own[0]}",
        remedy="name another person who approves it",
    )


def _is(approver: str, author: Author) -> bool:
    """Whether a text names an author: by name, address, `Name <address>` or the address's user."""
    said = approver.strip().casefold().lstrip("@")
    name, email = author.name.casefold(), author.email.casefold()
    # GitHub's own addresses: 123+login@users.noreply.github.com
    user = email.partition("@")[0].rpartition("+")[2]
    return said in {name, email, user, f"{name} <{email}>"} or f"<{email}>" in said
