"""What a container runs is in its image; nothing is fetched and run at start."""

import re
from collections.abc import Iterator

from holdfast_policies.cel import Admission, in_containers, matches
from holdfast_policies.finding import Breach, Finding
from holdfast_policies.kinds import POD_KINDS
from holdfast_policies.parts import containers, each
from holdfast_policies.rule import Fix, Level, Levels, Rule, Settings, Severity
from holdfast_policies.subject import Container, field_path, items, mapping, text

_INSTALLERS = re.compile(
    r"""
    (?:^|[\s/;&|(`])(?:npx|pnpx|bunx|uvx|pipx\s+run)(?:\s|$)
    | \buv\s+(?:tool\s+(?:run|install)|pip\s+install|run\s+--with)\b
    | \bpip3?\s+install\b | \bpython3?\s+-m\s+pip\s+install\b
    | \b(?:npm|pnpm)\s+(?:install|i|ci|exec|add)\b | \byarn\s+(?:add|dlx)\b
    | \b(?:apt|apt-get|apk|dnf|yum|microdnf)\b[^|;&]*\b(?:install|add)\b
    | \b(?:gem|cargo|go|conda|mamba)\s+install\b | \bgo\s+run\s+\S+@
    | \b(?:curl|wget)\b[^;&]*\|\s*(?:sudo\s+)?(?:ba|da|z|k)?sh\b
    | \b(?:curl|wget)\b[^;&]*\|\s*(?:sudo\s+)?(?:python3?|node|perl|ruby)\b
    | \b(?:ba|da|z|k)?sh\s+(?:-c\s+)?["']?(?:<\(|\$\()\s*(?:curl|wget)\b
    """,
    re.VERBOSE,
)


def check_command(words: object, path: str) -> Iterator[Breach]:
    """A command whose words, read as one line, install something."""
    found = _INSTALLERS.search(" ".join(text(word) for word in items(words)))
    if found:
        yield Breach(
            path, got=f'"{found.group(0).strip(" 	/;&|(`")}"', required="what the image holds"
        )


def check(container: Container, _: Settings) -> Iterator[Finding]:
    """Command and arguments together, as they run, and the hooks of the container."""
    command = items(container.value.get("command"))
    args = items(container.value.get("args"))
    place = "args" if args and not _INSTALLERS.search(_line(command)) else "command"
    yield from check_command([*command, *args], field_path(container.path, place))

    def check_hook(name: str, _: str) -> Iterator[Breach]:
        hook = mapping(mapping(container.value.get("lifecycle")).get(name))
        steps = (container.path, "lifecycle", name, "exec", "command")
        yield from check_command(mapping(hook.get("exec")).get("command"), field_path(*steps))

    yield from each(["postStart", "preStop"], "", check_hook)


def _line(words: list[object]) -> str:
    return " ".join(text(word) for word in words)


_HOOK = "c.value.?lifecycle[?h].?exec.?command.orValue([])"


def _installs(words: str) -> str:
    """CEL: whether a command, read as one line, installs something."""
    return matches(f'({words}).join(" ")', _INSTALLERS.pattern)


RULE = Rule(
    id="no-runtime-install",
    title="Nothing installed at start",
    description="A container fetches and runs what is not in its image",
    rationale="What a package index serves at that moment is what runs, and no review has seen it.",
    remedy="build it into the image and refer to the image by its digest",
    source="https://genai.owasp.org/llmrisk/llm032025-supply-chain/",
    severity=Severity.HIGH,
    levels=Levels(Level.ADVISORY, Level.MANDATORY, Level.MANDATORY),
    frameworks=(
        "CM-7",
        "SI-7",
        "LLM03",
        "ASI04",
        "MCP",
    ),
    fix=Fix.NO,
    kinds=POD_KINDS,
    check=containers(check),
    admission=Admission(
        (
            in_containers(
                _installs("c.value.?command.orValue([]) + c.value.?args.orValue([])"),
                "args",
                "what the image holds",
            ),
            in_containers(
                f'["postStart", "preStop"].exists(h, {_installs(_HOOK)})',
                "lifecycle",
                "what the image holds",
            ),
        )
    ),
)
