"""What can be called from outside is encrypted, and asks who is calling."""

from collections.abc import Iterator

from holdfast_policies.api import (
    GATEWAY,
    HTTP_ROUTE,
    INGRESS,
    Admission,
    Breach,
    Finding,
    Fix,
    Kind,
    Level,
    Levels,
    Parameter,
    Rule,
    Settings,
    Severity,
    Subject,
    all_of,
    breaches,
    declared_in,
    each,
    field_path,
    in_object,
    items,
    mapping,
    shown,
    text,
)
from holdfast_policies.facts.governance import DECLARATIONS, declared

AUTHENTICATION = Parameter(
    name="authentication_keys",
    description="Annotations or labels, any of which says how callers are authenticated.",
    schema=DECLARATIONS,
    default=[
        "authentication",
        "nginx.ingress.kubernetes.io/auth-url",
        "nginx.ingress.kubernetes.io/auth-tls-secret",
        "traefik.ingress.kubernetes.io/router.middlewares",
        "alb.ingress.kubernetes.io/auth-type",
    ],
)


def check_tls(subject: Subject, _: Settings) -> Iterator[Finding]:
    """An Ingress or a listener of a Gateway without TLS; a route has that of its Gateway."""
    if subject.kind == INGRESS and not items(subject.spec.get("tls")):
        yield Breach("spec.tls", got="nothing", required="a certificate for every host")

    def check_listener(listener: object, path: str) -> Iterator[Breach]:
        protocol = mapping(listener).get("protocol")
        if text(protocol) in ("HTTP", "TCP"):
            yield Breach(field_path(path, "protocol"), shown(protocol), '"HTTPS" or "TLS"')

    if subject.kind == GATEWAY:
        yield from each(subject.spec.get("listeners"), "spec.listeners", check_listener)


def check_authentication(subject: Subject, settings: Settings) -> Iterator[Finding]:
    """A route on which anyone may call: no declaration, no filter of an extension."""
    if subject.kind == GATEWAY or subject.kind in OTHER_ROUTES:
        return
    if any(declared(subject.metadata, key) for key in settings["authentication_keys"]):
        return
    if subject.kind == INGRESS:
        yield Breach("metadata.annotations", "no authentication", "how callers are authenticated")
        return

    def check_rule(rule: object, path: str) -> Iterator[Breach]:
        filters = [mapping(each_filter) for each_filter in items(mapping(rule).get("filters"))]
        if not any(each_filter.get("type") == "ExtensionRef" for each_filter in filters):
            required = "a filter that authenticates, or annotation authentication"
            yield Breach(field_path(path, "filters"), "no authentication", required)

    yield from each(subject.spec.get("rules"), "spec.rules", check_rule, "")


_IS_AUTHENTICATED = (
    "variables.settings.authentication_keys.exists(k,"
    f' {declared_in("variables.subject.?metadata", "k")} != "")'
)


GRPC_ROUTE = Kind("gateway.networking.k8s.io", "GRPCRoute")
TLS_ROUTE = Kind("gateway.networking.k8s.io", "TLSRoute")
OTHER_ROUTES = frozenset(
    Kind(group, name)
    for group, names in {
        "route.openshift.io": "Route",
        "traefik.io": "IngressRoute IngressRouteTCP",
        "traefik.containo.us": "IngressRoute IngressRouteTCP IngressRouteUDP",
        "projectcontour.io": "HTTPProxy",
        "networking.istio.io": "Gateway VirtualService",
        "getambassador.io": "Mapping Listener Host",
        "apisix.apache.org": "ApisixRoute",
        "zalando.org": "RouteGroup",
        "k8s.nginx.org": "VirtualServer TransportServer VirtualServerRoute",
        "gateway.solo.io": "VirtualService Gateway RouteTable",
        "serving.knative.dev": "DomainMapping",
        "voyager.appscode.com": "Ingress",
    }.items()
    for name in names.split()
)
"""Routes from outside in the words of other gateways."""
_TLS = frozenset({"tls", "tlsSecret"})
_ASKING = frozenset(
    {"middlewares", "auth", "authorization", "extAuth", "jwt", "oidc", "policies", "jwtProviders"}
    | {"authPolicy", "plugins", "authentication"}
)


