"""What reaches a terminal: whatever a stranger wrote, it moves no cursor and hides nothing.

Texts are made printable where they are put into a line (`kube.text.safe_text`). This is the last
door, for what was forgotten there: errors of servers, names of files, subjects of commits.
"""

import re
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any, Final

_MEANINGFUL: Final = re.compile(
    "(?P<colour>\x1b\\[(?:0|1|22|3[0-9]|9[0-7])m)"
    "|[\x00-\x08\x0b-\x1f\x7f-\x9f\xad\u061c\u180e\u200b\u200e\u200f\u2028-\u202e\u2060-\u206f"
    "\ud800-\udfff\ufeff\ufff9-\ufffb\U000e0000-\U000e007f]"
)
"""Our own colours, and what a terminal obeys or does not show; lines and tabs stay."""


class _Guarded:
    """A text stream that escapes what a terminal would obey."""

    def __init__(self, stream: Any) -> None:  # noqa: ANN401  (whatever stands for standard output)
        self._stream = stream

    def write(self, text: str) -> int:
        """Write text, printable."""
        if isinstance(text, str) and not text.isprintable():
            text = _MEANINGFUL.sub(_shown, text)
        written: int = self._stream.write(text)
        return written

    def __getattr__(self, name: str) -> Any:  # noqa: ANN401  (all else is the stream's own)
        return getattr(self._stream, name)


def _shown(found: re.Match[str]) -> str:
    if found["colour"]:
        return found[0]
    from holdfast.kube.text import safe_text  # noqa: PLC0415  (seldom needed, and not cheap)

    return safe_text(found[0])


@contextmanager
def guarded_terminal() -> Iterator[None]:
    """Guard standard error, which people and CI logs read, and standard output on a terminal.

    Standard output that goes elsewhere keeps its bytes: it may be a patch or a document.
    """
    before = sys.stdout, sys.stderr
    sys.stderr = _Guarded(sys.stderr)
    if sys.stdout.isatty():
        sys.stdout = _Guarded(sys.stdout)
    try:
        yield
    finally:
        sys.stdout, sys.stderr = before
