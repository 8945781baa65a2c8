"""Credentials stand in Secrets, not in objects that everyone may read."""

from collections.abc import Iterable, Iterator, Mapping
from typing import Any

from holdfast_policies.api import (
    ANY_KIND,
    CONFIG_MAP,
    DEFINITION,
    LONGEST_VALUE,
    POD_KINDS,
    SANDBOX_CLAIM,
    SECRET,
    Admission,
    Breach,
    Container,
    Finding,
    Fix,
    Level,
    Levels,
    Pod,
    Rule,
    Settings,
    Severity,
    Subject,
    Unknown,
    all_of,
    breaches,
    containers,
    each,
    field_path,
    is_unknown,
    item_path,
    items,
    key_path,
    mapping,
    pods,
    quoted,
    raw_items,
    text,
)
from holdfast_policies.facts.credentials import (
    any_known_credential,
    credentials_in,
    known_credential,
    named_credential,
    shape_in_cel,
)


def _breaches(path: str, kinds: Iterable[str]) -> Iterator[Breach]:
    for kind in kinds:
        if kind:
            yield Breach(path, got=f"what looks like {kind}", required="no credential")


def check_variable(variable: object, path: str) -> Iterator[Breach]:
    """An environment variable with its value written out."""
    name, value = text(mapping(variable).get("name")), text(mapping(variable).get("value"))
    found = named_credential(name, value)
    if found:
        yield from _breaches(field_path(path, "value"), [found])


def _holds_credential(variable: Mapping[str, Any]) -> bool:
    return bool(named_credential(text(variable.get("name")), text(variable.get("value"))))


def check_arguments(arguments: list[Any], path: str) -> Iterator[Finding]:
    """Arguments of a program; `--api-key VALUE` is told by the two together."""

    def check_argument(argument: object, argument_path: str) -> Iterator[Breach]:
        if len(text(argument)) > LONGEST_VALUE:
            required = f"at most {LONGEST_VALUE:,} characters"
            yield Breach(argument_path, "a text that is too long to be judged", required)
            return
        yield from _breaches(argument_path, credentials_in(text(argument)))

    def check_pair(index: int, _: str) -> Iterator[Breach]:
        flag, value = text(arguments[index]), text(arguments[index + 1])
        if flag.startswith("-") and not known_credential(value):
            found = named_credential(flag.lstrip("-"), value)
            yield from _breaches(f"{path}[{index + 1}]", [found])

    yield from each(arguments, path, check_argument)
    yield from each(list(range(len(arguments) - 1)), path, check_pair)


def _may_hold_credential(arguments: list[Any]) -> bool:
    """Whether `check_arguments` may find something; most of all it does not."""
    if type(arguments) is not list:
        return True
    flag = ""
    for argument in arguments:
        value = text(argument)
        if len(value) > LONGEST_VALUE or any(credentials_in(value)):
            return True
        if flag.startswith("-") and named_credential(flag.lstrip("-"), value):
            return True
        flag = value
    return False


def check_container(container: Container, _: Settings) -> Iterator[Finding]:
    """Variables, command and arguments of a container."""
    variables = container.variables
    if variables is None or any(map(_holds_credential, variables)):
        env = field_path(container.path, "env")
        yield from each(container.value.get("env"), env, check_variable)
    for name in ("command", "args"):
        arguments = items(container.value.get(name))
        if arguments and _may_hold_credential(arguments):
            yield from check_arguments(arguments, field_path(container.path, name))


def check_metadata(metadata: Mapping[str, Any], path: str) -> Iterator[Finding]:
    """Labels and annotations, by the shape of what stands there."""
    for section in ("labels", "annotations"):
        values = mapping(metadata.get(section))
        if type(values) is dict and not any_known_credential(values.values()):
            continue

        def check_key(key: str, _: str, *, texts: Mapping[str, Any] = values) -> Iterator[Breach]:
            found = known_credential(text(texts.get(key)))
            if found:
                place = key_path(field_path(path, "metadata", section), key)  # noqa: B023  # at once
                yield from _breaches(place, [found])

        yield from each(list(values), "", check_key)


def check_pod(pod: Pod, _: Settings) -> Iterator[Finding]:
    """Labels and annotations of the pods an object makes."""
    if pod.path:
        yield from check_metadata(pod.metadata, pod.path)


def check_object(subject: Subject, _: Settings) -> Iterator[Finding]:
    """Labels and annotations of any object, data of a ConfigMap, variables of a SandboxClaim."""
    yield from check_metadata(subject.metadata, "")
    if subject.kind == SANDBOX_CLAIM:
        yield from each(subject.spec.get("env"), "spec.env", check_variable)
    if subject.kind == CONFIG_MAP:
        data = mapping(subject.object.get("data"))

        def check_key(key: str, _: str) -> Iterator[Breach]:
            value = text(data.get(key))
            found = named_credential(key, value)
            kinds = [found] if found else list(credentials_in(value))
            if kinds:
                yield from _breaches(key_path("data", key), kinds)

        yield from each(list(data), "", check_key)


_TOLD_ELSEWHERE = frozenset({"env", "command", "args", "labels", "annotations"})
_OF_SECRETS = frozenset({"data", "stringData"})


