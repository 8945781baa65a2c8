"""What can only be judged over the whole fleet, and against the environment it is to run in."""

from collections.abc import Iterator

from holdfast.errors import ManifestError
from holdfast.kube.paths import Path, format_path
from holdfast.manifest.agent.exposure import GATEWAY
from holdfast.manifest.agent.model import DIRECT
from holdfast.manifest.fleet.capabilities import missing_capabilities
from holdfast.manifest.fleet.declared_names import DeclaredNames
from holdfast.manifest.fleet.egress import Destination, Targets, destinations_of, targets_of
from holdfast.manifest.fleet.fleet import DeclaredAgent, Fleet
from holdfast.manifest.fleet.references import faults_of_references, faults_of_teams, model_choices
from holdfast.manifest.fleet.tool_checks import faults_of_lock, faults_of_tools
from holdfast.manifest.fleet.topology_checks import (
    faults_of_cycles,
    faults_of_dependencies,
    faults_of_tenants,
    faults_of_volumes,
)
from holdfast.manifest.types.hosts import HostKind, is_outside
from holdfast.manifest.types.validation import suggestion


def faults_of_fleet(fleet: Fleet, names: DeclaredNames) -> Iterator[ManifestError]:
    """Faults between manifests: references, sharing, peers that do not agree, unknown tools.

    Args:
        fleet: Manifests that are valid one by one.
        names: All declared names, those of faulty manifests included.
    """
    for agent in fleet.workloads:
        yield from faults_of_references(agent, fleet, names)
        yield from faults_of_dependencies(agent, fleet, names)
        yield from faults_of_tools(agent, fleet)
    yield from faults_of_teams(fleet, names)
    yield from faults_of_lock(fleet)
    yield from faults_of_cycles(fleet)
    yield from faults_of_volumes(fleet)
    yield from faults_of_tenants(fleet)


def faults_in_environment(fleet: Fleet) -> Iterator[ManifestError]:
    """What the fleet's stack does not offer, or demands and does not get."""
    targets = targets_of(fleet)
    for agent in fleet.workloads:
        yield from _faults_of_owner(agent, fleet)
        yield from _faults_of_gateway(agent, fleet)
        yield from _faults_of_model_gateway(agent, fleet)
        yield from _faults_of_egress(agent, fleet, targets)
        yield from _faults_of_needs(agent, fleet)


def _faults_of_owner(agent: DeclaredAgent, fleet: Fleet) -> Iterator[ManifestError]:
    if agent.spec.owner is None and fleet.environment.profile_for(fleet.stack) == "prod":
        yield ManifestError(
            agent.location_of("spec"),
            "spec.owner",
            expected=f"this field is required on stack {fleet.stack!r}, which has the prod profile",
            remedy="name the team that answers for the agent",
        )


def _faults_of_gateway(agent: DeclaredAgent, fleet: Fleet) -> Iterator[ManifestError]:
    if fleet.environment.network.gateway is not None:
        return
    if agent.spec.network.expose.gateway_ref is not None:
        yield _no_gateway(agent, fleet, ("spec", "network", "expose", "gatewayRef"))
    for index, caller in enumerate(agent.spec.network.ingress_from):
        if caller == GATEWAY:
            yield _no_gateway(agent, fleet, ("spec", "network", "ingressFrom", index))


def _no_gateway(agent: DeclaredAgent, fleet: Fleet, path: Path) -> ManifestError:
    return ManifestError(
        agent.location_of(path),
        format_path(path),
        expected=f"expected a gateway on stack {fleet.stack!r}",
        found="none",
        remedy="set holdfast:network.gateway in the stack file: the pods that requests come from",
    )


def _faults_of_model_gateway(agent: DeclaredAgent, fleet: Fleet) -> Iterator[ManifestError]:
    gateways = fleet.environment.models.gateways
    default = fleet.environment.models.gateway
    is_watched = False
    for choice, path in model_choices(agent.spec):
        name = choice.gateway_ref or default or DIRECT
        is_watched = is_watched or name != DIRECT
        if choice.gateway_ref not in {None, DIRECT, *gateways}:
            here = (*path, "gatewayRef")
            yield ManifestError(
                agent.location_of(here),
                format_path(here),
                expected=f"expected a model gateway of stack {fleet.stack!r}",
                found=repr(choice.gateway_ref),
                remedy=f"{suggestion(name, gateways)}; see holdfast:models.gateways",
            )
    if agent.spec.guardrails and not is_watched:
        yield ManifestError(
            agent.location_of("spec.guardrails"),
            "spec.guardrails",
            expected=f"expected a model gateway on stack {fleet.stack!r}, which judges for them",
            found="none",
            remedy="set model.gatewayRef, or holdfast:models.gateway in the stack file",
        )


def _faults_of_egress(
    agent: DeclaredAgent, fleet: Fleet, targets: Targets
) -> Iterator[ManifestError]:
    opened_by = fleet.environment.opens_domains
    network = agent.spec.network
    if network.deny_egress:
        return
    for destination in destinations_of(agent.spec, agent.namespace, targets):
        open_ranges = network.ranges_at(destination.port, destination.protocol)
        if not is_outside(destination.host, open_ranges):
            continue
        if opened_by == "gateway":
            if not destination.is_https:
                yield _not_https(agent, destination)
            continue
        remedy = "set holdfast:network.egressGateway in the stack file"
        if destination.kind is HostKind.ADDRESS:
            way = "add its address to network.egress, as {cidr}"
            remedy = way if opened_by == "cilium" else f"{remedy}, or {way}"
        elif opened_by == "cilium" and network.allow_dns:
            continue
        elif opened_by == "cilium":
            yield ManifestError(
                agent.location_of(("spec", "network", "allowDNS")),
                "spec.network.allowDNS",
                expected=f"expected true to reach {destination.host!r}: Cilium learns the "
                "addresses of a domain from the agent's own look-ups",
                found="false",
                remedy="remove allowDNS: false, or what reaches that domain",
            )
            continue
        yield ManifestError(
            agent.location_of(destination.path),
            format_path(destination.path),
            expected=f"expected an egress gateway on stack {fleet.stack!r} to reach "
            f"{destination.host!r}",
            found="none",
            remedy=remedy,
        )


def _not_https(agent: DeclaredAgent, destination: Destination) -> ManifestError:
    return ManifestError(
        agent.location_of(destination.path),
        format_path(destination.path),
        expected="expected HTTPS: the egress gateway of the stack passes nothing else on",
        found=f"{destination.host}:{destination.port}",
        remedy="use https, or add its address to network.egress, as {cidr}, and name it by that",
    )


def _faults_of_needs(agent: DeclaredAgent, fleet: Fleet) -> Iterator[ManifestError]:
    for need in missing_capabilities(agent.spec, fleet.environment):
        path = ("spec", *need.path)
        yield ManifestError(
            agent.location_of(path),
            format_path(path),
            expected=need.expected,
            remedy=need.remedy,
        )