def check_other_routes(subject: Subject, settings: Settings) -> Iterator[Finding]:
    """Routes of other gateways: encrypted, and with something that asks who is calling."""
    if subject.kind == INGRESS:
        for index, one in enumerate(items(subject.spec.get("tls"))):
            if not mapping(one).get("secretName") and not items(mapping(one).get("hosts")):
                yield Breach(f"spec.tls[{index}]", "an empty entry", "hosts and a secretName")
    if subject.kind not in OTHER_ROUTES or _is_inside_mesh(subject):
        return
    is_route_of_gateway = subject.kind.name == "VirtualService"
    if not is_route_of_gateway and not _holds_one_of(subject.object, _TLS):
        yield Breach("spec.tls", got="nothing", required="a certificate for every host")
    is_declared = any(declared(subject.metadata, key) for key in settings["authentication_keys"])
    if not is_declared and not _holds_one_of(subject.spec, _ASKING):
        yield Breach("metadata.annotations", "no authentication", "how callers are authenticated")


def _is_inside_mesh(subject: Subject) -> bool:
    gateways = items(subject.spec.get("gateways"))
    return subject.kind.name == "VirtualService" and (not gateways or gateways == ["mesh"])


def _holds_one_of(value: object, wanted: frozenset[str]) -> bool:
    """Whether one of these fields holds something, somewhere in a value."""
    left = [value]
    while left:
        one = left.pop()
        if isinstance(one, dict):
            if any(one.get(key) for key in wanted if key in one):
                return True
            left += one.values()
        elif isinstance(one, list):
            left += one
    return False


RULE = Rule(
    id="ingress-tls-and-authn",
    title="TLS and a known caller",
    description="An agent can be called from outside in the clear, or by anyone",
    rationale="Who may talk to an agent may try to talk it into something.",
    remedy="add TLS, and say by annotation authentication which policy asks who is calling",
    source="https://gateway-api.sigs.k8s.io/guides/tls/",
    severity=Severity.HIGH,
    levels=Levels(Level.ADVISORY, Level.MANDATORY, Level.MANDATORY),
    frameworks=(
        "SC-8",
        "IA-9",
        "AC-3",
        "ASI07",
        "MCP",
    ),
    fix=Fix.NO,
    kinds=frozenset({INGRESS, GATEWAY, HTTP_ROUTE, GRPC_ROUTE, TLS_ROUTE}) | OTHER_ROUTES,
    check=all_of(check_tls, check_authentication, check_other_routes),
    parameters=(AUTHENTICATION,),
    admission=Admission(
        (
            in_object(
                'object.kind == "Ingress" && variables.subject.?spec.?tls.orValue([]).size() == 0',
                "spec.tls",
                "a certificate for every host",
            ),
            breaches(
                'object.kind == "Gateway" ? variables.subject.?spec.?listeners.orValue([]) : []',
                "l",
                'l.?protocol.orValue("") in ["HTTP", "TCP"]',
                '"spec.listeners[name=" + l.name + "].protocol"',
                '"HTTPS" or "TLS"',
                "string(l.protocol)",
            ),
            in_object(
                'object.kind == "Ingress" && !variables.isAuthenticated',
                "metadata.annotations",
                "how callers are authenticated",
            ),
            breaches(
                'object.kind == "HTTPRoute" && !variables.isAuthenticated'
                " ? variables.subject.?spec.?rules.orValue([]) : []",
                "r",
                '!r.?filters.orValue([]).exists(f, f.?type.orValue("") == "ExtensionRef")',
                '"spec.rules"',
                "a filter that authenticates, or annotation authentication",
            ),
        ),
        variables=(("isAuthenticated", _IS_AUTHENTICATED),),
        differs=(
            "an HTTPRoute without rules has one there: the API server adds it; routes of other"
            " kinds are seen before that only"
        ),
    ),
)
