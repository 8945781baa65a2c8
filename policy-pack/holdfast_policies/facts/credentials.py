"""Recognising credentials in text: by the shape their issuers gave them, or by name and randomness.

Says what a text looks like, never the text. Shapes come from the issuers' own documentation.
"""

import math
import re
from base64 import b64decode
from collections import Counter
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from functools import lru_cache

from holdfast_policies.model.cel import listed, quoted

_NO_WORD_BEFORE, _NO_WORD_AFTER = "(?<![A-Za-z0-9_-])", "(?![A-Za-z0-9])"
_LOOKS = re.compile(r"\(\?<?[=!](?:\[[^\]]*\]|[^)\[])*\)")


@dataclass(frozen=True, slots=True)
class _Shape:
    """How one issuer writes its credentials.

    Attributes:
        label: What it is, in words.
        marks: One of them stands in every text that the pattern finds; looked for first, because
            a plain search takes a hundredth of the time.
        pattern: The credential itself; compiled when a mark is first seen, which is rare.
    """

    label: str
    marks: tuple[str, ...]
    pattern: str

    @property
    def pattern_in_cel(self) -> str:
        """The pattern without looking ahead or back, which RE2 cannot; it finds no less."""
        written = self.pattern.replace(_NO_WORD_BEFORE, "(?:^|[^A-Za-z0-9_-])")
        return _LOOKS.sub("", written.replace(_NO_WORD_AFTER, "(?:[^A-Za-z0-9]|$)"))


def _shape(label: str, marks: str, pattern: str, *, is_whole_word: bool = True) -> _Shape:
    bounded = f"{_NO_WORD_BEFORE}{pattern}{_NO_WORD_AFTER}" if is_whole_word else pattern
    return _Shape(label, tuple(marks.split()), bounded)


_OPENAI = "an OpenAI key"
_SHAPES = (
    _shape("an Anthropic key", "sk-ant-", r"sk-ant-[A-Za-z0-9_-]{20,}"),
    _shape(_OPENAI, "sk-", r"sk-(?!ant-)(?=[\w-]*\d)(?=[\w-]*[A-Z])[A-Za-z0-9_-]{20,}"),
    _shape("an AWS access key", "AKIA ASIA", r"(?:AKIA|ASIA)[A-Z0-9]{16}"),
    _shape("a GitHub token", "ghp_ gho_ ghu_ ghs_ ghr_", r"gh[pousr]_[A-Za-z0-9]{36,}"),
    _shape("a GitHub token", "github_pat_", r"github_pat_[A-Za-z0-9_]{22,}"),
    _shape(
        "a GitLab token",
        "glpat- gldt- glrt- glptt- glcbt- glft- glsoat- glagent-",
        r"gl(?:pat|dt|rt|ptt|cbt|ft|soat|agent)-[A-Za-z0-9_-]{20,}",
    ),
    _shape("a Google key", "AIza", r"AIza[A-Za-z0-9_-]{35}"),
    _shape("a Google client secret", "GOCSPX-", r"GOCSPX-[A-Za-z0-9_-]{28}"),
    _shape("a Hugging Face token", "hf_", r"hf_[A-Za-z0-9]{30,}"),
    _shape("a Slack token", "xox", r"xox[abeprs]-[A-Za-z0-9-]{10,}"),
    _shape(
        "a Slack webhook",
        "hooks.slack.com",
        r"hooks\.slack\.com/services/T[A-Z0-9]+/B[A-Z0-9]+/[A-Za-z0-9]{20,}",
    ),
    _shape(
        "a Discord webhook",
        "/api/webhooks/",
        r"discord(?:app)?\.com/api/webhooks/\d{17,20}/[A-Za-z0-9_-]{60,}",
    ),
    _shape(
        "a Teams webhook",
        "webhook.office.com",
        r"webhook\.office\.com/webhookb2/[a-f0-9-]{36}@[a-f0-9-]{36}",
    ),
    _shape("a Stripe key", "k_live_", r"[rs]k_live_[A-Za-z0-9]{20,}"),
    _shape("an npm token", "npm_", r"npm_[A-Za-z0-9]{36}"),
    _shape("a PyPI token", "pypi-AgEI", r"pypi-AgEI[A-Za-z0-9_-]{50,}"),
    _shape("a SendGrid key", "SG.", r"SG\.[A-Za-z0-9_-]{22}\.[A-Za-z0-9_-]{43}"),
    _shape("a DigitalOcean token", "_v1_", r"do[oprs]_v1_[a-f0-9]{64}"),
    _shape("a Databricks token", "dapi", r"dapi[a-f0-9]{32}"),
    _shape("a Groq key", "gsk_", r"gsk_[A-Za-z0-9]{40,}"),
    _shape("an xAI key", "xai-", r"xai-[A-Za-z0-9]{40,}"),
    _shape("a Perplexity key", "pplx-", r"pplx-[A-Za-z0-9]{40,}"),
    _shape("a Replicate token", "r8_", r"r8_[A-Za-z0-9]{37}"),
    _shape("a LangSmith key", "lsv2_", r"lsv2_(?:pt|sk)_[a-f0-9]{32}_[a-f0-9]{10}"),
    _shape("a Pulumi token", "pul-", r"pul-[a-f0-9]{40}"),
    _shape("a Vault token", "hvs. hvb.", r"hv[bs]\.[A-Za-z0-9_-]{24,}"),
    _shape("a Telegram bot token", ":AA", r"\d{8,10}:AA[A-Za-z0-9_-]{33}"),
    _shape("an age key", "AGE-SECRET-KEY-1", r"AGE-SECRET-KEY-1[A-Z0-9]{58}"),
    _shape(
        "a JSON Web Token",
        "eyJ",
        r"eyJ[A-Za-z0-9_-]{8,}\.eyJ[A-Za-z0-9_-]{8,}\.[A-Za-z0-9_-]{8,}",
    ),
    _shape("an Azure account key", "AccountKey=", r"AccountKey=[A-Za-z0-9+/]{86}=="),
    _shape(
        "what stands in an Authorization header",
        "earer asic EARER ASIC",
        r"(?:[Bb]earer|BEARER|[Bb]asic|BASIC) [A-Za-z0-9+/_~.-]{20,}={0,2}",
    ),
    _shape(
        "a private key",
        "PRIVATE",
        r"-----BEGIN (?:[A-Z0-9]+ )*PRIVATE KEY(?: BLOCK)?-----",
        is_whole_word=False,
    ),
    _shape(
        "a password in a URL",
        "://",
        r"[a-z0-9+.-]://[^\s:/@$<{]*:[^\s:/@$<{%*][^\s:/@]{2,}@[A-Za-z0-9]",
        is_whole_word=False,
    ),
)


