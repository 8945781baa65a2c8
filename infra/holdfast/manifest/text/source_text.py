"""Bytes of a file to text that the YAML library can be given: size, encoding and characters.

Reads files, but knows no YAML. Neighbours: `documents`, which reads the text, and `prompt_files`.
"""

import os
import re
import stat
from pathlib import Path

from holdfast.errors import ManifestError, SourceLocation
from holdfast.manifest.fleet.project_files import note_link, note_read

MAX_FILE_BYTES = 1024 * 1024
_BOMS = {
    b"\xef\xbb\xbf": "a UTF-8 byte order mark",
    b"\xff\xfe": "a UTF-16 byte order mark",
    b"\xfe\xff": "a UTF-16 byte order mark",
}
# YAML 1.1 ends a line at these, YAML 1.2 and every editor do not: line numbers would be wrong.
_FORBIDDEN = re.compile("[\x00-\x08\x0b\x0c\x0e-\x1f\x7f-\x9f\u2028\u2029\ufffe\uffff]")
# JSON may hold what YAML forbids inside a text: a pair of surrogate escapes, and a few characters.
_JSON_ONLY = re.compile(
    r"\\\\|\\u(?P<high>[dD][89abAB][0-9a-fA-F]{2})\\u(?P<low>[dD][c-fC-F][0-9a-fA-F]{2})"
    "|[\x7f-\x9f\u2028\u2029\ufffe\uffff]"
)


def read_text(
    path: Path, file: str, *, max_bytes: int = MAX_FILE_BYTES, inside: Path | None = None
) -> str:
    """Read a regular file of at most `max_bytes` as UTF-8 text.

    Args:
        path: The file.
        file: Its name for people, as it stands in errors.
        max_bytes: Largest size; a larger file is not read.
        inside: Folder that no link may lead out of; None where any file will do.

    Raises:
        ManifestError: outside of its folder, not a regular file, too large, not readable, or not
            plain UTF-8 text.
    """
    try:
        if inside is not None:
            _require_inside(path, file, inside)
        status = path.stat()
        if not stat.S_ISREG(status.st_mode):
            raise _fault(file, "expected a regular file", remedy="name a file of the project")
        if status.st_size > max_bytes:
            raise _too_large(file, status.st_size, max_bytes)
        with path.open("rb") as stream:
            content = stream.read(max_bytes + 1)
    except OSError as error:
        reason = error.strerror or type(error).__name__
        raise _fault(
            file, "expected a readable file", found=reason.lower(), remedy="check name and rights"
        ) from error
    if len(content) > max_bytes:
        raise _too_large(file, len(content), max_bytes)
    note_read(path, content)
    return decode(content, file)


def _require_inside(path: Path, file: str, folder: Path) -> None:
    """Let no link lead to a file of this machine, of which errors would quote what it holds."""
    resolved = os.path.realpath(path, strict=True)  # as text: a path costs more than the read
    if not _is_below(resolved, str(folder)) and not _is_below(resolved, os.path.realpath(folder)):
        raise _fault(
            file,
            "expected a file inside the project",
            found="a link that leads outside",
            remedy="copy the file into the project",
        )
    note_link(path, resolved)


def _is_below(resolved: str, folder: str) -> bool:
    """Whether a path without links lies in a folder; not so where the folder's has links."""
    return resolved.startswith(folder.rstrip(os.sep) + os.sep)


def decode(content: bytes, file: str) -> str:
    """Decode bytes as UTF-8 text without byte order mark, NUL or other control characters.

    Raises:
        ManifestError: with the offset of the first byte that does not fit.
    """
    expected, remedy = "expected UTF-8 text", "save the file as UTF-8 without byte order mark"
    for mark, name in _BOMS.items():
        if content.startswith(mark):
            raise _fault(file, expected, found=f"{name} at offset 0", line=1, remedy=remedy)
    try:
        text = content.decode()
    except UnicodeDecodeError as error:
        line = content.count(b"\n", 0, error.start) + 1
        found = f"byte 0x{content[error.start]:02x} at offset {error.start}"
        raise _fault(file, expected, found=found, line=line, remedy=remedy) from None
    if file.endswith(".json"):
        text = _JSON_ONLY.sub(_as_yaml, text)
    if wrong := _FORBIDDEN.search(text):
        offset = len(text[: wrong.start()].encode())
        found = f"character U+{ord(wrong[0]):04X} at offset {offset}"
        line = text.count("\n", 0, wrong.start()) + 1
        remedy = "remove it, or write it as an escape in double quotes"
        raise _fault(
            file, "expected text without control characters", found=found, line=line, remedy=remedy
        )
    return text


def _as_yaml(match: re.Match[str]) -> str:
    if match["high"]:
        return chr(
            0x10000 + ((int(match["high"], 16) - 0xD800) << 10) + int(match["low"], 16) - 0xDC00
        )
    return match[0] if match[0] == "\\\\" else f"\\u{ord(match[0]):04x}"


def _too_large(file: str, size: int, limit: int) -> ManifestError:
    return _fault(file, f"expected at most {limit} bytes", found=str(size), remedy="split the file")


def _fault(
    file: str, expected: str, *, found: str = "", line: int = 0, remedy: str = ""
) -> ManifestError:
    return ManifestError(
        SourceLocation(file, line), "", expected=expected, found=found, remedy=remedy
    )
