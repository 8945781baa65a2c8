"""How a value found in a file is named in an error: short, on one line, and never a secret."""

from holdfast.manifest.origin import Origin

MAX_SHOWN_CHARACTERS = 80


def described(value: object, origin: Origin) -> str:
    """A value in words: `the text '3'`, `the number 1.10`, `null`, `a list`."""
    if isinstance(value, str):
        return shown(f"the text {value!r}")
    if isinstance(value, bool):
        return origin.written or str(value).lower()
    if isinstance(value, int | float):
        return f"the number {origin.written or value}"
    if value is None:
        return "null"
    return "a mapping" if isinstance(value, dict) else "a list"


def shown(text: str) -> str:
    """A text fit for an error: cut short."""
    if len(text) <= MAX_SHOWN_CHARACTERS:
        return text
    return f"{text[:MAX_SHOWN_CHARACTERS]}… ({len(text)} characters)"
