"""Services are reached inside the cluster, or through its gateway."""

from collections.abc import Iterator

from holdfast_policies.cel import Admission, in_object, said
from holdfast_policies.finding import Breach
from holdfast_policies.kinds import SERVICE
from holdfast_policies.parts import all_of
from holdfast_policies.rule import Fix, Level, Levels, Rule, Settings, Severity
from holdfast_policies.subject import Subject, items
from holdfast_policies.wording import shown


def check_type(subject: Subject, _: Settings) -> Iterator[Breach]:
    """A Service that takes an address or port outside the cluster."""
    service_type = subject.spec.get("type")
    if service_type in ("LoadBalancer", "NodePort"):
        yield Breach("spec.type", got=shown(service_type), required='"ClusterIP"')


def check_external_addresses(subject: Subject, _: Settings) -> Iterator[Breach]:
    """A Service that takes over addresses from outside."""
    addresses = items(subject.spec.get("externalIPs"))
    if addresses:
        remedy = "remove externalIPs"
        yield Breach("spec.externalIPs", shown(list(addresses)), "no external address", remedy)


RULE = Rule(
    id="no-public-exposure",
    title="No public Services",
    description="A Service is reachable from outside the cluster, past the gateway",
    rationale="The gateway is where callers are authenticated, limited and recorded.",
    remedy="use a ClusterIP Service and a route on the gateway",
    source="https://kubernetes.io/docs/concepts/services-networking/service/",
    severity=Severity.HIGH,
    levels=Levels(Level.ADVISORY, Level.MANDATORY, Level.MANDATORY),
    frameworks=("SC-7", "ASI07"),
    fix=Fix.NO,
    kinds=frozenset({SERVICE}),
    check=all_of(check_type, check_external_addresses),
    admission=Admission(
        (
            in_object(
                'variables.subject.?spec.?type.orValue("") in ["LoadBalancer", "NodePort"]',
                "spec.type",
                '"ClusterIP"',
                said("variables.subject.?spec.?type"),
            ),
            in_object(
                "variables.subject.?spec.?externalIPs.orValue([]).size() > 0",
                "spec.externalIPs",
                "no external address",
            ),
        )
    ),
)
