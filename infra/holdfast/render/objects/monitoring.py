"""What Prometheus scrapes of an agent, and when it tells somebody.

Kinds of the Prometheus Operator. Every series carries the agent's name as `holdfast_dev_agent`.
"""

from holdfast.kube.objects import KubeObject
from holdfast.manifest.agent.agent import AgentSpec
from holdfast.manifest.agent.telemetry import Metrics
from holdfast.manifest.types.agent_label import AGENT_LABEL
from holdfast.render.objects import metric_names
from holdfast.render.objects.alerts import objective_rules
from holdfast.render.plan.marks import AgentMarks, RenderedObject
from holdfast.render.plan.surroundings import Surroundings

API_VERSION = "monitoring.coreos.com/v1"
_TARGET_LABELS = [AGENT_LABEL, "app.kubernetes.io/version"]
_AGENT_LABEL = "holdfast_dev_agent"


def render_monitoring(
    marks: AgentMarks, spec: AgentSpec, surroundings: Surroundings
) -> list[RenderedObject]:
    """ServiceMonitor or PodMonitor, and PrometheusRule `<agent>`.

    Raises:
        RenderError: something asks for the Prometheus Operator, and the stack does not declare it.
    """
    metrics = spec.telemetry.metrics
    if not metrics.enabled or not spec.is_called:
        return []
    surroundings.require_all(marks.name, spec, ("telemetry", "metrics"), ("telemetry", "slo"))
    if "prometheus-operator" not in surroundings.environment.controllers:
        return []
    rendered = []
    if metrics.service_monitor != "off":
        rendered.append(_monitor(marks, spec, surroundings))
    if metrics.alerts or spec.telemetry.slo:
        rendered.append(_rule(marks, spec, surroundings))
    return rendered


def _monitor(marks: AgentMarks, spec: AgentSpec, surroundings: Surroundings) -> RenderedObject:
    endpoint = _endpoint(spec.telemetry.metrics)
    selector = {"matchLabels": marks.selector()}
    if spec.has_service:
        body: KubeObject = {
            "endpoints": [endpoint],
            "selector": selector,
            "targetLabels": _TARGET_LABELS,
        }
        manifest = _object(marks, "ServiceMonitor", body, surroundings)
        return RenderedObject(marks.name, "servicemonitor", manifest)
    body = {
        "podMetricsEndpoints": [endpoint],
        "selector": selector,
        "podTargetLabels": _TARGET_LABELS,
    }
    manifest = _object(marks, "PodMonitor", body, surroundings)
    return RenderedObject(marks.name, "podmonitor", manifest)


def _endpoint(metrics: Metrics) -> KubeObject:
    return {"port": "metrics", "path": metrics.path, "interval": metrics.interval}


def _rule(marks: AgentMarks, spec: AgentSpec, surroundings: Surroundings) -> RenderedObject:
    pods = f'namespace="{marks.namespace}",{_AGENT_LABEL}="{marks.name}"'
    labels = {"agent": marks.name, "namespace": marks.namespace}
    if marks.owner:
        labels["owner"] = marks.owner
    group = f"{marks.namespace}.{marks.name}"
    groups: list[KubeObject] = [{"name": f"{group}.use", "rules": _records(pods, labels)}]
    if spec.telemetry.slo is not None:
        records, alerts = objective_rules(spec.telemetry.slo, pods, labels)
        groups.append({"name": f"{group}.objectives", "rules": [*records, *alerts]})
    if spec.telemetry.metrics.alerts:
        rules = _alerts(spec.telemetry.metrics, labels)
        groups.append({"name": f"{group}.alerts", "rules": rules})
    manifest = _object(marks, "PrometheusRule", {"groups": groups}, surroundings)
    return RenderedObject(marks.name, "prometheusrule", manifest)


def _records(pods: str, labels: dict[str, str]) -> list[KubeObject]:
    """What dashboards show of every agent: requests, latency, tokens, tool success."""
    buckets = f"sum by (le) (rate({metric_names.REQUEST_BUCKETS}{{{pods}}}[5m]))"
    calls = f"{metric_names.OPERATIONS}{{{pods},{metric_names.TOOL_CALLS}"
    succeeded = f"sum(rate({calls},{metric_names.SUCCEEDED}}}[5m]))"
    expressions = {
        "requests:rate5m": f"sum(rate({metric_names.REQUESTS}{{{pods}}}[5m]))",
        "request_seconds:p99_5m": f"histogram_quantile(0.99, {buckets})",
        "tokens:rate5m": f"sum(rate({metric_names.TOKENS}{{{pods}}}[5m]))",
        "tool_success:ratio_rate5m": f"{succeeded} / (sum(rate({calls}}}[5m])) > 0)",
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


def _object(
    marks: AgentMarks, kind: str, body: KubeObject, surroundings: Surroundings
) -> KubeObject:
    metadata = marks.metadata()
    # A Prometheus may take only what carries its own labels.
    metadata["labels"] |= surroundings.environment.telemetry.monitor_labels
    return {"apiVersion": API_VERSION, "kind": kind, "metadata": metadata, "spec": body}
