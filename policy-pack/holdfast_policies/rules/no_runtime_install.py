"""What a container runs is in its image; nothing is fetched and run at start."""

from collections.abc import Iterator, Mapping
from typing import Any

from holdfast_policies.api import (
    CONFIG_MAP,
    LONGEST_COMMAND,
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
    Subject,
    all_of,
    containers,
    each,
    field_path,
    in_containers,
    items,
    key_path,
    mapping,
    matches,
    text,
)
from holdfast_policies.facts.commands import fetched, fetched_by_script

_INSTALLERS = r"""
    (?:^|[\s/;&|(`])(?:npx|pnpx|bunx|uvx|pipx\s+run)(?:\s|$)
    | \buv\s+(?:tool\s+(?:run|install)|pip\s+install|run\s+--with)\b
    | \bpip3?\s+install\b | \bpython3?\s+-m\s+pip\s+install\b
    | \b(?:npm|pnpm)\s+(?:install|i|ci|exec|add)\b | \byarn\s+(?:add|dlx)\b
    | \b(?:apt|apt-get|apk|dnf|yum|microdnf)\b[^|;&]*\b(?:install|add)\b
    | \b(?:gem|cargo|go|conda|mamba)\s+install\b | \bgo\s+run\s+\S+@
    | \b(?:curl|wget)\b[^;&]*\|\s*(?:sudo\s+)?(?:ba|da|z|k)?sh\b
    | \b(?:curl|wget)\b[^;&]*\|\s*(?:sudo\s+)?(?:python3?|node|perl|ruby)\b
    | \b(?:ba|da|z|k)?sh\s+(?:-c\s+)?["']?(?:<\(|\$\()\s*(?:curl|wget)\b
    """
"""The usual installers as the API server looks for them; its expressions take time by the text."""
_SHELL_FILES = (".sh", ".bash", ".zsh", ".ksh", ".command", ".envrc", ".profile", ".bashrc")
_SHELLS = frozenset({"sh", "bash", "dash", "zsh", "ksh", "ash"})
_LONGEST_SCRIPTS = 100_000
_HANDLERS = (
    *(("lifecycle", hook) for hook in ("postStart", "preStop")),
    *((probe, "") for probe in ("livenessProbe", "readinessProbe", "startupProbe")),
)
_TOO_LONG = "a text that is too long to be judged"
_REQUIRED = "what the image holds"
_PACKAGES = frozenset(
    f"{which}{packages}"
    for which in ("EXTRA_PIP_", "EXTRA_CONDA_", "EXTRA_APT_", "PIP_", "APT_", "CONDA_", "NPM_")
    for packages in ("PACKAGES", "INSTALL", "REQUIREMENTS")
)
"""Variables by which well-known images install what they name when they start."""
_RUN_AT_START = frozenset({"BASH_ENV", "ENV", "PROMPT_COMMAND", "PYTHONSTARTUP", "NODE_OPTIONS"})
_RUNNING_VARIABLES = _PACKAGES | _RUN_AT_START


def check_line(words: list[str], path: str) -> Iterator[Breach]:
    """A command whose words, read as one line, fetch what they run."""
    if sum(map(len, words)) > LONGEST_COMMAND:
        required = f"at most {LONGEST_COMMAND:,} characters"
        remedy = "put the script into the image"
        yield Breach(path, got=_TOO_LONG, required=required, remedy=remedy)
    elif found := fetched(words):
        yield Breach(path, got=f'"{found}"', required=_REQUIRED)


