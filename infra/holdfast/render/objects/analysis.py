"""The metrics of a new version, as Argo Rollouts asks Prometheus for them."""

from collections.abc import Iterator

from holdfast.kube.objects import KubeObject
from holdfast.manifest.agent.agent import AgentSpec
from holdfast.manifest.agent.rollout import Analysis
from holdfast.render.objects import metric_names
from holdfast.render.plan.metadata import AgentMetadata, RenderedObject
from holdfast.render.plan.render_context import RenderContext

ANALYSIS = "analysis"
POD_HASH = "pod-hash"


def render_analysis(
    meta: AgentMetadata, spec: AgentSpec, context: RenderContext
) -> list[RenderedObject]:
    """AnalysisTemplate `<agent>-analysis`, for the pods of one version."""
    analysis = spec.rollout.analysis
    if analysis is None:
        return []
    address = context.environment.telemetry.prometheus_url
    delay: KubeObject = {}
    if spec.rollout.strategy == "BlueGreen":
        # It begins with the promotion: there is nothing to see before a window is over.
        delay["initialDelay"] = f"{analysis.window_seconds}s"
    metrics = [
        {
            "name": name,
            "count": 1,
            **conditions,
            "provider": {"prometheus": {"address": address, "query": query}},
        }
        | delay
        for name, query, conditions in _questions(meta, spec, analysis)
    ]
    manifest: KubeObject = {
        "apiVersion": "argoproj.io/v1alpha1",
        "kind": "AnalysisTemplate",
        "metadata": meta.metadata(ANALYSIS),
        "spec": {"args": [{"name": POD_HASH}], "metrics": metrics},
    }
    return [RenderedObject(meta.name, ANALYSIS, manifest)]


def _questions(
    meta: AgentMetadata, spec: AgentSpec, analysis: Analysis
) -> Iterator[tuple[str, str, KubeObject]]:
    """Name, query and conditions of each metric."""
    pods = f'namespace="{meta.namespace}",pod=~"{meta.name}-{{{{args.{POD_HASH}}}}}-.*"'
    window = analysis.window_seconds
    requests = metric_names.increase(metric_names.REQUESTS, pods, window)
    # Too few requests prove nothing in either way: the rollout waits for a person.
    yield "requests", requests, _inconclusive(f">= {analysis.min_request_sample}")
    judged = _judged if spec.rollout.auto_rollback else _inconclusive
    if analysis.max_error_rate is not None:
        failed = metric_names.increase(
            metric_names.REQUESTS, pods, window, metric_names.FAILED_REQUESTS
        )
        query = metric_names.percent(failed, requests)
        yield "error-rate", query, judged(f"<= {analysis.max_error_rate:g}")
    if analysis.max_p99_latency_ms is not None:
        query = metric_names.latency_quantile_ms(0.99, pods, window)
        yield "p99-latency", query, judged(f"<= {analysis.max_p99_latency_ms}")
    if analysis.min_tool_success is not None:
        over = ("increase", pods, f"{window}s")
        succeeded = metric_names.tool_successes(*over)
        query = metric_names.percent(succeeded, metric_names.tool_calls(*over))
        yield "tool-success", query, judged(f">= {analysis.min_tool_success:g}")
    if analysis.max_tokens_per_request is not None:
        tokens = metric_names.tokens("increase", pods, f"{window}s")
        yield "tokens", f"{tokens} / {requests}", judged(f"<= {analysis.max_tokens_per_request}")


def _judged(condition: str) -> KubeObject:
    """Passes when it holds; fails, and takes the rollout back, when it does not."""
    holds = f"len(result) > 0 && result[0] {condition}"
    return {
        "successCondition": f"{holds} && !isNaN(result[0])",
        "failureCondition": f"len(result) > 0 && !isNaN(result[0]) && !(result[0] {condition})",
    }


def _inconclusive(condition: str) -> KubeObject:
    """Passes when it holds; stops the rollout for a person to decide when it does not."""
    return {
        "successCondition": f"len(result) > 0 && result[0] {condition} && !isNaN(result[0])",
        "failureCondition": "false",
    }
