"""Recognising credentials in text: by the shape their issuers gave them, or by name and randomness.

Says what a text looks like, never the text. Shapes come from the issuers' own documentation.
"""

import math
import re
from collections import Counter
from collections.abc import Iterator

_SHAPES = {
    "an Anthropic key": r"sk-ant-[A-Za-z0-9_-]{20,}",
    "an OpenAI key": r"sk-(?!ant-)(?:proj-|svcacct-|admin-)?[A-Za-z0-9_-]{20,}",
    "an AWS access key": r"(?:AKIA|ASIA)[A-Z0-9]{16}",
    "a GitHub token": r"(?:gh[pousr]_[A-Za-z0-9]{36,}|github_pat_[A-Za-z0-9_]{22,})",
    "a GitLab token": r"gl(?:pat|dt|rt|ptt|cbt|ft|soat|agent)-[A-Za-z0-9_-]{20,}",
    "a Google key": r"AIza[A-Za-z0-9_-]{35}",
    "a Google client secret": r"GOCSPX-[A-Za-z0-9_-]{28}",
    "a Hugging Face token": r"hf_[A-Za-z0-9]{30,}",
    "a Slack token": r"xox[abeprs]-[A-Za-z0-9-]{10,}",
    "a Slack webhook": r"hooks\.slack\.com/services/T[A-Z0-9]+/B[A-Z0-9]+/[A-Za-z0-9]{20,}",
    "a Stripe key": r"[rs]k_live_[A-Za-z0-9]{20,}",
    "an npm token": r"npm_[A-Za-z0-9]{36}",
    "a PyPI token": r"pypi-AgEI[A-Za-z0-9_-]{50,}",
    "a SendGrid key": r"SG\.[A-Za-z0-9_-]{22}\.[A-Za-z0-9_-]{43}",
    "a DigitalOcean token": r"do[oprs]_v1_[a-f0-9]{64}",
    "a Databricks token": r"dapi[a-f0-9]{32}",
    "a Groq key": r"gsk_[A-Za-z0-9]{40,}",
    "an xAI key": r"xai-[A-Za-z0-9]{40,}",
    "a Perplexity key": r"pplx-[A-Za-z0-9]{40,}",
    "a Replicate token": r"r8_[A-Za-z0-9]{37}",
    "a LangSmith key": r"lsv2_(?:pt|sk)_[a-f0-9]{32}_[a-f0-9]{10}",
    "a Pulumi token": r"pul-[a-f0-9]{40}",
    "a Vault token": r"hv[bs]\.[A-Za-z0-9_-]{24,}",
    "a Telegram bot token": r"\d{8,10}:AA[A-Za-z0-9_-]{33}",
    "an age key": r"AGE-SECRET-KEY-1[A-Z0-9]{58}",
    "a JSON Web Token": r"eyJ[A-Za-z0-9_-]{8,}\.eyJ[A-Za-z0-9_-]{8,}\.[A-Za-z0-9_-]{8,}",
    "an Azure account key": r"AccountKey=[A-Za-z0-9+/]{86}==",
}
_ANCHORED = {
    "a private key": r"-----BEGIN (?:[A-Z0-9]+ )*PRIVATE KEY(?: BLOCK)?-----",
    "a password in a URL": r"[a-z][a-z0-9+.-]*://[^\s:/@$<{]*:(?![$<{%*])[^\s:/@]{3,}@[A-Za-z0-9]",
}
_LABELS = [*_SHAPES, *_ANCHORED]
_PATTERN = re.compile(
    rf"(?<![A-Za-z0-9_-])(?:{'|'.join(f'({shape})' for shape in _SHAPES.values())})(?![A-Za-z0-9])"
    rf"|{'|'.join(f'({shape})' for shape in _ANCHORED.values())}"
)
_MARKS = (
    *("sk-", "AKIA", "ASIA", "ghp_", "gho_", "ghu_", "ghs_", "ghr_", "github_pat_", "gl", "AIza"),
    *("GOCSPX-", "hf_", "xox", "hooks.slack", "k_live_", "npm_", "pypi-", "SG.", "_v1_", "dapi"),
    *("gsk_", "xai-", "pplx-", "r8_", "lsv2_", "pul-", "hvs.", "hvb.", ":AA", "AGE-", "eyJ"),
    *("AccountKey=", "PRIVATE KEY", "://"),
)
"""At least one of them stands in every text that the pattern finds; looked for first, for speed."""

_NAME = (
    r"(?:api|access|secret|private|auth|encryption|signing|account|license)[_.-]?key"
    r"|pass(?:word|wd|phrase)|(?:client[_.-]?)?secret|token|credentials?"
)
_CREDENTIAL_NAME = re.compile(rf"(?:.*[_.-]|.*[a-z](?=[A-Z])|)(?:{_NAME})", re.IGNORECASE)
_PASSWORD_NAME = re.compile(r".*pass(?:word|wd|phrase)", re.IGNORECASE)
_PAIR = re.compile(
    rf"(?P<name>{_NAME})[\"']?\s*[:=]\s*[\"']?(?P<value>[^\s\"',;}}\]]{{8,}})",
    re.IGNORECASE,
)
_PLACEHOLDER = re.compile(
    r"[$<{%*]|example|change.?me|your[_-]|placeholder|dummy|redacted|x{4}|\.{3}", re.IGNORECASE
)
_REFERENCE = re.compile(r"/|\.{1,2}/|[a-z][a-z0-9+.-]*:/|sha\d{3}:", re.IGNORECASE)
_WORDS = re.compile(r"(?:[A-Za-z]+|v?\d{1,4})(?:[-_.:](?:[A-Za-z]+|v?\d{1,4}))*")

_SHORTEST_SHAPE = 12
_SHORTEST_TOKEN = 16
_SHORTEST_PASSWORD = 8
_LOWEST_ENTROPY_BITS = 3.0


def known_credential(text: str) -> str:
    """What kind of credential stands somewhere in a text, by its shape; empty for none."""
    if len(text) < _SHORTEST_SHAPE or not any(mark in text for mark in _MARKS):
        return ""
    match = _PATTERN.search(text)
    return _LABELS[(match.lastindex or 1) - 1] if match else ""


def named_credential(name: str, value: str) -> str:
    """What a value looks like: a known shape, or random text where its name promises a secret."""
    known = known_credential(value)
    if known or _CREDENTIAL_NAME.fullmatch(name) is None:
        return known
    return "a credential" if _looks_secret(name, value) else ""


def credentials_in(text: str) -> Iterator[str]:
    """What credentials stand in a longer text, such as a configuration file or a script."""
    known = known_credential(text)
    if known:
        yield known
    elif any(_looks_secret(pair["name"], pair["value"]) for pair in _PAIR.finditer(text)):
        yield "a credential"


def _looks_secret(name: str, value: str) -> bool:
    if _PLACEHOLDER.search(value) or _REFERENCE.match(value) or _WORDS.fullmatch(value):
        return False
    if _PASSWORD_NAME.fullmatch(name) is not None:
        return len(value) >= _SHORTEST_PASSWORD and not value.isalpha()
    return len(value) >= _SHORTEST_TOKEN and _entropy_bits(value) >= _LOWEST_ENTROPY_BITS


def _entropy_bits(text: str) -> float:
    """Shannon entropy of the characters of a text, in bits a character."""
    shares = [count / len(text) for count in Counter(text).values()]
    return -sum(share * math.log2(share) for share in shares)
