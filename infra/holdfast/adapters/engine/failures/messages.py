"""Messages of a backend that fails and of conflicts in server-side apply, by their text.

Source: Pulumi 3.259 on `s3://` and `postgres://`, and the API server, each text as it wrote it.
"""

import re
from enum import Enum
from typing import NamedTuple

_REFUSED = (
    r'(?:blob \(key "[^"]*"\) \(code=\w+\)|failed to (?:ping|connect to) PostgreSQL'
    r"|could not list bucket): (?P<why>[^\n]+)"
)
_EXPIRED = re.compile(r"\b(?:ExpiredToken\w*|RequestExpired|TokenRefreshRequired)\b")
_NO_LOGIN = re.compile(
    r"api error (?:AccessDenied|Forbidden|InvalidAccessKeyId|InvalidToken|SignatureDoesNotMatch)"
    r"|password authentication failed|failed to refresh cached credentials"
)
_NO_CONNECTION = re.compile(r"dial tcp (\S+): (?:connect: )?(.+)")
_AROUND = re.compile(r"operation error [^:]+: \w+, (?:https response error [^,]+, \w+: [^,]*, )?")
_HOST = re.compile(r"HostID: [^,]*, ")
_CREDENTIALS = re.compile(r"(?<=://)[^\s/@\"']+@")


class Failed(Enum):
    """What the backend did not do."""

    WRITE = "the state of stack {stack} cannot be written"
    RECORD = "all of it was done and is saved, but the history of stack {stack} cannot be written"
    READ = "the backend of stack {stack} cannot be read"


class BackendFailure(NamedTuple):
    """A backend that refused, or did not answer.

    Attributes:
        cause: Why, in few words.
        is_login: It does not accept the login.
    """

    failed: Failed
    cause: str
    is_login: bool


_PATTERNS = (
    (Failed.WRITE, re.compile(rf"writing the new snapshot file: {_REFUSED}")),
    (Failed.RECORD, re.compile(rf"saving update info: [^\n]*?{_REFUSED}")),
    (Failed.READ, re.compile(rf"^(?!.*deleting the lock)[^\n]*?{_REFUSED}", re.MULTILINE)),
)


def backend_failure(text: str) -> BackendFailure | None:
    """Recognise that the backend failed; None for any other text."""
    for failed, pattern in _PATTERNS:
        if found := pattern.search(text):
            why = _HOST.sub("", _AROUND.sub("", found["why"])).strip().rstrip(".")
            is_login = bool(_EXPIRED.search(why) or _NO_LOGIN.search(why))
            return BackendFailure(failed, _in_words(why), is_login)
    return None


def _in_words(why: str) -> str:
    if _EXPIRED.search(why):
        return "the token has expired"
    if unreached := _NO_CONNECTION.search(why):
        return f"no connection to {unreached[1]} ({unreached[2]})"
    return why


def without_credentials(text: str) -> str:
    """A text whose addresses name no users and passwords; the engine shows those of a database."""
    return _CREDENTIALS.sub("****@", text)


_REPORT = re.compile(
    r'reported that "(?P<object>[^"]+)" failed.*?'
    r'managed by field manager "(?P<manager>[^"]+)" had an apply conflict: '
    r"Apply failed with \d+ conflicts?: (?P<conflicts>.*?)(?=\n\n|\Z)",
    re.DOTALL,
)
_CONFLICT = re.compile(
    r'conflicts? with "(?P<manager>[^"]+)"'
    r'(?: with subresource "(?P<subresource>[^"]+)")?'
    r"(?: using \S+?)?(?: at \S+?)?:"
    r"(?P<paths> [^\n]+|(?:\n- [^\n]+)+)"
)


class ApplyConflict(NamedTuple):
    """Another manager has changed fields that we declare.

    Attributes:
        object: `namespace/name` of the object.
        ours: The manager that applies.
        other: The manager that owns the fields now.
        subresource: Through which it wrote, such as `scale`; empty for the object itself.
        paths: Fields, as the API server writes them: `.spec.containers[name="agent"].image`.
    """

    object: str
    ours: str
    other: str
    subresource: str
    paths: tuple[str, ...]

    def __str__(self) -> str:
        through = f" through the subresource {self.subresource}" if self.subresource else ""
        return (
            f"{self.object}: field manager {self.other}{through} has changed "
            f"{', '.join(self.paths)}, which {self.ours} declares"
        )


def find_conflicts(text: str) -> tuple[ApplyConflict, ...]:
    """All conflicts in a text, each once, in its order."""
    found = {
        ApplyConflict(
            object=report["object"],
            ours=report["manager"],
            other=conflict["manager"],
            subresource=conflict["subresource"] or "",
            paths=tuple(path.strip(" -") for path in conflict["paths"].strip().splitlines()),
        ): None
        for report in _REPORT.finditer(text)
        for conflict in _CONFLICT.finditer(report["conflicts"])
    }
    return tuple(found)