def shape_in_cel(text: str) -> str:
    """CEL: whether a credential stands somewhere in a text, by its shape.

    Marks are looked for first, as here; they cost an API server little.
    """
    marks = sorted({mark for shape in _SHAPES for mark in shape.marks})
    others = "|".join(shape.pattern_in_cel for shape in _SHAPES if shape.label != _OPENAI)
    (openai,) = (shape.pattern_in_cel for shape in _SHAPES if shape.label == _OPENAI)
    looks = 'k.matches("[0-9]") && k.matches("[A-Z]") && !k.contains("sk-ant-")'
    return (
        f"{listed(marks)}.exists(m, {text}.contains(m)) && ({text}.matches({quoted(others)})"
        f" || {text}.findAll({quoted(openai)}).exists(k, {looks}))"
    )


_NAME = (
    r"(?:api|access|secret|private|auth|encryption|signing|account|license)[_.-]?key"
    r"|pass(?:word|wd|phrase|code)?|pwd|(?:client[_.-]?)?secret|token|credentials?|bearer|jwt|dsn|key"
)
_NAME_WORDS = ("key", "pass", "secret", "token", "credential", "pwd", "bearer", "jwt", "dsn")
"""One of them stands, in some case, in every name that promises a credential."""
_CREDENTIAL_NAME = re.compile(
    rf"(?:.*[_.-]|.*[a-z](?=[A-Z])|)(?:{_NAME})|.*password", re.IGNORECASE
)
_PASSWORD_NAME = re.compile(r".*(?:pass(?:word|wd|phrase|code)?|pwd)", re.IGNORECASE)
_PUBLIC = re.compile(
    r".*(?:public|partition|sort|cache|primary|foreign|routing)[_.-]?key", re.IGNORECASE
)
_PAIR = re.compile(
    rf"(?P<name>{_NAME})[\"']?\s*[:=]\s*[\"']?(?P<value>[^\s\"',;}}\]]{{8,}})",
    re.IGNORECASE,
)
_PLACEHOLDER = re.compile(
    r"(?:\$\([^)]*\)?|\$\{[^}]*\}?|\{\{[^}]*\}{0,2}|<[^>]*>?|%\([^)]*\)?s?|\$[A-Z_][A-Z0-9_]*|\*+)"
    r"|.*?(?:example|change.?me|your[_-]|placeholder|dummy|redacted|x{4}|\.{3}).*",
    re.IGNORECASE | re.DOTALL,
)
_REFERENCE = re.compile(r"/|\.{1,2}/|[a-z][a-z0-9+.-]*:/|sha\d{3}:", re.IGNORECASE)
_WORDS = re.compile(r"(?:[A-Za-z]+|v?\d{1,4})(?:[-_.:](?:[A-Za-z]+|v?\d{1,4}))*")

