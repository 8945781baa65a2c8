"""One tree of errors. Each carries its parts, says what to do, and knows the exit code it ends in.

    HoldfastError                 1
    ├── InputError                2   what the user wrote or asked for is wrong
    │   ├── ManifestError         2   one fault in a manifest or stack file, with its place
    │   │   └── NameTakenError    2   one name, declared twice
    │   └── InvalidFilesError     2   all faults of all files, in one go
    ├── RenderError               2   a valid manifest that cannot be rendered in this environment
    ├── ClusterError              1   the API server did not give what was asked for
    │   └── LoginError            3
    ├── EngineError               1   the Pulumi engine failed (or 5, 6, 8, 9)
    ├── SandboxError              1
    └── ToolchainError            1   a program is missing or too old

Knows no room; imports nothing but the standard library. A text never holds a secret's value.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from enum import IntEnum


class ExitCode(IntEnum):
    """Exit codes of every verb: Pulumi's own, so that pipelines need one table."""

    OK = 0
    ERROR = 1
    BAD_INPUT = 2
    AUTHENTICATION = 3
    RESOURCE = 4
    POLICY = 5
    NO_STACK = 6
    DRIFT = 7
    CANCELLED = 8
    TIMEOUT = 9


class HoldfastError(Exception):
    """Anything that Holdfast reports instead of a traceback.

    Attributes:
        message: What is wrong, in the user's terms; lower case, no final stop.
        remedy: What to change or run; empty when there is nothing to say.
        exit_code: How the process ends when nobody handles the error.
    """

    exit_code: ExitCode = ExitCode.ERROR

    def __init__(
        self, message: str, *, remedy: str = "", exit_code: ExitCode | None = None
    ) -> None:
        super().__init__(message)
        self.message = message
        self.remedy = remedy
        if exit_code is not None:
            self.exit_code = exit_code

    def __str__(self) -> str:
        return f"{self.message}; {self.remedy}" if self.remedy else self.message


class InputError(HoldfastError):
    """What the user wrote or asked for is wrong; nothing was changed."""

    exit_code = ExitCode.BAD_INPUT


@dataclass(frozen=True, order=True, slots=True)
class SourceLocation:
    """A place in a file: path as the user knows it, line and column from 1 (0: the whole file)."""

    file: str
    line: int = 0
    column: int = 0

    def __str__(self) -> str:
        parts = [self.file, *(str(number) for number in (self.line, self.column) if number)]
        return ":".join(parts)


class ManifestError(InputError):
    """One fault in a manifest or stack file.

    Attributes:
        location: Where the faulty value stands.
        path: Field path such as `spec.container.resources.limits`; empty for a whole document.
        expected: What was expected there.
        found: What was found, already masked where it may be a secret; empty when it says nothing.
        rule: Name of the rule broken, where there is one (`image-digest-pinned`); else empty.
    """

    def __init__(
        self,
        location: SourceLocation,
        path: str,
        *,
        expected: str,
        found: str = "",
        remedy: str = "",
        rule: str = "",
    ) -> None:
        text = ": ".join(part for part in (str(location), path, expected) if part)
        text += f", got {found}" if found else ""
        text += f" [{rule}]" if rule else ""
        super().__init__(text, remedy=remedy)
        self.location = location
        self.path = path
        self.expected = expected
        self.found = found
        self.rule = rule


class NameTakenError(ManifestError):
    """Two declarations of one name.

    Attributes:
        other_location: The first of them; `location` is the second.
    """

    def __init__(
        self, location: SourceLocation, other_location: SourceLocation, *, expected: str, found: str
    ) -> None:
        super().__init__(
            location,
            "metadata.name",
            expected=expected,
            found=f"{found} at {other_location}",
            remedy="rename one of them",
        )
        self.other_location = other_location


class InvalidFilesError(InputError):
    """All faults of all files, sorted by place."""

    def __init__(self, errors: Sequence[ManifestError]) -> None:
        self.errors = tuple(sorted(errors, key=lambda error: (error.location, error.path)))
        files = len({error.location.file for error in self.errors})
        count = len(self.errors)
        super().__init__(
            f"{count} {'error' if count == 1 else 'errors'} in {files} "
            f"{'file' if files == 1 else 'files'}"
        )

    def __str__(self) -> str:
        return "\n".join([*(str(error) for error in self.errors), self.message])


class RenderError(HoldfastError):
    """A valid manifest that cannot be rendered in this environment."""

    exit_code = ExitCode.BAD_INPUT


class ClusterError(HoldfastError):
    """The API server did not give what was asked for."""


class LoginError(ClusterError):
    """The API server does not accept the credentials."""

    exit_code = ExitCode.AUTHENTICATION


class EngineError(HoldfastError):
    """The Pulumi engine failed; the exit code says in which way."""


class SandboxError(HoldfastError):
    """The local control plane could not be started, found or ended."""


class ToolchainError(HoldfastError):
    """A program is missing, too old or not executable."""