def check_container(container: Container, _: Settings) -> Iterator[Finding]:
    """Command and arguments together, as they run; hooks, probes and variables."""
    env: Mapping[str, str] | None = None
    if container.variables is None:
        env = _values(container)  # an unknown one raises

    def filled(word: str) -> str:
        nonlocal env
        if "$" not in word:
            return word
        if env is None:
            env = _values(container)
        return _filled(word, env)

    command = _words(container.value.get("command"))
    args = _words(container.value.get("args"))
    place = "args" if args and not fetched(command) else "command"
    line = [filled(word) for word in (*command, *args)]
    yield from check_line(line, field_path(container.path, place))

    def check_handler(steps: tuple[str, str], _: str) -> Iterator[Breach]:
        holder = mapping(mapping(container.value.get(steps[0])).get(steps[1]))
        holder = holder if steps[0] == "lifecycle" else mapping(container.value.get(steps[0]))
        words = [filled(word) for word in _words(mapping(holder.get("exec")).get("command"))]
        named = (*steps, "exec", "command") if steps[1] else (steps[0], "exec", "command")
        yield from check_line(words, field_path(container.path, *named))

    declared_keys = container.value.keys()
    handlers = [steps for steps in _HANDLERS if steps[0] in declared_keys]
    yield from each(handlers, "", check_handler)

    def check_variable(variable: object, path: str) -> Iterator[Breach]:
        declared = mapping(variable)
        name, value = text(declared.get("name")), text(declared.get("value"))
        if name in _PACKAGES and value.strip():
            yield Breach(field_path(path, "value"), f"packages in {name}", _REQUIRED)
        elif name in _RUN_AT_START:
            yield from check_line([value], field_path(path, "value"))

    if container.may_have_variable(_RUNNING_VARIABLES):
        path = field_path(container.path, "env")
        yield from each(container.value.get("env"), path, check_variable)


def _values(container: Container) -> dict[str, str]:
    """Variables of a container with their values; an unknown one raises."""
    return {
        text(mapping(variable).get("name")): text(mapping(variable).get("value"))
        for variable in items(container.value.get("env"))
    }


def check_scripts(subject: Subject, _: Settings) -> Iterator[Finding]:
    """Shell scripts in a ConfigMap, which a container may be told to run."""
    if subject.kind != CONFIG_MAP:
        return
    data = mapping(subject.object.get("data"))
    left = _LONGEST_SCRIPTS

    def check_key(key: str, _: str) -> Iterator[Breach]:
        nonlocal left
        script = text(data.get(key))
        if not _is_shell(key, script):
            return
        left -= len(script)
        path = key_path("data", key)
        if left < 0:
            required = f"scripts of at most {_LONGEST_SCRIPTS:,} characters together"
            yield Breach(path, _TOO_LONG, required, "put the script into the image")
        elif found := fetched_by_script(_without_comments(script)):
            yield Breach(path, got=f'"{found}"', required=_REQUIRED)

    yield from each(list(data), "", check_key)


def _is_shell(key: str, script: str) -> bool:
    if key.lower().endswith(_SHELL_FILES):
        return True
    first = script[:200].partition("\n")[0]
    return first.startswith("#!") and not _SHELLS.isdisjoint(first[2:].replace("/", " ").split())


def _without_comments(script: str) -> str:
    return "\n".join(line for line in script.splitlines() if not line.lstrip().startswith("#"))


def _words(value: object) -> list[str]:
    return [text(word) for word in items(value)]


def _filled(word: str, env: Mapping[str, Any]) -> str:
    """A word with the container's own variables in it, as kubelet and shell put them there."""
    if len(word) > LONGEST_COMMAND:
        return word
    for name, value in env.items():
        if name and name in word and len(value) <= LONGEST_COMMAND:
            for written in (f"$({name})", f"${{{name}}}", f"${name}"):
                word = word.replace(written, value, 8)
    return word


_HOOK = "c.value.?lifecycle[?h].?exec.?command.orValue([])"


def _installs(words: str) -> str:
    """CEL: whether a command, read as one line, installs something."""
    return matches(f'({words}).join(" ")', _INSTALLERS)


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
    kinds=POD_KINDS | {CONFIG_MAP},
    check=all_of(containers(check_container), check_scripts),
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
        ),
        differs=(
            "only the usual installers in command, arguments and hooks are seen there, not what is"
            " downloaded first and run later, nor scripts of ConfigMaps, probes and variables"
        ),
    ),
)