def check_leaves(subject: Subject, _: Settings) -> Iterator[Finding]:
    """Every other text of an object: headers of probes, fields of custom resources."""
    if subject.kind == DEFINITION:
        return
    skipped = _TOLD_ELSEWHERE
    if subject.kind in (SECRET, CONFIG_MAP):
        skipped |= _OF_SECRETS
    is_named = subject.kind not in POD_KINDS
    found_texts = _long_texts(subject.object, skipped)
    if is_named:
        if not any(named_credential(name, value) for name, value in found_texts):
            return
    elif not any_known_credential(value for _, value in found_texts):
        return
    for path, name, value in _leaves(subject.object, "", "", skipped):
        found = known_credential(value)
        if not found and len(value) >= _SHORTEST and is_named:
            found = named_credential(name, value)
        yield from _breaches(path, [found])


def _long_texts(value: object, skipped: frozenset[str]) -> list[tuple[str, str]]:
    """What `_leaves` finds, without short texts and without paths: hardly any is asked for its."""
    texts: list[tuple[str, str]] = []
    left: list[tuple[str, Any]] = [("", value)]
    while left:
        name, holder = left.pop()
        if isinstance(holder, dict):
            pair = dict.get(holder, "name")
            for key, item in dict.items(holder):
                if type(item) not in _SCALARS and key not in skipped:
                    under = pair if key == "value" and type(pair) is str else key
                    _sort(under, item, texts, left)
        else:
            for item in raw_items(holder):
                if type(item) not in _SCALARS:
                    _sort(name, item, texts, left)
    return texts


def _sort(
    name: str, item: object, texts: list[tuple[str, str]], holders: list[tuple[str, Any]]
) -> None:
    """Add a value to the texts, or to what holds further ones."""
    if isinstance(item, str):
        if len(item) >= _SHORTEST:
            texts.append((name, item))
    elif isinstance(item, dict | list):
        holders.append((name, item))


_SCALARS = frozenset({int, float, bool, type(None), Unknown})


def _leaves(
    value: object, path: str, name: str, skipped: frozenset[str]
) -> Iterator[tuple[str, str, str]]:
    """Texts of an object with the names that they stand under; `name` and `value` are a pair."""
    if is_unknown(value):
        return
    if isinstance(value, str):
        yield path, name, value
    elif isinstance(value, dict):
        pair = dict.get(value, "name")
        for key, item in dict.items(value):
            if key not in skipped:
                under = pair if key == "value" and type(pair) is str else key
                yield from _leaves(item, key_path(path, key), under, skipped)
    elif isinstance(value, list):
        for index, item in enumerate(raw_items(value)):
            yield from _leaves(item, item_path(path, index, item), name, skipped)


_SHORTEST = 8
_LONGEST_IN_CLUSTER = 15_000
"""More than so many characters would cost more than an API server spends on a policy."""


def _text(path: str, texts: str) -> str:
    return f'[{{"path": {path}, "text": {texts}.join(" ")}}]'


def _values(path: str, optional: str) -> str:
    held = f"{optional}.orValue({{}})"
    return _text(quoted(path), f"{held}.map(k, {held}[k])")


def _variables(holder: str) -> str:
    return f'{holder}.?env.orValue([]).map(e, string(e.?value.orValue("")))'


_DATA = f'object.kind == "{CONFIG_MAP.name}" ? variables.subject.?data : optional.none()'
_CLAIMED = f'object.kind == "{SANDBOX_CLAIM.name}" ? {_variables("variables.subject.?spec")} : []'
_TEXTS = " + ".join(
    [
        _values("metadata.labels", "variables.subject.metadata.?labels"),
        _values("metadata.annotations", "variables.subject.metadata.?annotations"),
        _values("template.metadata.labels", "variables.template.?metadata.?labels"),
        _values("template.metadata.annotations", "variables.template.?metadata.?annotations"),
        _values("data", f"({_DATA})"),
        _text('"spec.env"', f"({_CLAIMED})"),
        'variables.containers.map(c, {"path": string(c.path) + ".env", "text":'
        f' {_variables("c.value")}.join(" ")}})',
        'variables.containers.map(c, {"path": string(c.path) + ".args", "text":'
        ' (c.value.?command.orValue([]) + c.value.?args.orValue([])).join(" ")})',
    ]
)


RULE = Rule(
    id="no-literal-credentials",
    title="No credentials in plain sight",
    description="A credential is written out where everyone who may read the object sees it",
    rationale="It ends in Git, in the state and in backups, and an agent that is asked prints it.",
    remedy="put it into a Secret, refer to that, and replace the credential: it has been seen",
    source="https://kubernetes.io/docs/concepts/security/secrets-good-practices/",
    severity=Severity.CRITICAL,
    levels=Levels(Level.MANDATORY, Level.MANDATORY, Level.MANDATORY),
    frameworks=("N", "IA-5", "SC-28", "LLM02", "LLM07", "ASI03"),
    fix=Fix.NO,
    kinds=frozenset({ANY_KIND}),
    check=all_of(check_object, pods(check_pod), containers(check_container), check_leaves),
    admission=Admission(
        (
            breaches(
                "variables.texts",
                "t",
                f"t.text.size() <= {_LONGEST_IN_CLUSTER} && {shape_in_cel('t.text')}",
                "t.path",
                "no credential",
            ),
        ),
        variables=(("texts", _TEXTS),),
        differs=(
            "what only looks random under a name that promises a secret, what is encoded and what"
            " stands in other fields is seen at preview only,"
            f" and so is what stands in more than {_LONGEST_IN_CLUSTER:,} characters"
        ),
    ),
)
