"""Cases of own rules: objects that pass and objects that violate, run by `holdfast validate`."""

import copy
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any, Final

from holdfast_policies.evaluation.judge import Judgement, judgements, stack_judgements
from holdfast_policies.evaluation.profile import Profile, Ruling
from holdfast_policies.evaluation.rule_set import RuleSet
from holdfast_policies.model.parameters import fault_of
from holdfast_policies.model.rule import Environment, Level, Rule
from holdfast_policies.model.stack import Stack
from holdfast_policies.model.subject import Subject

from holdfast.errors import ManifestError, SourceLocation
from holdfast.manifest.text.documents import Document, read_documents
from holdfast.manifest.text.source_text import read_text

CASES_SUFFIX: Final = ".cases.yaml"
_ALLOWED: Final = "object"
_CASE_KEYS: Final = frozenset({"set", "remove", "object", "settings", "violates", "says"})
_FILE_KEYS: Final = frozenset({"object", "others", "settings", "cases"})


class _CaseError(Exception):
    """A case cannot be run."""


def faults_of_cases(root: Path, known: RuleSet) -> Iterator[ManifestError]:
    """Cases of own rules that do not come out as they say, and rules without cases.

    Args:
        root: Folder of Pulumi.yaml.
        known: All rules of the project.
    """
    for name, file in known.own.items():
        cases = file.removesuffix(".py") + CASES_SUFFIX
        if not (root / cases).is_file():
            yield ManifestError(
                SourceLocation(file, 1),
                "",
                expected=f"expected cases in {cases}",
                remedy="write at least one object that passes and one case that violates the rule",
            )
            continue
        try:
            content = read_documents(read_text(root / cases, cases, inside=root), cases)
        except ManifestError as error:
            yield error
            continue
        yield from content.errors
        for document in content.documents[:1]:
            yield from _of_document(document, known.by_id[name], cases)


def _of_document(document: Document, rule: Rule, file: str) -> Iterator[ManifestError]:
    data = document.data
    if not isinstance(data, dict) or not isinstance(data.get(_ALLOWED), dict):
        yield ManifestError(SourceLocation(file, 1), "", expected="expected an object that passes")
        return
    cases = data.get("cases")
    if not isinstance(cases, dict) or not all(isinstance(each, dict) for each in cases.values()):
        yield ManifestError(
            SourceLocation(file, 1), "cases", expected="expected a mapping of cases"
        )
        return
    for unknown in sorted(set(data) - _FILE_KEYS):
        yield _fault(document, (unknown,), f"unknown key {unknown}")
    if not any(each.get("violates") is not None for each in cases.values()):
        yield _fault(document, ("cases",), "expected a case that violates the rule")
    allowed: dict[str, Any] = {"object": data[_ALLOWED]}
    for keys, case in (((_ALLOWED,), allowed), *((("cases", name), cases[name]) for name in cases)):
        try:
            wrong = _outcome(rule, data, case)
        except _CaseError as error:
            wrong = str(error)
        if wrong:
            yield _fault(document, keys, wrong)


def _fault(document: Document, keys: tuple[str, ...], expected: str) -> ManifestError:
    place = document.origin.nearest(keys).key_location
    return ManifestError(place, ".".join(keys), expected=expected)


def _outcome(rule: Rule, data: Mapping[str, Any], case: Mapping[str, Any]) -> str:
    """What is wrong with a case; empty when it comes out as it says."""
    if unknown := sorted(set(case) - _CASE_KEYS):
        raise _CaseError(f"unknown key {unknown[0]}; a case has {', '.join(sorted(_CASE_KEYS))}")
    kube_object = copy.deepcopy(case.get("object", data[_ALLOWED]))
    for pointer, value in (case.get("set") or {}).items():
        _set(kube_object, pointer, value)
    for pointer in case.get("remove") or ():
        _remove(kube_object, pointer)
    settings = {each.name: each.value_in(Environment.PROD) for each in rule.parameters}
    given = {**(data.get("settings") or {}), **(case.get("settings") or {})}
    schemas = {each.name: each.schema for each in rule.parameters}
    for name, value in given.items():
        fault = fault_of(value, schemas[name]) if name in schemas else "the rule has none"
        if fault:
            raise _CaseError(f"parameter {name}: {fault}")
    found = _judged(rule, settings | given, kube_object, data.get("others") or ())
    undecided = [each.path for judgement in found for each in judgement.undecided]
    if undecided:
        return f"expected a verdict, got undetermined at {undecided[0]}"
    violations = [each for judgement in found for each in judgement.violations]
    wanted = case.get("violates")
    got = ", ".join(f"{each.path} ({each.got})" for each in violations) or "no violation"
    if wanted is None:
        return f"expected no violation, got {got}" if violations else ""
    if wanted not in [each.path for each in violations]:
        return f"expected a violation at {wanted}, got {got}"
    said = str(case.get("says") or "")
    if said and not any(said in each.message for each in violations):
        return f"expected a message with {said!r}, got {violations[0].message}"
    return ""


def _judged(
    rule: Rule,
    settings: Mapping[str, Any],
    kube_object: Mapping[str, Any],
    others: Any,  # noqa: ANN401  # as written
) -> list[Judgement]:
    ruling = Ruling(rule, Level.MANDATORY, settings)
    profile = Profile(Environment.PROD, (ruling,))
    if rule.check is not None:
        return list(judgements(Subject.of(kube_object), profile))
    stack = Stack.of(Subject.of(each) for each in (kube_object, *others))
    return list(stack_judgements(stack, profile))


def _steps(pointer: object) -> list[str]:
    if not isinstance(pointer, str) or not pointer.startswith("/"):
        raise _CaseError(f"expected a JSON pointer such as /spec/replicas, got {pointer!r}")
    return [each.replace("~1", "/").replace("~0", "~") for each in pointer[1:].split("/")]


def _holder(kube_object: Any, steps: list[str], pointer: str) -> Any:  # noqa: ANN401  # any JSON
    holder = kube_object
    for step in steps:
        try:
            holder = holder[int(step)] if isinstance(holder, list) else holder.setdefault(step, {})
        except (AttributeError, IndexError, ValueError) as error:
            raise _CaseError(f"{pointer} is not in the object") from error
    return holder


def _set(kube_object: Any, pointer: str, value: Any) -> None:  # noqa: ANN401  # any JSON
    *parents, last = _steps(pointer)
    holder = _holder(kube_object, parents, pointer)
    try:
        holder[int(last) if isinstance(holder, list) else last] = value
    except (IndexError, TypeError, ValueError) as error:
        raise _CaseError(f"{pointer} is not in the object") from error


def _remove(kube_object: Any, pointer: str) -> None:  # noqa: ANN401  # any JSON
    *parents, last = _steps(pointer)
    holder = _holder(kube_object, parents, pointer)
    try:
        del holder[int(last) if isinstance(holder, list) else last]
    except (IndexError, KeyError, TypeError, ValueError) as error:
        raise _CaseError(f"{pointer} is not in the object") from error
