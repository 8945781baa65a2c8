"""The policy pack's figures: a resource, a stack, its start, a check; each beside a baseline.

The baseline of a resource is the SDK's own servicer with a policy a rule. It judges nothing: its
policies are empty functions, so what it takes is what the SDK takes to hand each of them the
request. Both answer the same real requests, in one process, in turn. Times of single resources are
of the processor: a busy machine measures the same.
"""

import os
import statistics
import subprocess
import sys
import time
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

from google.protobuf import json_format
from holdfast.manifest.fleet.loader import load_fleet
from holdfast.operations.policy.evaluate import verdicts
from holdfast.operations.policy.sources import rendered_objects
from holdfast.operations.stack.context import StackContext
from holdfast.render.fleet import render_fleet
from holdfast.render.plan.planning import plan_fleet
from holdfast_policies.evaluation import judge
from holdfast_policies.evaluation.profile import profile_of
from holdfast_policies.pack.sdk import AnalyzerServicer, proto
from holdfast_policies.pack.servicer import Servicer
from holdfast_policies.table import RULES
from pulumi_policy import EnforcementLevel, ResourceValidationPolicy, StackValidationPolicy

ROOT = Path(__file__).parents[1]
STACK = "dev"
COPIES = 10
ROUNDS = 5
TARGET_MS = 0.6
TARGET_TIMES = 10.0
LARGE_STACK = 10_000
TARGET_LARGE_STACK_SECONDS = 10.0
TARGET_START_SECONDS = 1.0
TARGET_CHECK_SECONDS = 1.0
STACK_POLICIES = 2


def measure() -> dict[str, float | str]:
    """Medians of several rounds, over the project's own fleet copied to some hundred resources."""
    objects = [item.manifest for item in render_fleet(plan_fleet(load_fleet(ROOT, STACK), STACK))]
    requests = [_request(number, each) for number, each in enumerate(objects * COPIES)]
    workloads = [each for each in requests if each.type.endswith((":Deployment", ":CronJob"))]
    ours, baseline = _ours(), _baseline()
    profile = profile_of(STACK)
    ours_ms, baseline_ms, judge_ms = _medians(
        len(requests),
        lambda: _both(ours, requests),
        lambda: _both(baseline, requests),
        lambda: [judge.violations(each, profile) for each in objects * COPIES],
    )
    workload_ms, workload_baseline_ms = _medians(
        len(workloads), lambda: _both(ours, workloads), lambda: _both(baseline, workloads)
    )
    return {
        "policy pack: resources": len(requests),
        "policy pack: rules": len(RULES),
        "policy pack: ms a resource": ours_ms,
        "policy pack: ms a workload": workload_ms,
        "policy pack: target ms a resource": TARGET_MS,
        "policy pack: ms a resource, pulumi-policy with an empty policy a rule": baseline_ms,
        "policy pack: ms a workload, pulumi-policy with an empty policy a rule": (
            workload_baseline_ms
        ),
        "policy pack: times faster": baseline_ms / ours_ms,
        "policy pack: times faster, workloads": workload_baseline_ms / workload_ms,
        "policy pack: target times faster": TARGET_TIMES,
        "policy pack: ms a live object, without an engine": judge_ms,
        **_large_stack(objects),
        **_start_and_check(),
    }


def main() -> None:
    """Print what was measured."""
    for name, value in measure().items():
        print(f"{name:80} {value:10.3f}" if isinstance(value, float) else f"{name:80} {value:>10}")


def _large_stack(objects: list[dict[str, Any]]) -> dict[str, float | str]:
    """The rules about whole stacks over ten thousand resources, once, in one request."""
    copies = -(-LARGE_STACK // len(objects))
    requests = [_request(number, each) for number, each in enumerate(objects * copies)]
    stack = proto.AnalyzeStackRequest(resources=[_resource(each) for each in requests])
    ours = _ours()
    start = time.process_time()
    ours.AnalyzeStack(stack, None)
    return {
        "policy pack: resources of a large stack": len(requests),
        "policy pack: s the large stack": time.process_time() - start,
        "policy pack: target s the large stack": TARGET_LARGE_STACK_SECONDS,
    }


def _start_and_check() -> dict[str, float | str]:
    """Seconds until the pack has told its port, and of a check of the samples in this process."""
    starts = [_start_seconds() for _ in range(ROUNDS)]
    state = StackContext(ROOT, STACK)
    start = time.process_time()
    verdicts(rendered_objects(state).judged, profile_of(STACK))
    return {
        "policy pack: s from start to port": statistics.median(starts),
        "policy pack: target s from start to port": TARGET_START_SECONDS,
        "policy check: s to read, render and judge the samples": time.process_time() - start,
        "policy check: target s": TARGET_CHECK_SECONDS,
    }


def _start_seconds() -> float:
    """Processor seconds of a pack that is ended when it has told its port."""
    before = os.times()
    with subprocess.Popen(
        [sys.executable, str(ROOT / "policy-pack"), "127.0.0.1:1"], stdout=subprocess.PIPE
    ) as process:
        assert process.stdout is not None
        port = process.stdout.readline()
        process.terminate()
    after = os.times()
    assert port.strip().isdigit(), port
    user = after.children_user - before.children_user
    return user + after.children_system - before.children_system


def _medians(count: int, *works: Callable[[], Any]) -> list[float]:
    """Milliseconds of each work divided by a count; in turn, so that a busy moment hits all."""
    times: list[list[float]] = [[] for _ in works]
    for _ in range(ROUNDS):
        for work, taken in zip(works, times, strict=True):
            start = time.process_time()
            work()
            taken.append((time.process_time() - start) * 1000 / count)
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
