"""Loading a model runs no code that came with it."""

import re
from collections.abc import Iterator

from holdfast_policies.api import (
    POD_KINDS,
    Admission,
    Breach,
    Container,
    Finding,
    Fix,
    Level,
    Levels,
    Rule,
    Settings,
    Severity,
    containers,
    each,
    field_path,
    in_containers,
    listed,
    mapping,
    matches,
    quoted,
    text,
)

_TRUST = r"--trust[-_]remote[-_]code"
_OFF = r"\s{0,8}=?\s{0,8}(?:false|0|no)\b"
_OTHER_FLAGS = r"""
    \btrust_remote_code\s*=\s*True\b
    | \bweights_only\s*=\s*False\b
    | \ballow_dangerous_deserialization\s*=\s*True\b | --allow-dangerous-deserialization\b
    | --load-format[\s=]+(?:pt|npcache)\b
    | \b(?:pickle|dill|joblib|cloudpickle)\.loads?\b
    | \S\.(?:pkl|pickle|joblib|dill)\b
    """
_FLAGS = re.compile(rf"{_TRUST}(?!{_OFF}) | {_OTHER_FLAGS}", re.VERBOSE)
_MARKS = ("trust", "weights_only", "dangerous", "load-format", "pickle", "pkl", "dill", "joblib")
"""One of them stands in every text that the pattern finds; a plain search takes a part of it."""
_VARIABLES = {
    "TRUST_REMOTE_CODE": ("1", "true", "yes"),
    "HF_HUB_TRUST_REMOTE_CODE": ("1", "true", "yes"),
    "HF_TRUST_REMOTE_CODE": ("1", "true", "yes"),
    "VLLM_TRUST_REMOTE_CODE": ("1", "true", "yes"),
    "TORCH_FORCE_NO_WEIGHTS_ONLY_LOAD": ("1", "true", "yes"),
    "VLLM_ALLOW_INSECURE_SERIALIZATION": ("1", "true", "yes"),
}


def check(container: Container, _: Settings) -> Iterator[Finding]:
    """Flags of the usual servers and libraries, in arguments and in variables."""

    def check_words(name: str, _: str) -> Iterator[Finding]:
        path = field_path(container.path, name)
        yield from each(container.value.get(name), path, check_word)

    def check_word(word: object, path: str) -> Iterator[Breach]:
        argument = text(word)
        found = _FLAGS.search(argument) if any(mark in argument for mark in _MARKS) else None
        if found:
            yield Breach(path, got=f'"{found.group(0)}"', required="weights without code")

    def check_variable(variable: object, path: str) -> Iterator[Breach]:
        declared = mapping(variable)
        name, value = text(declared.get("name")), text(declared.get("value"))
        if name in _VARIABLES and value.lower() in _VARIABLES[name]:
            yield Breach(field_path(path, "value"), got=f'{name}="{value}"', required="it off")

    yield from each(["command", "args"], "", check_words)
    if container.may_have_variable(_VARIABLES):
        env = field_path(container.path, "env")
        yield from each(container.value.get("env"), env, check_variable)


_UNSAFE_WORD = (
    f"{matches('w', _OTHER_FLAGS)} || w.findAll({quoted(f'{_TRUST}(?:{_OFF})?')})"
    f".exists(f, !f.matches({quoted(_OFF + '$')}))"
)


RULE = Rule(
    id="no-unsafe-model-loading",
    title="Weights without code",
    description="A model is loaded in a way that runs code which came with it",
    rationale="A model in an unsafe format is a program of its publisher, run as the agent.",
    remedy="use safetensors or GGUF, and leave trust-remote-code off",
    source="https://genai.owasp.org/llmrisk/llm042025-data-and-model-poisoning/",
    severity=Severity.HIGH,
    levels=Levels(Level.ADVISORY, Level.MANDATORY, Level.MANDATORY),
    frameworks=(
        "SI-7",
        "SI-3",
        "LLM03",
        "LLM04",
        "ASI05",
    ),
    fix=Fix.NO,
    kinds=POD_KINDS,
    check=containers(check),
    admission=Admission(
        (
            in_containers(
                "(c.value.?command.orValue([]) + c.value.?args.orValue([]))"
                f".exists(w, {_UNSAFE_WORD})",
                "args",
                "weights without code",
            ),
            in_containers(
                "c.value.?env.orValue([]).exists(e,"
                f" e.name in {listed(_VARIABLES)}"
                ' && e.?value.orValue("").lowerAscii() in ["1", "true", "yes"])',
                "env",
                "trust-remote-code off",
            ),
        )
    ),
)
