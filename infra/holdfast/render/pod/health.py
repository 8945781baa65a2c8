"""The kubelet's questions, with every sub-field written: only what is declared can be held."""

from holdfast.kube.objects import KubeObject
from holdfast.manifest.agent.agent import AgentSpec
from holdfast.manifest.agent.health import Probe
from holdfast.manifest.agent.lifecycle import PreStop


def render_probes(spec: AgentSpec) -> KubeObject:
    """The probes of the agent's container, by the names that Kubernetes has for them."""
    probes = {
        "livenessProbe": spec.probes.liveness,
        "readinessProbe": spec.probes.readiness,
        "startupProbe": spec.probes.startup,
    }
    return {name: _probe(probe, spec) for name, probe in probes.items() if probe}


def render_pre_stop(hook: PreStop, spec: AgentSpec) -> KubeObject:
    """What happens before SIGTERM."""
    if hook.http:
        port = spec.network.expose.port
        return {"httpGet": {"path": hook.http, "port": port, "scheme": "HTTP"}}
    if hook.command:
        return {"exec": {"command": list(hook.command)}}
    return {"sleep": {"seconds": hook.reserved_seconds}}


def _probe(probe: Probe, spec: AgentSpec) -> KubeObject:
    rendered: KubeObject = {
        "periodSeconds": probe.period_seconds,
        "timeoutSeconds": probe.timeout_seconds,
        "successThreshold": probe.success_threshold,
        "failureThreshold": probe.failure_threshold,
    }
    if probe.initial_delay_seconds:
        rendered["initialDelaySeconds"] = probe.initial_delay_seconds
    if probe.termination_grace_period_seconds is not None:
        rendered["terminationGracePeriodSeconds"] = probe.termination_grace_period_seconds
    return rendered | _action(probe, spec.network.expose.port)


def _action(probe: Probe, exposed_port: int) -> KubeObject:
    if probe.http_get:
        action: KubeObject = {
            "path": probe.http_get.path,
            "port": probe.http_get.port or exposed_port,
            "scheme": probe.http_get.scheme,
        }
        if probe.http_get.http_headers:
            action["httpHeaders"] = [
                {"name": header.name, "value": header.value}
                for header in probe.http_get.http_headers
            ]
        return {"httpGet": action}
    if probe.grpc:
        service = {"service": probe.grpc.service} if probe.grpc.service else {}
        return {"grpc": {"port": probe.grpc.port or exposed_port} | service}
    if probe.command:
        return {"exec": {"command": list(probe.command)}}
    return {"tcpSocket": {"port": probe.tcp_port}}
