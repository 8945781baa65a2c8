"""What Prometheus scrapes of an agent, and when it alerts.

Kinds of the Prometheus Operator. Every series carries the agent's name as `holdfast_dev_agent`.
"""

from holdfast.kube.objects import KubeObject
from holdfast.manifest.agent.agent import AgentSpec
from holdfast.manifest.agent.telemetry import Metrics
from holdfast.manifest.types.marks import AGENT_LABEL
from holdfast.render.objects import metric_names
from holdfast.render.objects.alerts import objective_rules
from holdfast.render.objects.services import second_service
from holdfast.render.plan.metadata import AgentMetadata, RenderedObject
from holdfast.render.plan.render_context import RenderContext

API_VERSION = "monitoring.coreos.com/v1"
_TARGET_LABELS = [AGENT_LABEL, "app.kubernetes.io/version"]
_AGENT_LABEL = "holdfast_dev_agent"


def render_monitoring(
    meta: AgentMetadata, spec: AgentSpec, context: RenderContext
) -> list[RenderedObject]:
    """ServiceMonitor or PodMonitor, and PrometheusRule `<agent>`.

    Raises:
        RenderError: something asks for the Prometheus Operator, and the stack does not declare it.
    """
    metrics = spec.telemetry.metrics
    if not metrics.enabled or not spec.is_called:
        return []
    context.require_all(meta.name, spec, ("telemetry", "metrics"), ("telemetry", "slo"))
    if "prometheus-operator" not in context.environment.controllers:
        return []
    rendered = []
    if metrics.service_monitor != "off":
        rendered.append(_monitor(meta, spec, context))
    if metrics.alerts or spec.telemetry.slo:
        rendered.append(_rule(meta, spec, context))
    return rendered


def _monitor(meta: AgentMetadata, spec: AgentSpec, context: RenderContext) -> RenderedObject:
    """By Service; by pod where none, or more than one, leads to a pod."""
    endpoint = _endpoint(spec.telemetry.metrics)
    selector = {"matchLabels": meta.selector()}
    if spec.has_service and not second_service(spec):
        body: KubeObject = {
            "endpoints": [endpoint],
            "selector": selector,
            "targetLabels": _TARGET_LABELS,
        }
        manifest = _object(meta, "ServiceMonitor", body, context)
        return RenderedObject(meta.name, "servicemonitor", manifest)
    body = {
        "podMetricsEndpoints": [endpoint],
        "selector": selector,
        "podTargetLabels": _TARGET_LABELS,
    }
    manifest = _object(meta, "PodMonitor", body, context)
    return RenderedObject(meta.name, "podmonitor", manifest)


def _endpoint(metrics: Metrics) -> KubeObject:
    return {"port": "metrics", "path": metrics.path, "interval": metrics.interval}


def _rule(meta: AgentMetadata, spec: AgentSpec, context: RenderContext) -> RenderedObject:
    pods = f'namespace="{meta.namespace}",{_AGENT_LABEL}="{meta.name}"'
    labels = {"agent": meta.name, "namespace": meta.namespace}
    if meta.owner:
        labels["owner"] = meta.owner
    group = f"{meta.namespace}.{meta.name}"
    groups: list[KubeObject] = [{"name": f"{group}.use", "rules": _records(pods, labels)}]
    if spec.telemetry.slo is not None:
        records, alerts = objective_rules(spec.telemetry.slo, pods, labels)
        groups.append({"name": f"{group}.objectives", "rules": [*records, *alerts]})
    if spec.telemetry.metrics.alerts:
        rules = _alerts(spec.telemetry.metrics, labels)
        groups.append({"name": f"{group}.alerts", "rules": rules})
    manifest = _object(meta, "PrometheusRule", {"groups": groups}, context)
    return RenderedObject(meta.name, "prometheusrule", manifest)


def _records(pods: str, labels: dict[str, str]) -> list[KubeObject]:
    """What dashboards show of every agent: requests, latency, tokens, tool success."""
    buckets = f"sum by (le) (rate({metric_names.REQUEST_BUCKETS}{{{pods}}}[5m]))"
    calls = metric_names.tool_calls("rate", pods, "5m")
    succeeded = metric_names.tool_successes("rate", pods, "5m")
    expressions = {
        "requests:rate5m": f"sum(rate({metric_names.REQUESTS}{{{pods}}}[5m]))",
        "request_seconds:p99_5m": f"histogram_quantile(0.99, {buckets})",
        "tokens:rate5m": metric_names.tokens("rate", pods, "5m"),
        "tool_success:ratio_rate5m": f"({succeeded} or vector(0)) / ({calls} > 0)",
    }
    return [
        {"record": f"holdfast_agent:{name}", "expr": expression, "labels": labels}
        for name, expression in expressions.items()
    ]


def _alerts(metrics: Metrics, labels: dict[str, str]) -> list[KubeObject]:
    rules = []
    for alert in metrics.alerts:
        annotations = {"summary": alert.summary}
        if alert.runbook_url:
            annotations["runbook_url"] = alert.runbook_url
        rules.append(
            {
                "alert": alert.name,
                "expr": alert.expr,
                "for": alert.for_,
                "labels": labels | {"severity": alert.severity},
                "annotations": annotations,
            }
        )
    return rules


def _object(meta: AgentMetadata, kind: str, body: KubeObject, context: RenderContext) -> KubeObject:
    metadata = meta.metadata()
    # A Prometheus may take only what carries its own labels.
    metadata["labels"] |= context.environment.telemetry.monitor_labels
    return {"apiVersion": API_VERSION, "kind": kind, "metadata": metadata, "spec": body}