_BASE64 = re.compile(r"[A-Za-z0-9+/_-]+={0,2}")
_HEX = re.compile(r"(?:[0-9a-fA-F]{2})+")
_SHORTEST_ENCODED, _LONGEST_ENCODED = 24, 8192
_SHORTEST_SHAPE = 12
_LONGEST_REMEMBERED = 200
_SHORTEST_TOKEN = 16
_SHORTEST_PASSWORD = 8
_LOWEST_ENTROPY_BITS = 3.0


def known_credential(text: str) -> str:
    """What kind of credential stands somewhere in a text, by its shape; empty for none."""
    if len(text) < _SHORTEST_SHAPE:
        return ""
    return _known_short(text) if len(text) <= _LONGEST_REMEMBERED else _known(text)


def any_known_credential(values: Iterable[object]) -> bool:
    """Whether a known credential stands in one of some values; what is no text holds none."""
    for value in values:
        if isinstance(value, str) and len(value) >= _SHORTEST_SHAPE and known_credential(value):
            return True
    return False


@lru_cache(maxsize=2048)
def _known_short(text: str) -> str:
    """The same for what stands on many objects: labels, annotations, names of images."""
    return _known(text)


def _known(text: str) -> str:
    for shape in _SHAPES:
        for mark in shape.marks:
            if mark in text and re.search(shape.pattern, text):
                return shape.label
    return ""


def encoded_credential(text: str) -> str:
    """What credential stands in a text that is written as base64 or in hexadecimal."""
    if not _SHORTEST_ENCODED <= len(text) <= _LONGEST_ENCODED:
        return ""
    return _encoded_short(text) if len(text) <= _LONGEST_REMEMBERED else _encoded(text)


@lru_cache(maxsize=2048)
def _encoded_short(text: str) -> str:
    """The same for what stands on many objects."""
    return _encoded(text)


def _encoded(text: str) -> str:
    written = text.strip()
    for pattern, decode in ((_BASE64, _from_base64), (_HEX, bytes.fromhex)):
        if pattern.fullmatch(written):
            try:
                plain = decode(written).decode()
            except ValueError:
                continue
            return next(credentials_in(plain), "")
    return ""


def _from_base64(text: str) -> bytes:
    return b64decode(
        text + "=" * (-len(text) % 4), altchars=b"-_" if "-" in text or "_" in text else None
    )


def named_credential(name: str, value: str) -> str:
    """What a value looks like: a known shape, or random text where its name promises a secret."""
    known = known_credential(value) or encoded_credential(value)
    if known or not _promises_credential(name[-_LONGEST_REMEMBERED:]):
        return known
    return "a credential" if _looks_secret(name, value) else ""


@lru_cache(maxsize=2048)
def _promises_credential(name: str) -> bool:
    """Whether a name says that its value is secret; the same names stand on many objects."""
    end = name[-_LONGEST_REMEMBERED:]
    return _CREDENTIAL_NAME.fullmatch(end) is not None and _PUBLIC.fullmatch(end) is None


def credentials_in(text: str) -> Iterator[str]:
    """What credentials stand in a longer text, such as a configuration file or a script."""
    known = known_credential(text)
    if known:
        yield known
        return
    lowered = text.lower()
    if not any(word in lowered for word in _NAME_WORDS):
        return
    if any(_is_secret_pair(pair["name"], pair["value"]) for pair in _PAIR.finditer(text)):
        yield "a credential"


def _is_secret_pair(name: str, value: str) -> bool:
    """Whether a value in a longer text is a secret, and not code that gets one."""
    return not any(mark in value for mark in "([") and _looks_secret(name, value)


def _looks_secret(name: str, value: str) -> bool:
    if _PLACEHOLDER.fullmatch(value) or _REFERENCE.match(value) or _WORDS.fullmatch(value):
        return False
    if _PASSWORD_NAME.fullmatch(name) is not None:
        return len(value) >= _SHORTEST_PASSWORD and not value.isalpha()
    return len(value) >= _SHORTEST_TOKEN and _entropy_bits(value) >= _LOWEST_ENTROPY_BITS


def _entropy_bits(text: str) -> float:
    """Shannon entropy of the characters of a text, in bits a character."""
    shares = [count / len(text) for count in Counter(text).values()]
    return -sum(share * math.log2(share) for share in shares)
