"""A hostile object of 1.5 MB is judged in bounded time, and never passes because it is large."""

import copy
import re
import time
from collections.abc import Callable, Iterable, Iterator
from dataclasses import replace
from typing import Any

import pytest
from holdfast_policies.evaluation import judge
from holdfast_policies.evaluation.profile import Profile, Ruling, profile_of
from holdfast_policies.facts.quantities import quantity
from holdfast_policies.model import bounds
from holdfast_policies.model.bounds import MOST_CONTAINERS, MOST_FINDINGS, TooLongError
from holdfast_policies.model.finding import Breach, Finding
from holdfast_policies.model.parts import each
from holdfast_policies.model.rule import Environment, Level, Settings
from holdfast_policies.model.stack import Stack
from holdfast_policies.model.subject import Subject
from holdfast_policies.table import RULES_BY_ID

from tests.policies.rule_cases import allowed_case

SIZE = 1_500_000
LIMIT_SECONDS = 0.5
MOST_LOOKS = 12
MOST_TRIES = 3
POD = allowed_case(RULES_BY_ID["no-runtime-install"]).kube_object
POLICY = allowed_case(RULES_BY_ID["egress-scoped"]).kube_object

Edit = Callable[[dict[str, Any]], None]


def pod(edit: Edit) -> dict[str, Any]:
    changed = copy.deepcopy(POD)
    edit(changed)
    return changed


def container(**fields: Any) -> dict[str, Any]:
    return pod(lambda each_pod: each_pod["spec"]["containers"][0].update(fields))


def repeated(text: str) -> str:
    return text * (SIZE // len(text))


def config_map(**data: str) -> dict[str, Any]:
    return {"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": "a"}, "data": data}


HOSTILE_TEXTS = {
    "installers": "apt ",
    "downloads": "curl -o x;",
    "pipes": "curl x | ",
    "substitutions": "$(",
    "flags": "--trust-remote-code ",
    "blanks after a flag": "--trust-remote-code" + " " * 4000,
    "names": "token = ",
    "passwords": "password=Tr0ub4dor&3 ",
    "keys": "sk-",
    "tokens": "eyJhbGciOiJI.",
    "addresses": "a://b:c",
    "pickles": "a.pk",
    "quotes": "'\\",
    "base64": "QUtJQUlPU0ZPRE5ON0VYQU1QTEU",
    "hexadecimal": "736b2d616e74",
}
PLACES: dict[str, Callable[[str], dict[str, Any]]] = {
    "argument": lambda text: container(args=["-c", text]),
    "variable": lambda text: container(env=[{"name": "API_KEY", "value": text}]),
    "name of a variable": lambda text: container(env=[{"name": text, "value": "a" * 20}]),
    "configuration": lambda text: config_map(**{"a.txt": text}),
    "script": lambda text: config_map(**{"a.sh": text}),
    "agent": lambda text: config_map(**{"agent.json": text}),
    "annotation": lambda text: pod(lambda one: one["metadata"]["annotations"].update(note=text)),
    "image": lambda text: container(image=text),
}


@pytest.mark.parametrize("place", PLACES)
@pytest.mark.parametrize("text", HOSTILE_TEXTS)
def test_a_hostile_text_costs_little_wherever_it_stands(text: str, place: str) -> None:
    assert is_cheap(PLACES[place](repeated(HOSTILE_TEXTS[text])))


MANY: dict[str, Callable[[], dict[str, Any]]] = {
    "containers": lambda: pod(lambda one: one["spec"].update(containers=[{"name": "a"}] * 90_000)),
    "variables": lambda: container(env=[{"name": "A_KEY", "value": "b"}] * 50_000),
    "arguments": lambda: container(args=["npx"] * 200_000),
    "volumes": lambda: pod(lambda one: one["spec"].update(volumes=[{"name": "a"}] * 90_000)),
    "keys": lambda: config_map(**{f"token{number}": "ab" for number in range(90_000)}),
    "destinations": lambda: with_destinations(
        [{"ipBlock": {"cidr": f"10.{number % 250}.0.0/16"}} for number in range(40_000)]
    ),
    "depth": lambda: container(resources=nested(50_000)),
}


