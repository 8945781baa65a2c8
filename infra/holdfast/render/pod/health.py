"""The kubelet's questions, with every sub-field written: only what is declared can be held."""

from holdfast.kube.objects import KubeObject
from holdfast.manifest.agent.agent import AgentSpec
from holdfast.manifest.agent.health import LISTENS, SHOWS_ITS_CARD, HttpGet, Probe
from holdfast.manifest.agent.lifecycle import PreStop


def render_probes(spec: AgentSpec) -> KubeObject:
    """The probes of the agent's container, by the names that Kubernetes has for them."""
    probes = {
        "livenessProbe": spec.container.probes.liveness or LISTENS,
        "readinessProbe": spec.container.probes.readiness or _default_readiness(spec),
        "startupProbe": spec.container.probes.effective_startup,
    }
    return {name: _probe(probe, spec) for name, probe in probes.items() if probe and probe.enabled}


def render_pre_stop(hook: PreStop, spec: AgentSpec) -> KubeObject:
    """What happens before SIGTERM."""
    if hook.http_get:
        return {"httpGet": _request(hook.http_get, spec.network.expose.port)}
    if hook.exec_:
        return {"exec": {"command": list(hook.exec_.command)}}
    return {"sleep": {"seconds": hook.reserved_seconds}}


def _default_readiness(spec: AgentSpec) -> Probe:
    """An agent that says what its card is shows it; of any other only its port is known."""
    return SHOWS_ITS_CARD if "card" in spec.model_fields_set and spec.card.enabled else LISTENS


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
        return {"httpGet": _request(probe.http_get, exposed_port)}
    if probe.grpc:
        service = {"service": probe.grpc.service} if probe.grpc.service else {}
        return {"grpc": {"port": probe.grpc.port or exposed_port} | service}
    if probe.exec_:
        return {"exec": {"command": list(probe.exec_.command)}}
    port = probe.tcp_socket.port if probe.tcp_socket else None
    return {"tcpSocket": {"port": port or exposed_port}}


def _request(get: HttpGet, exposed_port: int) -> KubeObject:
    request: KubeObject = {
        "path": get.path,
        "port": get.port or exposed_port,
        "scheme": get.scheme,
    }
    if get.http_headers:
        request["httpHeaders"] = [
            {"name": header.name, "value": header.value} for header in get.http_headers
        ]
    return request
