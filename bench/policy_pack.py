"""The policy pack: milliseconds a resource, against the SDK's own servicer with a policy a rule.

The baseline judges nothing: its policies are empty functions, so what it takes is what the SDK
takes to hand each of them the request. Both answer the same real requests, in one process, in turn.
"""

import statistics
import time
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

from google.protobuf import json_format
from holdfast.manifest.loader import load_fleet
from holdfast.render.declared import plan_fleet
from holdfast.render.fleet import render_fleet
from holdfast_policies import judge
from holdfast_policies.pack.sdk import AnalyzerServicer, proto
from holdfast_policies.pack.servicer import Servicer
from holdfast_policies.profile import profile_of
from holdfast_policies.table import RULES
from pulumi_policy import EnforcementLevel, ResourceValidationPolicy, StackValidationPolicy

ROOT = Path(__file__).parents[1]
STACK = "dev"
COPIES = 20
ROUNDS = 5
TARGET_MS = 1.0
STACK_POLICIES = 2


def measure() -> dict[str, float | str]:
    """Medians of several rounds, over the project's own fleet copied to about 800 resources."""
    objects = [item.manifest for item in render_fleet(plan_fleet(load_fleet(ROOT, STACK), STACK))]
    requests = [_request(number, each) for number, each in enumerate(objects * COPIES)]
    stack = proto.AnalyzeStackRequest(resources=[_resource(each) for each in requests])
    ours, baseline = _ours(), _baseline()
    profile = profile_of(STACK)
    ours_ms, baseline_ms, judge_ms = _medians(
        len(requests),
        lambda: _both(ours, requests),
        lambda: _both(baseline, requests),
        lambda: [judge.violations(each, profile) for each in objects * COPIES],
    )
    stack_ours, stack_baseline = _medians(
        1, lambda: ours.AnalyzeStack(stack, None), lambda: baseline.AnalyzeStack(stack, None)
    )
    return {
        "policy pack: resources": len(requests),
        "policy pack: rules": len(RULES),
        "policy pack: ms a resource": ours_ms,
        "policy pack: ms a resource, pulumi-policy with an empty policy a rule": baseline_ms,
        "policy pack: times faster": baseline_ms / ours_ms,
        "policy pack: target ms a resource": TARGET_MS,
        "policy pack: ms the whole stack": stack_ours,
        "policy pack: ms the whole stack, pulumi-policy with two empty policies": stack_baseline,
        "policy pack: ms a live object, without an engine": judge_ms,
    }


def main() -> None:
    """Print what was measured."""
    for name, value in measure().items():
        print(f"{name:80} {value:10.3f}" if isinstance(value, float) else f"{name:80} {value:>10}")


def _medians(count: int, *works: Callable[[], Any]) -> list[float]:
    """Milliseconds of each work divided by a count; in turn, so that a busy moment hits all."""
    times: list[list[float]] = [[] for _ in works]
    for _ in range(ROUNDS):
        for work, taken in zip(works, times, strict=True):
            start = time.perf_counter()
            work()
            taken.append((time.perf_counter() - start) * 1000 / count)
    return [statistics.median(taken) for taken in times]


def _both(servicer: Any, requests: Sequence[Any]) -> None:  # noqa: ANN401  # untyped in the SDK
    """The two calls that the engine makes for each resource."""
    for request in requests:
        servicer.Remediate(request, None)
        servicer.Analyze(request, None)


def _nothing(*_: object) -> None:
    """An empty policy."""


def _ours() -> Any:  # noqa: ANN401  # untyped in the SDK
    servicer: Any = Servicer()
    servicer.ConfigureStack(proto.AnalyzerStackConfigureRequest(stack=STACK), None)
    return servicer


def _baseline() -> Any:  # noqa: ANN401  # untyped in the SDK
    policies: list[Any] = [
        ResourceValidationPolicy(f"rule-{number}", "x", _nothing) for number in range(len(RULES))
    ]
    policies += [
        StackValidationPolicy(f"stack-{number}", "x", _nothing) for number in range(STACK_POLICIES)
    ]
    return AnalyzerServicer("baseline", "0.0.1", policies, EnforcementLevel.MANDATORY)


def _request(number: int, kube_object: dict[str, Any]) -> "proto.AnalyzeRequest":
    group = kube_object["apiVersion"]
    token = f"kubernetes:{group if '/' in group else f'core/{group}'}:{kube_object['kind']}"
    urn = f"urn:pulumi:{STACK}::holdfast::{token}::r{number}"
    request = proto.AnalyzeRequest(type=token, name=f"r{number}", urn=urn)
    json_format.ParseDict(kube_object, request.properties)
    return request


def _resource(request: "proto.AnalyzeRequest") -> "proto.AnalyzerResource":
    return proto.AnalyzerResource(
        type=request.type, name=request.name, urn=request.urn, properties=request.properties
    )


if __name__ == "__main__":
    main()