@pytest.mark.parametrize("what", MANY)
def test_very_many_values_cost_little_and_do_not_pass(what: str) -> None:
    hostile = MANY[what]()
    assert is_cheap(hostile)
    found = judge.violations(hostile, "dev")
    assert {each_found.description for each_found in found} == {
        "An object is too long to be judged"
    }
    assert {each_found.level for each_found in found} == {Level.MANDATORY}


def test_a_pod_of_many_containers_is_not_judged_in_part() -> None:
    many = [{"name": f"a{number}"} for number in range(MOST_CONTAINERS + 1)]
    found = judge.violations(pod(lambda one: one["spec"].update(containers=many)), "prod")
    assert {each_found.got for each_found in found} == {f"more than {MOST_CONTAINERS} containers"}


def test_a_command_that_is_too_long_is_a_violation() -> None:
    found = judge.violations(container(args=["-c", "true; " * 10_000]), "prod")
    (violation,) = [each_found for each_found in found if each_found.rule == "no-runtime-install"]
    assert "too long to be judged" in violation.message


def test_an_object_that_is_too_large_is_left_out_of_the_stack_it_would_hold_up() -> None:
    assert not Stack.of([Subject.of(MANY["destinations"]())]).subjects


def test_a_rule_that_takes_too_long_refuses_its_object(monkeypatch: pytest.MonkeyPatch) -> None:
    """The clock is the test's own: it passes an hour at every question."""
    hours = iter(range(0, 10_000_000, 3600))
    monkeypatch.setattr(
        "holdfast_policies.model.bounds.time.perf_counter", lambda: float(next(hours))
    )

    def check(_: Subject, __: Settings) -> Iterable[Finding]:
        return each(list(range(1000)), "spec", lambda *_: ())

    (found,) = judge.judgements(Subject.of(POD), only(check))
    (violation,) = found.violations
    assert violation.level is Level.MANDATORY
    assert violation.got == "more time than a rule may take"


def test_a_rule_that_never_stops_finding_is_stopped() -> None:
    def check(_: Subject, __: Settings) -> Iterator[Finding]:
        while True:
            yield Breach("spec", "a", "b")

    (found,) = judge.judgements(Subject.of(POD), only(check))
    assert len(found.violations) == MOST_FINDINGS


def test_time_limits_end_with_what_they_are_for() -> None:
    with bounds.time_limit(-1), pytest.raises(TooLongError):
        bounds.in_bounds(64)
    bounds.in_bounds(64)


@pytest.mark.parametrize("written", ["1e999999999", "9" * 100_000, "1e-99999999"])
def test_a_quantity_of_many_digits_is_none(written: str) -> None:
    assert quantity(written) is None


def only(check: Callable[[Subject, Settings], Iterable[Finding]]) -> Profile:
    rule = replace(RULES_BY_ID["pss-privileged"], check=check)
    return Profile(Environment.DEV, (Ruling(rule, Level.ADVISORY, {}),))


def reference_seconds() -> float:
    """Processor time of one plain look at a text of this size: how fast this machine is now."""
    text = "a = b; " * (SIZE // 7)
    began = time.process_time()
    for _ in re.finditer(r"\w+", text):
        pass
    return time.process_time() - began


def is_cheap(hostile: dict[str, Any]) -> bool:
    """Whether judging costs half a second, on a slow machine as much as so many plain looks."""
    profile = profile_of("prod")
    limit = max(LIMIT_SECONDS, MOST_LOOKS * reference_seconds())
    for _ in range(MOST_TRIES):
        began = time.process_time()
        judge.violations(hostile, profile)
        judge.judge_stack([hostile], profile)
        if time.process_time() - began < limit:
            return True
    return False


def nested(depth: int) -> dict[str, Any]:
    value: dict[str, Any] = {}
    for _ in range(depth):
        value = {"a": value}
    return value


def with_destinations(peers: list[dict[str, Any]]) -> dict[str, Any]:
    changed = copy.deepcopy(POLICY)
    changed["spec"]["egress"] = [{"to": peers}]
    return changed
