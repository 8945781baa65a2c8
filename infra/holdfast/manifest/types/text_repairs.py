"""What to write instead of a text that does not fit: the nearest one that does."""

import re
import unicodedata
from collections.abc import Callable, Iterator, Mapping
from typing import Final

from holdfast.manifest.text.redaction import shown

_LONGEST: Final = 300
_WORDS_OF_UNITS: Final[Mapping[str, str]] = {
    **dict.fromkeys(("ms", "msec", "millis", "milliseconds", "millisecond"), "ms"),
    **dict.fromkeys(("s", "sec", "secs", "second", "seconds"), "s"),
    **dict.fromkeys(("m", "min", "mins", "minute", "minutes"), "m"),
    **dict.fromkeys(("h", "hr", "hrs", "hour", "hours"), "h"),
    **dict.fromkeys(("d", "day", "days"), "d"),
    **dict.fromkeys(("w", "week", "weeks"), "w"),
    **dict.fromkeys(("y", "year", "years"), "y"),
}
_SECONDS: Final[Mapping[str, int]] = {"d": 86_400, "h": 3600, "m": 60, "s": 1}
_PATTERN: Final = re.compile(r"[{}$]|\w\*|\*\w")
_MACROS: Final[Mapping[str, str]] = {
    "@yearly": "0 0 1 1 *",
    "@annually": "0 0 1 1 *",
    "@monthly": "0 0 1 * *",
    "@weekly": "0 0 * * 0",
    "@daily": "0 0 * * *",
    "@midnight": "0 0 * * *",
    "@hourly": "0 * * * *",
}
_CRON_FIELDS: Final = 5


def nearest_text(value: str, fits: Callable[[str], bool]) -> str:
    """The first repair of a text that fits; empty where none does.

    Args:
        value: What was written.
        fits: Whether a text may stand there.
    """
    is_shown = shown(value, _LONGEST) == value and not re.search("://[^/]*@", value)
    if not is_shown or _PATTERN.search(value):
        return ""  # too long, with a secret in it, or a pattern or template
    candidates = (each for each in _repairs(value) if each and each != value)
    return next((each for each in candidates if fits(each)), "")


def _repairs(value: str) -> Iterator[str]:
    """Texts that may be meant, the most alike first."""
    bare = value.strip()
    yield bare
    yield _MACROS.get(bare.lower(), "")
    yield from _quantities(bare)
    yield _duration(bare)
    yield re.sub("[A-Za-z]{4,}", lambda match: match[0][:3].upper(), bare)  # of schedules
    yield from _images(bare)
    fields = bare.split()
    if len(fields) == _CRON_FIELDS + 1:
        yield " ".join(fields[1:])  # seconds stand first where there are six
    yield bare.lower()
    yield from _urls(bare)
    yield re.sub(r"\s+", "", bare) if bare[:1].isdigit() else ""
    yield re.sub("^[vV](?=[0-9])", "", bare)
    yield _version(bare)
    ascii_only = unicodedata.normalize("NFKD", bare).encode("ascii", "ignore").decode()
    slug = re.sub(r"[^a-z0-9]+", "-", ascii_only.lower()).strip("-")
    yield slug
    yield re.sub(r"[^a-z0-9.]+", "-", bare.lower()).strip("-.")
    yield re.sub(r"[^A-Za-z0-9_.]+", "-", bare).strip("-_.")
    yield re.sub(r"[^A-Za-z0-9_./]+", "-", bare).strip("-_./")
    yield re.sub(r"[^A-Za-z0-9_]+", "_", bare).strip("_").upper()
    yield re.sub(r"\s+", "", bare)
    yield bare.replace("\\", "/")
    yield re.sub("^[A-Za-z]:", "", bare).replace("\\", "/")
    yield f"/{bare.lstrip('./')}" if not bare.startswith("~") else ""
    yield bare.lstrip("/")
    yield from (slug[:most].rstrip("-") for most in (63, 52, 50, 20, 15))


def _quantities(value: str) -> Iterator[str]:
    match = re.fullmatch(r"([0-9]+(?:\.[0-9]+)?)\s*([A-Za-z]*)", value.replace(",", "."))
    if match is None:
        return
    number, unit = match.groups()
    letter = unit[:1].upper()
    if unit.lower() in {"b", "byte", "bytes"}:
        yield number
    elif letter in set("KMGTPE") and unit[1:].lower() in {"", "b", "i", "ib", "ig", "eg"}:
        yield f"{number}{letter}i"
    if unit.lower() in {"core", "cores", "cpu", "cpus", "vcpu", "vcpus"}:
        yield number
    if unit.lower() in {"mm", "mcpu", "milli", "millicores"}:
        yield f"{number}m"


def _duration(value: str) -> str:
    parts = re.findall(r"([0-9]+)\s*([A-Za-z]+)", value)
    if not parts or re.sub(r"[0-9A-Za-z\s]", "", value):
        return ""
    read = [(int(number), _WORDS_OF_UNITS.get(unit.lower(), "")) for number, unit in parts]
    if not all(unit for _, unit in read):
        return ""
    if len(read) == 1:
        return f"{read[0][0]}{read[0][1]}"
    if not all(unit in _SECONDS for _, unit in read):
        return ""
    seconds = sum(number * _SECONDS[unit] for number, unit in read)
    unit = next(unit for unit, size in _SECONDS.items() if seconds % size == 0)
    return f"{seconds // _SECONDS[unit]}{unit}"


def _images(value: str) -> Iterator[str]:
    bare = value.split("://", 1)[-1]
    yield bare
    yield bare.replace(":sha256:", "@sha256:")
    yield re.sub("@(?=[0-9a-f]{64}$)", "@sha256:", bare)


def _urls(value: str) -> Iterator[str]:
    host = re.split("[:/]", value.split("://", 1)[-1])[0]
    yield host.lower() if "." in host else ""
    yield re.sub("^(https?):/*", r"\1://", value)
    if "/" in value[:6] or "://" in value or not re.match(r"[A-Za-z0-9.-]+(\.|:[0-9]|/)", value):
        return
    is_inside = host.endswith((".svc", ".local", "localhost")) or "." not in host
    yield f"{'http' if is_inside else 'https'}://{value}"


def _version(value: str) -> str:
    match = re.fullmatch(r"[vV]?([0-9]+)(?:\.([0-9]+))?(?:\.([0-9]+))?", value)
    return ".".join(str(int(part or 0)) for part in match.groups()) if match else ""
