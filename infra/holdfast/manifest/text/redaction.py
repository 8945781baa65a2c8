"""How a value found in a file is named in an error: short, on one line, and never a secret."""

from holdfast_policies.facts.credentials import known_credential

from holdfast.manifest.text.origin import Origin

MAX_SHOWN_CHARACTERS = 80
MAX_REMEDY_CHARACTERS = 400


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


def shown(text: str, most_characters: int = MAX_SHOWN_CHARACTERS) -> str:
    """A text fit for an error: cut short, and masked when a credential stands in it."""
    if kind := known_credential(text):
        return masked(kind)
    if len(text) <= most_characters:
        return text
    return f"{text[:most_characters]}… ({len(text)} characters)"


def masked(kind: str) -> str:
    """What stands in an error instead of a credential: its kind."""
    return f"what looks like a secret: {kind} (not shown)"
